// Package dialects lists the dialects of execution traces that there are. Nothing but programs imports it: a package that works
// on traces is told the dialects by its caller.
package dialects

import (
	"tracewell/itrace"
	"tracewell/itrace/execlog"
	"tracewell/itrace/gem5"
	"tracewell/itrace/ibex"
	"tracewell/itrace/jsonl"
	"tracewell/itrace/matcher"
	"tracewell/itrace/qemulog"
	"tracewell/itrace/rvvi"
	"tracewell/itrace/spike"
	"tracewell/itrace/tarmac"
	"tracewell/itrace/tenet"
)

// All is every dialect. Of two that a trace could be in the earlier is taken.
var All = itrace.Registry{
	matcher.Dialect,
	jsonl.Dialect,
	spike.Dialect,
	ibex.Dialect,
	execlog.Dialect,
	qemulog.Dialect,
	rvvi.Dialect,
	tarmac.Dialect,
	tenet.Dialect,
	gem5.Dialect,
}
