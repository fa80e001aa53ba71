package printing

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/view"
)

// lineFormatOf reads a template.
func lineFormatOf(t *testing.T, template string) LineFormat {
	t.Helper()
	var f LineFormat
	if err := f.UnmarshalText([]byte(template)); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFormatFaults: what is wrong with a template is marked in it.
func TestFormatFaults(t *testing.T) {
	for template, want := range map[string]string{
		"":         "a template that is empty makes empty lines",
		"a } b":    "nothing is open that this closes\n  a } b\n    ^\na brace itself is written }}",
		"a {b {c}": "this is not closed\n  a {b {c}\n    ^\na brace itself is written {{",
		"a{ }":     "there is neither a field nor an expression here\n  a{ }\n   ^~~\nfields are time, elapsed, frame, tracepoint, location, function, file, line, pc, pid, tid, comm, backtrace, values",
		"{/z n}":   "a letter of print is one of x, o, t, d and u, with a blank behind it\n  {/z n}\n   ^~",
		"{/xn}":    "a letter of print is one of x, o, t, d and u, with a blank behind it\n  {/xn}\n   ^~",
		"{/}":      "a letter of print is one of x, o, t, d and u, with a blank behind it\n  {/}\n   ^",
		"{/x  }":   "there is neither a field nor an expression here\n  {/x  }\n  ^~~~~~\nfields are time, elapsed, frame, tracepoint, location, function, file, line, pc, pid, tid, comm, backtrace, values",
	} {
		var f LineFormat
		err := f.UnmarshalText([]byte(template))
		if err == nil {
			t.Errorf("%q: no error", template)
			continue
		}
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", template, diff)
		}
	}
}

// basicView opens the trace file basic with the names of its program.
func basicView(t *testing.T) *view.View {
	t.Helper()
	file, err := input.OpenTrace(clitest.Basic, clitest.BasicProgram, console.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file.View
}

// TestFormatLines: what lines of frames of a real trace look like.
func TestFormatLines(t *testing.T) {
	v := basicView(t)
	for template, want := range map[string]string{
		"{frame}/{tracepoint}":                          "0/2",
		`{location}\t{function}:{line}\\\q {{}} {file}`: "queue.c:23\tpush:23\\\\q {} queue.c",
		"{pc}": "0x4011b5 <push+95 at queue.c:23>",
		"{q.count} {/x j->id} {/t j->id} {(q.count)+1} {/u -j->id} {/d -j->id} {/o j->id}": "1 0x7 111 2 4294967289 -7 07",
		"{values}": "qq = 0x404080 <q>, j = 0x4052a0, " +
			`*j = {id = 7, kind = PLAIN, weight = 0.25, name = "job-1\000\000\000\000\000\000", next = 0x0}, ` +
			"q = {head = 0x4052a0, tail = 0x4052a0, count = 1, checksum = 0}, $hits = 1",
		"{ *j }, {j->kind}":        `{id = 7, kind = PLAIN, weight = 0.25, name = "job-1\000\000\000\000\000\000", next = 0x0}, PLAIN`,
		"{$rip} {/x $rip} {limit}": "0x4011b5 <push+95> 0x4011b5 <unavailable>",
	} {
		w, err := NewLineWriter(io.Discard, v, lineFormatOf(t, template), nil, time.Now())
		if err != nil {
			t.Errorf("%q: %v", template, err)
			continue
		}
		frame, err := v.Frame(0, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.TrimSuffix(string(w.append(nil, frame)), "\n")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", template, diff)
		}
	}
}

// TestFormatUnknown: an expression that no tracepoint has what it needs for is an error before anything is run.
func TestFormatUnknown(t *testing.T) {
	_, err := NewLineWriter(io.Discard, basicView(t), lineFormatOf(t, "{time} {/x j->idd}"), nil, time.Now())
	want := "--format: struct job has no member idd\n  {time} {/x j->idd}\n             ^~~~~~\ndid you mean id?"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestWithoutOffset(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "push": "push", "push+95": "push", "operator+": "operator+", "operator++": "operator++", "operator++4": "operator+",
		"V::operator+++12": "V::operator++", "f<(1+2)>": "f<(1+2)>", "f<(1+2)>+3": "f<(1+2)>",
	} {
		if got := withoutOffset(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
