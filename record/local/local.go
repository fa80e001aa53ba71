// Package local records processes of this machine: it is the Host of sessions of package record for programs that it launches and
// for processes that it attaches to.
package local

import (
	"tracewell/record"
	"tracewell/target"
)

// Config says which process is traced, besides what and how.
type Config struct {
	record.Config
	Program target.Program // to launch, unless there is a process to attach to
	Streams target.Streams // of a program that is launched

	PIDs []int // of processes to attach to
	// Names are those of processes (comm) to attach to besides: all that run, and with Follow all that will. Without any Open fails,
	// with Follow it waits for the first until Interrupted is closed.
	Names       []string
	Interrupted <-chan struct{}
}
