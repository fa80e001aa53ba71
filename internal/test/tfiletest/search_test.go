package tfiletest

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/tdesc"
	"tracewell/tfile"
)

// searches are made live, where the server answers. (GDB's own searches in trace files go astray.)
var searches = []struct {
	command string
	kind    tfile.QueryKind
}{
	{"tracepoint 4", tfile.ByTracepoint},
	{"pc $step", tfile.ByPC},
	{"range $low, $high", tfile.ByRange},
	{"outside $low, $high", tfile.ByOutside},
}

// searchScript makes each search until it finds no more, and tells what it was for: the pc of the last frame, which is one of a
// step, and the whole of the function work.
func searchScript() string {
	var script strings.Builder
	fmt.Fprintf(&script, `
		tfind %d
		set $step = $pc
		set $low = (unsigned long) &work
		set $high = (unsigned long) &make - 1
		-- search --
		output/x $step
		echo \040
		output/x $low
		echo \040
		output/x $high
	`, liveFrames-1)
	for _, s := range searches {
		fmt.Fprintf(&script, "\n-- %s --\ntfind none\ntfind %[1]s\nwhile $trace_frame != -1\n", s.command)
		fmt.Fprintf(&script, "printf \"found %%d\\n\", $trace_frame\ntfind %s\nend\n", s.command)
	}
	return script.String()
}

// compareSearches holds Find against what the live searches found.
func compareSearches(t *testing.T, output *gdbtest.Output, f *tfile.File, layout *tdesc.Layout) {
	t.Helper()
	var step, low, high arch.Addr
	if _, err := fmt.Sscanf(output.Section(t, "search"), "%v %v %v", &step, &low, &high); err != nil {
		t.Fatal(err)
	}
	pcOf := func(frame tfile.Frame) (arch.Addr, bool) {
		pc, ok := layout.ByName("rip").Bytes(frame.Registers())
		if !ok {
			return 0, false
		}
		return arch.Addr(f.Header().Order.Uint64(pc)), true
	}
	for _, s := range searches {
		query := tfile.Query{Kind: s.kind, Tracepoint: 4, Low: low, High: high}
		if s.kind == tfile.ByPC {
			query.Low = step
		}
		var want, got []string
		for line := range strings.Lines(output.Section(t, s.command) + "\n") {
			if strings.HasPrefix(line, "found ") {
				want = append(want, strings.TrimSpace(line))
			}
		}
		for from := 0; ; from++ {
			n, ok, err := f.Find(query, from, pcOf)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			got = append(got, fmt.Sprint("found ", n))
			from = n
		}
		if diff := gocmp.Diff(want, got); diff != "" || len(want) == 0 || len(want) == liveFrames {
			t.Errorf("tfind %s (-live +Find):\n%s", s.command, diff)
		}
	}
}
