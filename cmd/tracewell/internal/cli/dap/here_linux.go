package dap

import (
	"tracewell/internal/sys"
	"tracewell/record/local"
)

// recordHere prepares a run on this machine.
var recordHere = local.Open

// terminate asks a process to end. What it does then is its own affair.
func terminate(pid int) error { return sys.Kill(pid, sys.SIGTERM) }
