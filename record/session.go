package record

import (
	"context"
	"errors"
)

// Session is a run on this machine.
type Session struct {
	config Config
}

// Open launches the program or attaches to the process and prepares the run. After it the program stands still, and the
// trace file does not exist yet. Errors are those of the plan, with the item that they are about, or say why the process
// cannot be had.
func Open(c Config) (*Session, error) {
	return nil, errors.New("record: not there yet")
}

// Points returns the tracepoints of the plan with the locations that were found.
func (s *Session) Points() []Point { return nil }

// Run traces until the run ends. A program that was launched is killed when the context is cancelled; if the run ends
// otherwise before the program, that goes on untraced and Run returns when it ends. Attached processes are let go.
// The error is about the trace file, or what else kept the run from being recorded in full.
func (s *Session) Run(ctx context.Context) (Result, error) { return Result{}, nil }

// Feed tells how things stand. It may be called by any goroutine, and costs the run next to nothing.
func (s *Session) Feed() Feed { return Feed{} }

// Close lets go of everything. It may be called at any time after Open, and more than once.
func (s *Session) Close() error { return nil }
