//go:build linux && amd64

package record

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/test/testprog"
	"tracewell/trace"
)

// TestTimesOfSteps: each frame has the time at which it was made, that of a step, too, and stands in this order.
func TestTimesOfSteps(t *testing.T) {
	p := testprog.Build(t, "ticks", testprog.Variant{})
	const rounds, steps = 30, 2
	got, path := clitest.RecordInto(t, "-q", "--at", "tick", "--collect", "now->before", "--step", strconv.Itoa(steps)+":$sp",
		"--format", "frame {$trace_timestamp} {time} {elapsed}", "--", p.Path, strconv.Itoa(rounds))
	var before []int64 // of the program's own clock
	for _, r := range testprog.OfKind(testprog.Records(got.Stdout), "tick") {
		before = append(before, r.Int(t, "before"))
	}
	frame, last, lastElapsed := 0, int64(0), 0.0
	for line := range strings.Lines(got.Stdout) {
		var stamp int64
		var clock string
		var elapsed float64
		if n, _ := fmt.Sscanf(line, "frame %d %s %g\n", &stamp, &clock, &elapsed); n != 3 {
			continue
		}
		round := frame / (steps + 1)
		if stamp < before[round] || round+1 < rounds && stamp > before[round+1] {
			t.Errorf("frame %d is of %d, the program called at %d", frame, stamp, before[round])
		}
		if want := time.UnixMicro(stamp).Format(printing.ClockFormat); clock != want {
			t.Errorf("frame %d: %s, want %s", frame, clock, want)
		}
		if stamp < last || elapsed < lastElapsed || elapsed > 600 {
			t.Errorf("frame %d: %d and %g after %d and %g", frame, stamp, elapsed, last, lastElapsed)
		}
		last, lastElapsed = stamp, elapsed
		frame++
	}
	if frame != rounds*(steps+1) || len(before) != rounds {
		t.Fatalf("%d frames and %d calls:\n%s%s", frame, len(before), got.Stdout, got.Stderr)
	}
	shown := clitest.Run(t, "show", path)
	if want := time.UnixMicro(last).Format(printing.ClockFormat); !strings.Contains(shown.Stdout, "  "+want) {
		t.Errorf("show has no %s in\n%s", want, shown.Stdout)
	}
}

// TestDiffOfVariables: numbers are decimal, and the values stand in one column. The time, which always changes, is left out.
func TestDiffOfVariables(t *testing.T) {
	p := testprog.Build(t, "ticks", testprog.Variant{})
	got, path := clitest.RecordInto(t, "-q", "--at", "tick", "--tvariable", "$big = 5000000000", "--set", "$big = $big + 1",
		"--collect", "now->count, $trace_timestamp, $big", "--", p.Path, "3")
	if got.Status != 0 {
		t.Fatal(got.Stderr)
	}
	var stamps []int64
	for line := range strings.Lines(clitest.Run(t, "show", path, "--json").Stdout) {
		var object struct{ Variables map[string]int64 }
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatal(err)
		}
		stamps = append(stamps, object.Variables["trace_timestamp"])
	}
	shown := clitest.Run(t, "show", path, "--diff").Stdout
	for want, has := range map[string]bool{
		"  now->count       1 → 2\n": true, "  $big             5000000001 → 5000000002\n": true, trace.TimestampName: false,
	} {
		if strings.Contains(shown, want) != has {
			t.Errorf("%q is there: %t\n%s", want, !has, shown)
		}
	}
	date := time.UnixMicro(stamps[0]).Format("2006-01-02 " + printing.ClockFormat + " MST")
	if frame := clitest.Run(t, "show", path, "--frame", "0").Stdout; !strings.Contains(frame, fmt.Sprintf("$trace_timestamp = %d (%s)\n", stamps[0], date)) {
		t.Errorf("a frame has no date %s:\n%s", date, frame)
	}
}
