//go:build linux && amd64

package bench

import (
	"testing"

	"tracewell/internal/test/testprog"
)

// jobs are what is traced in each round, in this order.
var jobs = []job{
	{"mov", collects},
	{"mov", conditionFalse},
	{"mov", breakpointFalse},
	{"push", collects},
	{"nop", collects},
	{"nop5", collects},
}

// BenchmarkHit measures everything once in each round, so that a machine that is busy for a while is busy for all of it.
func BenchmarkHit(b *testing.B) {
	program := testprog.Build(b, "spin", testprog.Variant{NoPIE: true, Static: true, Optimised: true})
	methods := methods(b)
	var measured table
	for _, j := range jobs {
		for _, m := range methods {
			if m.way != recorder || j.work != breakpointFalse { // there are no breakpoints in a recording
				measured = append(measured, &row{job: j, way: m.way, measure: m.measure})
			}
		}
	}
	for b.Loop() {
		for range *rounds {
			for _, r := range measured {
				r.samples = append(r.samples, r.measure(b, program, r.job))
			}
		}
	}
	reports = append(reports, measured)
	b.ReportMetric(0, "ns/op") // of the whole run, which says nothing
	for _, r := range measured[:len(methods)] {
		b.ReportMetric(r.median(), r.way.unit())
	}
}
