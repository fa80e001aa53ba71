package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"
)

// executionGoal is what will do; a zero is no goal.
type executionGoal struct {
	seconds        float64 // of processor time, at most
	bytesPerSecond float64 // of processor time, at least
	megabytes      float64 // of memory, at most
	ofDiff         float64 // of the processor time of diff, at most
	ofCmp          float64 // of that of cmp, which does no more than read
}

// executionRow is a task done to a pair in one way.
type executionRow struct {
	pair    *executions
	task    *executionTask
	way     executionWay
	samples []float64 // seconds of processor time
	peak    int64     // memory in bytes
}

func (r *executionRow) median() float64 { return median(r.samples) }

// speed is in bytes per second.
func (r *executionRow) speed() float64 {
	return float64(r.pair.size*r.task.whole/2) / r.median()
}

// executionTable has its rows in the order in which they are measured.
type executionTable []*executionRow

// of returns the row of the same task by another way, nil for none.
func (t executionTable) of(r *executionRow, other way) *executionRow {
	i := slices.IndexFunc(t, func(o *executionRow) bool { return o.pair == r.pair && o.task == r.task && o.way.name == other })
	if i < 0 {
		return nil
	}
	return t[i]
}

func (t executionTable) ratio(r *executionRow, other way) string {
	if o := t.of(r, other); o != nil {
		return quotient(r.median(), o.median())
	}
	return "-"
}

// verdict judges a row of tracewell by all its goals.
func (t executionTable) verdict(r *executionRow) string {
	if r.way.name != ourWay {
		return ""
	}
	var limits []string
	met := true
	judge := func(goal float64, ok bool, limit string) {
		if goal > 0 {
			met = met && ok
			limits = append(limits, limit)
		}
	}
	g := r.task.goal
	judge(g.seconds, r.median() <= g.seconds, fmt.Sprintf("≤ %.0f s", g.seconds))
	judge(g.bytesPerSecond, r.speed() >= g.bytesPerSecond, fmt.Sprintf("≥ %.0f MB/s", g.bytesPerSecond/1e6))
	judge(g.megabytes, float64(r.peak) <= g.megabytes*1e6, fmt.Sprintf("≤ %.0f MB", g.megabytes))
	if diff := t.of(r, diffWay); diff != nil {
		judge(g.ofDiff, r.median() <= g.ofDiff*diff.median(), fmt.Sprintf("≤ %.0f of diff", g.ofDiff))
	}
	if read := t.of(r, cmpWay); read != nil {
		judge(g.ofCmp, r.median() <= g.ofCmp*read.median(), fmt.Sprintf("≤ %.1f of cmp", g.ofCmp))
	}
	if len(limits) == 0 {
		return ""
	}
	return strings.Join(limits, ", ") + map[bool]string{true: " PASS", false: " FAIL"}[met]
}

func (t executionTable) missed() bool {
	return slices.ContainsFunc(t, func(r *executionRow) bool { return strings.HasSuffix(t.verdict(r), "FAIL") })
}

// String prints the table.
func (t executionTable) String() string {
	var aligned, b strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "instructions\ttask\tway\tCPU s\tbest s\tMB/s\tpeak MB\t/ %s\t/ %s\t/ %s\tgoal\n", floorWay, diffWay, cmpWay)
	for _, r := range t {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.3f\t%.3f\t%.0f\t%.0f\t%s\t%s\t%s\t%s\n", r.pair.name, r.task.name, r.way.name, r.median(),
			slices.Min(r.samples), r.speed()/1e6, float64(r.peak)/1e6, t.ratio(r, floorWay), t.ratio(r, diffWay),
			t.ratio(r, cmpWay), t.verdict(r))
	}
	w.Flush()
	for line := range strings.Lines(aligned.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// TestExecutionTable shows goals of all kinds, met and missed.
func TestExecutionTable(t *testing.T) {
	p := &executions{name: "1 M", size: 200e6}
	read := &executionTask{name: "read", whole: 1, goal: executionGoal{bytesPerSecond: 1e9}}
	compared := &executionTask{name: "compare", whole: 2, goal: executionGoal{seconds: 5, megabytes: 100, ofDiff: 1, ofCmp: 2}}
	results := executionTable{
		{p, read, executionWay{name: floorWay}, []float64{0.05, 0.04, 0.9}, 10e6},
		{p, read, executionWay{name: ourWay}, []float64{0.08, 0.1, 0.1}, 10e6},
		{p, compared, executionWay{name: ourWay}, []float64{2}, 90e6},
		{p, compared, executionWay{name: diffWay}, []float64{4}, 300e6},
		{p, compared, executionWay{name: cmpWay}, []float64{1}, 2e6},
	}
	const want = `instructions  task     way        CPU s  best s  MB/s  peak MB  / floor  / diff  / cmp  goal
1 M           read     floor      0.050  0.040   2000  10       1.00     -       -
1 M           read     tracewell  0.100  0.080   1000  10       2.00     -       -      ≥ 1000 MB/s PASS
1 M           compare  tracewell  2.000  2.000   100   90       -        0.50    2.00   ≤ 5 s, ≤ 100 MB, ≤ 1 of diff, ≤ 2.0 of cmp PASS
1 M           compare  diff       4.000  4.000   50    300      -        1.00    4.00
1 M           compare  cmp        1.000  1.000   200   2        -        0.25    1.00
`
	if diff := cmp.Diff(want, results.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	for _, spoil := range []func(){
		func() { results[1].samples = []float64{0.11} },
		func() { results[1].samples = []float64{0.1}; results[2].peak = 101e6 },
		func() { results[2].peak = 1; results[2].samples = []float64{4.1} },
		func() {
			results[2].samples = []float64{5.1}
			results[3].samples = []float64{6}
			results[4].samples = []float64{3}
		},
		func() { results[2].samples = []float64{4}; results[4].samples = []float64{1.9} },
	} {
		if spoil(); !results.missed() {
			t.Errorf("no goal is missed in\n%s", results)
		}
	}
}
