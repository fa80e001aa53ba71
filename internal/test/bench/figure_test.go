package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// figure is something measured that has a goal, or none.
type figure struct {
	what    string
	unit    string
	goal    float64 // 0 for none
	atLeast bool    // the goal is a floor
	samples []float64
	note    string // why there are none
}

func (f *figure) add(sample float64) { f.samples = append(f.samples, sample) }

func (f *figure) value() float64 { return median(f.samples) }

func (f *figure) met() bool {
	if f.goal == 0 || f.note != "" {
		return true
	}
	if f.atLeast {
		return f.value() >= f.goal
	}
	return f.value() <= f.goal
}

// figureTable is all figures of one thing.
type figureTable struct {
	of      string
	figures []*figure
}

func (t *figureTable) missed() bool {
	return slices.ContainsFunc(t.figures, func(f *figure) bool { return !f.met() })
}

// String prints the table.
func (t *figureTable) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", t.of)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, f := range t.figures {
		if f.note != "" {
			fmt.Fprintf(w, "%s\t\t%s\n", f.what, f.note)
			continue
		}
		goal := ""
		if f.goal > 0 {
			sign := map[bool]string{true: "≥", false: "≤"}[f.atLeast]
			goal = fmt.Sprintf("\t%s %g %s\t%s", sign, f.goal, f.unit, map[bool]string{true: "PASS", false: "FAIL"}[f.met()])
		}
		fmt.Fprintf(w, "%s\t%.2f to %.2f\t%.2f %s%s\n", f.what, slices.Min(f.samples), slices.Max(f.samples), f.value(), f.unit, goal)
	}
	w.Flush()
	return b.String()
}

// TestFigureTable shows goals of both kinds, met and missed.
func TestFigureTable(t *testing.T) {
	table := &figureTable{"replay of a trace", []*figure{
		{what: "index", unit: "MB/s", goal: 150, atLeast: true, samples: []float64{200, 100, 160}},
		{what: "a question", unit: "ms", goal: 50, samples: []float64{1, 60, 49}},
		{what: "another way", unit: "ms", note: "not installed"},
	}}
	const want = `replay of a trace
index        100.00 to 200.00  160.00 MB/s  ≥ 150 MB/s  PASS
a question   1.00 to 60.00     49.00 ms     ≤ 50 ms     PASS
another way                    not installed
`
	if got := table.String(); got != want || table.missed() {
		t.Errorf("got\n%s", got)
	}
	table.figures[1].samples[0] = 51
	if !table.missed() {
		t.Error("a question that took too long is no goal missed")
	}
	table.figures[1].samples[0], table.figures[0].samples = 1, []float64{149}
	if !table.missed() {
		t.Error("an index that took too long is no goal missed")
	}
}
