package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/go-cmp/cmp"
)

// task is something to do with a trace file.
type task struct {
	name  string
	small bool // measured with the first recording only
	bytes bool // does it go through all bytes of the file, so that a speed can be told?
	goal  goal // for tracewell
	ways  []fileWay
}

// goal is the least speed or the longest time that will do; the zero value is none.
type goal struct {
	bytesPerSecond float64
	time           time.Duration
}

// verdict judges a row. It is empty without a goal.
func (g goal) verdict(r *fileRow) string {
	var met bool
	var limit string
	switch {
	case g.bytesPerSecond > 0:
		met, limit = r.speed() >= g.bytesPerSecond, fmt.Sprintf("≥ %.0f MB/s", g.bytesPerSecond/1e6)
	case g.time > 0:
		met, limit = r.median() <= g.time.Seconds(), fmt.Sprintf("≤ %d ms", g.time.Milliseconds())
	default:
		return ""
	}
	if met {
		return limit + " PASS"
	}
	return limit + " FAIL"
}

// fileRow is a task done to a recording in one way.
type fileRow struct {
	recording *recording
	task      *task
	way       fileWay
	samples   []float64 // seconds
}

func (r *fileRow) median() float64 { return median(r.samples) }

// speed is in bytes per second.
func (r *fileRow) speed() float64 { return float64(r.recording.size) / r.median() }

func (r *fileRow) verdict() string {
	if r.way.name != ourWay {
		return ""
	}
	return r.task.goal.verdict(r)
}

// fileTable has its rows in the order in which they are measured.
type fileTable []*fileRow

// ratio is how many times as long as another way a row takes, by medians.
func (t fileTable) ratio(r *fileRow, other way) string {
	for _, o := range t {
		if o.recording == r.recording && o.task == r.task && o.way.name == other {
			return quotient(r.median(), o.median())
		}
	}
	return "-"
}

// quotient is a/b, as a fraction of one where it is small.
func quotient(a, b float64) string {
	if 10*a < b {
		return fmt.Sprintf("1/%.0f", b/a)
	}
	return fmt.Sprintf("%.2f", a/b)
}

func (t fileTable) missed() bool {
	return slices.ContainsFunc(t, func(r *fileRow) bool { return strings.HasSuffix(r.verdict(), "FAIL") })
}

// String prints the table.
func (t fileTable) String() string {
	var aligned, b strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "a million frames of\ttask\tway\tmedian ms\tbest ms\tMB/s\t/ %s\t/ %s\tgoal\n", floorWay, gdbWay)
	for _, r := range t {
		speed := "-"
		if r.task.bytes {
			speed = fmt.Sprintf("%.0f", r.speed()/1e6)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.recording.name, r.task.name, r.way.name,
			milliseconds(r.median()), milliseconds(slices.Min(r.samples)), speed, t.ratio(r, floorWay), t.ratio(r, gdbWay), r.verdict())
	}
	w.Flush()
	for line := range strings.Lines(aligned.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// milliseconds has as many digits as mean something.
func milliseconds(seconds float64) string {
	if seconds < 0.010 {
		return fmt.Sprintf("%.2f", 1e3*seconds)
	}
	return fmt.Sprintf("%.0f", 1e3*seconds)
}

// TestFileTable shows both kinds of goal met and missed, and what becomes of ratios to what was not measured.
func TestFileTable(t *testing.T) {
	r := &recording{name: "200 bytes", size: 200e6}
	indexed := &task{name: "index", bytes: true, goal: goal{bytesPerSecond: 1e9}}
	found := &task{name: "find", goal: goal{time: 20 * time.Millisecond}}
	results := fileTable{
		{r, indexed, fileWay{name: floorWay}, []float64{0.05, 0.04, 0.9}},
		{r, indexed, fileWay{name: ourWay}, []float64{0.1, 0.2}},
		{r, found, fileWay{name: ourWay}, []float64{0.0012}},
		{r, found, fileWay{name: gdbWay}, []float64{2}},
		{r, indexed, fileWay{name: ourWay}, []float64{0.4}},
		{r, found, fileWay{name: ourWay}, []float64{0.021}},
	}
	const want = `a million frames of  task   way        median ms  best ms  MB/s  / floor  / gdb   goal
200 bytes            index  floor      50         40       4000  1.00     -
200 bytes            index  tracewell  150        100      1333  3.00     -       ≥ 1000 MB/s PASS
200 bytes            find   tracewell  1.20       1.20     -     -        1/1667  ≤ 20 ms PASS
200 bytes            find   gdb        2000       2000     -     -        1.00
200 bytes            index  tracewell  400        400      500   8.00     -       ≥ 1000 MB/s FAIL
200 bytes            find   tracewell  21         21       -     -        1/95    ≤ 20 ms FAIL
`
	if diff := cmp.Diff(want, results.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if !results.missed() || !results[4:5].missed() || !results[5:].missed() || results[:4].missed() {
		t.Error("goals are missed by the last two rows and by no others")
	}
}
