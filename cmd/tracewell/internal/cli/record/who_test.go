//go:build linux && amd64

package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// TestWho: frames tell which thread of which process made them, as these say themselves, in conditions and to GDB, too; --bare
// frames tell nothing.
func TestWho(t *testing.T) {
	p := testprog.Build(t, "who", testprog.Variant{})
	got, path := clitest.RecordInto(t, "-q", "--follow", "--at", "who", "--collect", "process, thread", "--if",
		"$tid == thread && $pid == process", "--", p.Path)
	said := map[string]int{} // by pid and tid
	for _, r := range testprog.OfKind(testprog.Records(got.Stdout), "who") {
		said[fmt.Sprint(r.Int(t, "pid"), " ", r.Int(t, "tid"))]++
	}
	if len(said) != 4 {
		t.Fatalf("the program has threads %v", said)
	}
	seen := map[string]int{}
	last := int64(0)
	for line := range strings.Lines(clitest.Run(t, "show", path, "--json").Stdout) {
		var frame struct {
			Variables map[string]int64
			Collected struct{ Process, Thread int64 }
		}
		if err := json.Unmarshal([]byte(line), &frame); err != nil {
			t.Fatal(err)
		}
		who := frame.Variables
		if who["pid"] != frame.Collected.Process || who["tid"] != frame.Collected.Thread || who["trace_timestamp"] < last {
			t.Errorf("%s after %d", line, last)
		}
		seen[fmt.Sprint(who["pid"], " ", who["tid"])]++
		last = who["trace_timestamp"]
	}
	if diff := cmp.Diff(said, seen); diff != "" {
		t.Errorf("threads of frames (-said +seen):\n%s", diff)
	}
	for who, n := range said {
		pid, tid, _ := strings.Cut(who, " ")
		for _, condition := range []string{"tid == " + tid, "$tid == " + tid + " && pid == " + pid} {
			if got := clitest.Run(t, "show", path, "--where", condition, "--count"); got.Stdout != fmt.Sprintln(n) {
				t.Errorf("--where %s counts %s%s, not %d", condition, got.Stdout, got.Stderr, n)
			}
		}
	}
	who := gdbtest.Run(t, p.Path, "target tfile "+path+"\ntfind 0\n-- who --\nprintf \"%d %d\\n\", $pid, $tid\n").Section(t, "who")
	if said[who] == 0 {
		t.Errorf("GDB reads %s; threads are %v", who, said)
	}

	_, bare := clitest.RecordInto(t, "-q", "--bare", "--at", "who", "--collect", "thread", "--", p.Path)
	var frame struct{ Variables map[string]int64 }
	first, _, _ := strings.Cut(clitest.Run(t, "show", bare, "--json").Stdout, "\n")
	if err := json.Unmarshal([]byte(first), &frame); err != nil || len(frame.Variables) > 0 {
		t.Errorf("a bare frame has %v, %v", slices.Collect(maps.Keys(frame.Variables)), err)
	}
}

// TestBacktraceCollected: what is collected for a backtrace is none of the values of a frame, whose backtrace show prints.
func TestBacktraceCollected(t *testing.T) {
	p := testprog.Build(t, "who", testprog.Variant{})
	_, path := clitest.RecordInto(t, "-q", "--at", "who", "--collect", "thread", "--backtrace", "--", p.Path)
	first, _, _ := strings.Cut(clitest.Run(t, "show", path, "--json").Stdout, "\n")
	var frame struct{ Collected map[string]any }
	if err := json.Unmarshal([]byte(first), &frame); err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(maps.Keys(frame.Collected)); !slices.Equal(names, []string{"$tid", "$trace_timestamp", "thread"}) {
		t.Errorf("the frame has collected %q", names)
	}
	if shown := clitest.Run(t, "show", path, "--frame", "0").Stdout; !strings.Contains(shown, "\nBacktrace\n#0 ") {
		t.Errorf("no backtrace:\n%s", shown)
	}
}
