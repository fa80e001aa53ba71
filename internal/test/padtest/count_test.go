//go:build linux && amd64

package padtest

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"tracewell/trace"
)

var hits = flag.Int("hits", 4_000_000, "how many hits are counted")

// TestCount counts the hits of threads that run at the same time by a trace state variable, which every hit sets, and has others select
// by an argument. No hit is left out, none counts twice, and each frame has the value that its hit gave the variable.
func TestCount(t *testing.T) {
	const threads, shown = 4, 1000
	calls := *hits / 2 / threads
	s := built(t, "calls.c", []string{strconv.Itoa(threads), strconv.Itoa(calls)}, "gcc", "-O2", "-g", "-pthread")
	start := time.Now()
	file := s.frames(t, write(t, fmt.Sprintf(`tvariable $n = 0
trace counted if ($n = $n + 1) %% %[1]d == 0
actions
collect $n
end
trace argued if n %% %[1]d == 0
actions
collect n
end
`, shown)))
	took := time.Since(start)
	list := file.Header().Variables
	variable := list[slices.IndexFunc(list, func(v trace.Variable) bool { return v.Name == "n" })].Number
	var counted, argued int64
	for i := range file.NumFrames() {
		f := frame(t, file, i)
		if f.Tracepoint() == 2 {
			argued++
			continue
		}
		counted += shown
		if value, ok := f.Variable(variable); !ok || value != counted {
			t.Fatalf("frame %d has the value %d, want %d", i, value, counted)
		}
	}
	if all := int64(threads * calls); counted != all/shown*shown || argued != int64(threads*(calls/shown)) {
		t.Errorf("%d and %d hits counted, want %d each", counted, argued*shown, all)
	}
	t.Logf("%d hits in %v", 2*threads*calls, took.Round(time.Millisecond))
}
