package recording

import (
	"errors"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/itrace"
	"tracewell/itrace/execution"
	"tracewell/stub"
	"tracewell/target/replay"
)

// OfExecution serves an execution trace, which it closes in the end, with its file. A client's target stands where start moves
// it, or at the beginning of the trace if start is nil.
func OfExecution(e *replay.Execution, file *input.PackedFile, start func(*replay.ExecutionTarget) error) *Recording {
	return &Recording{
		Close: func() error { return errors.Join(e.Close(), file.Close()) },
		// Each client gets a target of its own: where one has gone, and its marks, are nothing to the next.
		Config: func() (stub.Config, error) {
			t, err := e.Target()
			if err == nil && start != nil {
				err = start(t)
			}
			return stub.Config{Target: t, Attached: true}, err
		},
	}
}

// OpenExecution indexes an execution trace in a file, or loads the index that was saved beside it, and prints what it found out.
// The file stays open; after an error the caller closes it.
func OpenExecution(file *input.PackedFile, d *itrace.Dialect, o replay.ExecutionOptions,
	streams console.Streams) (e *replay.Execution, err error) {
	err = input.IndexExecution(file, streams, o.Options, func(s execution.Source, own execution.Options) (notes []string, err error) {
		o.Options = own
		e, notes, err = replay.NewExecution(s, d, o)
		return notes, err
	})
	return e, err
}
