// Package dialects lists the dialects of execution traces that there are. Nothing but programs imports it: a package that works
// on traces is told the dialects by its caller.
package dialects

import (
	"tracewell/itrace"
	"tracewell/itrace/bochs"
	"tracewell/itrace/cva6"
	"tracewell/itrace/drmemtrace"
	"tracewell/itrace/dromajo"
	"tracewell/itrace/execlog"
	"tracewell/itrace/gdbsteps"
	"tracewell/itrace/gem5"
	"tracewell/itrace/ibex"
	"tracewell/itrace/jsonl"
	"tracewell/itrace/lackey"
	"tracewell/itrace/matcher"
	"tracewell/itrace/opencsd"
	"tracewell/itrace/ovpsim"
	"tracewell/itrace/perfscript"
	"tracewell/itrace/picorv32"
	"tracewell/itrace/qemulog"
	"tracewell/itrace/renode"
	"tracewell/itrace/retrace"
	"tracewell/itrace/riscvdv"
	"tracewell/itrace/rocket"
	"tracewell/itrace/rvfi"
	"tracewell/itrace/rvvi"
	"tracewell/itrace/sail"
	"tracewell/itrace/spike"
	"tracewell/itrace/tarmac"
	"tracewell/itrace/tenet"
	"tracewell/itrace/whisper"
)

// All is every dialect. Of two that a trace could be in the earlier is taken.
var All = itrace.Registry{
	matcher.Dialect,
	jsonl.Dialect,
	cva6.Dialect,   // reads what Spike wrote until 2020 with -l and --log-commits
	rocket.Dialect, // reads commit lines of Spike that tell less than Spike's do
	spike.Dialect,
	ibex.Dialect,
	execlog.Dialect,
	qemulog.Dialect,
	rvvi.Dialect,
	tarmac.Dialect,
	tenet.Dialect,
	gem5.Dialect,
	dromajo.Dialect,
	riscvdv.Dialect,
	sail.Dialect,
	whisper.Dialect,
	ovpsim.Dialect,
	lackey.Dialect,
	gdbsteps.Dialect,
	bochs.Dialect,
	renode.Dialect,
	picorv32.Dialect,
	picorv32.Words,
	drmemtrace.Dialect,
	perfscript.Dialect,
	opencsd.Dialect,
	retrace.Dialect,
	rvfi.Dialect,
}
