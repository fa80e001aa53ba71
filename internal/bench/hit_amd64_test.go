package bench

import (
	"testing"

	"tracewell/internal/testprog"
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
			measured = append(measured, &row{job: j, way: m.way})
		}
	}
	for b.Loop() {
		for range *rounds {
			for i, r := range measured {
				r.samples = append(r.samples, methods[i%len(methods)].measure(b, program, r.job))
			}
		}
	}
	reports = append(reports, measured)
	b.ReportMetric(0, "ns/op") // of the whole run, which says nothing
	for _, r := range measured[:len(methods)] {
		b.ReportMetric(r.median(), r.way.unit())
	}
}
