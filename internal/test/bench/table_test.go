package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/testprog"
)

// job is what is to be traced: a function of the program spin, by its first instruction, and what a hit is for.
type job struct {
	site string
	work work
}

// work is what a hit is for.
type work string

const (
	collects        work = "registers and 16 bytes"
	conditionFalse  work = "condition false"
	breakpointFalse work = "breakpoint, condition false"
)

// way is a way to trace.
type way string

const (
	bareFloor way = "floor"
	tracewell way = "tracewell serve"
	recorder  way = "tracewell record" // into a file as it goes
	gdbserver way = "gdbserver"
)

// unit is the way's name in a line of benchmark results.
func (w way) unit() string {
	return strings.ReplaceAll(string(w), " ", "-") + "-ns/hit"
}

// ours reports whether a way is one of tracewell's, which have goals.
func (w way) ours() bool { return w == tracewell || w == recorder }

// goals are how many times the cost of another way tracewell may take at most.
var goals = map[way]float64{
	bareFloor: 1.6,
	gdbserver: 0.2,
}

// row is one job done one way.
type row struct {
	job     job
	way     way
	measure func(*testing.B, *testprog.Program, job) float64
	samples []float64 // ns per hit, one a round
}

func (r *row) median() float64 { return median(r.samples) }

// table has its rows in the order in which they are measured.
type table []*row

// ratio is how many times the cost of another way a row takes, by medians; false when the other was not measured.
func (t table) ratio(r *row, other way) (float64, bool) {
	i := slices.IndexFunc(t, func(o *row) bool { return o.job == r.job && o.way == other })
	if i < 0 {
		return 0, false
	}
	return r.median() / t[i].median(), true
}

// missed reports whether tracewell misses a goal in any row.
func (t table) missed() bool {
	for _, r := range t {
		for other, goal := range goals {
			if ratio, ok := t.ratio(r, other); ok && r.way.ours() && ratio > goal {
				return true
			}
		}
	}
	return false
}

// cells are the ratio of a row to another way, and whether it meets the goal if there is one.
func (t table) cells(r *row, other way) string {
	ratio, ok := t.ratio(r, other)
	switch {
	case !ok:
		return "-\t"
	case !r.way.ours():
		return fmt.Sprintf("%.2f\t", ratio)
	case ratio <= goals[other]:
		return fmt.Sprintf("%.2f\tPASS", ratio)
	}
	return fmt.Sprintf("%.2f\tFAIL", ratio)
}

// String prints the table with the goals under it.
func (t table) String() string {
	var aligned, b strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "site\ta hit\tway\tmedian ns\tbest ns\t/ %s\t\t/ %s\n", bareFloor, gdbserver)
	for _, r := range t {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.0f\t%.0f\t%s\t%s\n", r.job.site, r.job.work, r.way, r.median(), slices.Min(r.samples),
			t.cells(r, bareFloor), t.cells(r, gdbserver))
	}
	w.Flush()
	for line := range strings.Lines(aligned.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	fmt.Fprintf(&b, "goals for %s: at most %.1f of the %s, at most %.1f of %s\n",
		tracewell, goals[bareFloor], bareFloor, goals[gdbserver], gdbserver)
	return b.String()
}

// TestTable shows both verdicts, an even number of samples, and what becomes of the column of a way that was not measured.
func TestTable(t *testing.T) {
	mov, push := job{"mov", collects}, job{"push", collects}
	results := table{
		{job: mov, way: bareFloor, samples: []float64{5000, 4000, 9000}},
		{job: mov, way: tracewell, samples: []float64{7000, 8000}},
		{job: mov, way: gdbserver, samples: []float64{50_000}},
		{job: push, way: bareFloor, samples: []float64{4000}},
		{job: push, way: tracewell, samples: []float64{8000}},
	}
	const want = `site  a hit                   way              median ns  best ns  / floor        / gdbserver
mov   registers and 16 bytes  floor            5000       4000     1.00           0.10
mov   registers and 16 bytes  tracewell serve  7500       7000     1.50     PASS  0.15  PASS
mov   registers and 16 bytes  gdbserver        50000      50000    10.00          1.00
push  registers and 16 bytes  floor            4000       4000     1.00           -
push  registers and 16 bytes  tracewell serve  8000       8000     2.00     FAIL  -
goals for tracewell serve: at most 1.6 of the floor, at most 0.2 of gdbserver
`
	if diff := cmp.Diff(want, results.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if !results.missed() || results[:3].missed() {
		t.Error("a goal is missed by push and by nothing else")
	}
}
