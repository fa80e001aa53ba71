//go:build amd64

package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testprog"
)

// TestTimesOfSteps: each frame has the time at which it was made, that of a step, too, and stands in this order.
func TestTimesOfSteps(t *testing.T) {
	p := testprog.Build(t, "ticks", testprog.Variant{})
	const rounds, steps = 30, 2
	got, path := recordInto(t, "-q", "--at", "tick", "--collect", "now->before", "--step", strconv.Itoa(steps)+":$sp",
		"--format", "frame {$trace_timestamp} {time} {elapsed}", "--", p.Path, strconv.Itoa(rounds))
	var before []int64 // of the program's own clock
	for _, r := range testprog.OfKind(testprog.Records(got.stdout), "tick") {
		before = append(before, r.Int(t, "before"))
	}
	frame, last, lastElapsed := 0, int64(0), 0.0
	for line := range strings.Lines(got.stdout) {
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
		if want := time.UnixMicro(stamp).Format(clockFormat); clock != want {
			t.Errorf("frame %d: %s, want %s", frame, clock, want)
		}
		if stamp < last || elapsed < lastElapsed || elapsed > 600 {
			t.Errorf("frame %d: %d and %g after %d and %g", frame, stamp, elapsed, last, lastElapsed)
		}
		last, lastElapsed = stamp, elapsed
		frame++
	}
	if frame != rounds*(steps+1) || len(before) != rounds {
		t.Fatalf("%d frames and %d calls:\n%s%s", frame, len(before), got.stdout, got.stderr)
	}
	shown := run(t, "show", path)
	if want := time.UnixMicro(last).Format(clockFormat); !strings.Contains(shown.stdout, "  "+want) {
		t.Errorf("show has no %s in\n%s", want, shown.stdout)
	}
}

// TestClock: what is no Unix time is the clock of another server, and no time of day.
func TestClock(t *testing.T) {
	for microseconds, want := range map[int64]string{
		0: "+0.000000", 5_023_170_001: "+5023.170001", -3: "-3",
		unixFrom - 1: "+946684799.999999",
	} {
		if got := string(appendClock(nil, microseconds)); got != want {
			t.Errorf("%d is %s, want %s", microseconds, got, want)
		}
	}
	if got, want := string(appendClock(nil, unixFrom)), time.UnixMicro(unixFrom).Format(clockFormat); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	w := lineWriter{start: time.UnixMicro(unixFrom)}
	for _, test := range []struct{ stamp, want int64 }{{unixFrom + 5, 5}, {1000, 0}, {1030, 30}} {
		if got := w.elapsed(test.stamp); got != time.Duration(test.want)*time.Microsecond {
			t.Errorf("%d: %v", test.stamp, got)
		}
	}
}

// TestDiffOfVariables: numbers are decimal, the time is one, and the values stand in one column.
func TestDiffOfVariables(t *testing.T) {
	p := testprog.Build(t, "ticks", testprog.Variant{})
	got, path := recordInto(t, "-q", "--at", "tick", "--tvariable", "$big = 5000000000", "--set", "$big = $big + 1",
		"--collect", "now->count, $trace_timestamp, $big", "--", p.Path, "3")
	if got.status != 0 {
		t.Fatal(got.stderr)
	}
	var stamps []int64
	for line := range strings.Lines(run(t, "show", path, "--json").stdout) {
		var object struct{ Variables map[string]int64 }
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatal(err)
		}
		stamps = append(stamps, object.Variables["trace_timestamp"])
	}
	shown := run(t, "show", path, "--diff").stdout
	clock := func(i int) string { return time.UnixMicro(stamps[i]).Format(clockFormat) }
	for _, want := range []string{
		"  now->count        1 → 2\n", "  $big              5000000001 → 5000000002\n", "  $trace_timestamp  " + clock(1) + " → " + clock(2) + "\n",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("without %q:\n%s", want, shown)
		}
	}
	date := time.UnixMicro(stamps[0]).Format("2006-01-02 " + clockFormat + " MST")
	if frame := run(t, "show", path, "--frame", "0").stdout; !strings.Contains(frame, fmt.Sprintf("$trace_timestamp = %d (%s)\n", stamps[0], date)) {
		t.Errorf("a frame has no date %s:\n%s", date, frame)
	}
}
