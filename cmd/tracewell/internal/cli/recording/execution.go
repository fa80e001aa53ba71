package recording

import (
	"errors"
	"fmt"
	"os"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/itrace"
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
// Work that takes its time shows a progress bar, and Ctrl-C ends it. The file stays open; after an error the caller closes it.
func OpenExecution(file *input.PackedFile, d *itrace.Dialect, o replay.ExecutionOptions,
	streams console.Streams) (*replay.Execution, error) {
	// The index is kept beside a regular file only: unpacked contents and pipes have no name or time to recognise them by.
	source := replay.ExecutionSource{Name: file.Name, Content: file, Size: file.Size()}
	if file.Source != nil {
		if status, err := file.Source.Stat(); err == nil && status.Mode().IsRegular() {
			source.Path, source.Status = file.Name, status
		}
	}
	bar := progress.Start(streams.Err, progress.Work{Name: "indexing " + text.Visible(file.Name), Total: file.Size()})
	ctx, stop := console.UntilInterrupted()
	defer stop()
	// Ctrl-C ends the indexing only: a client's Ctrl-C is a packet.
	o.Context, o.Progress = ctx, bar.Set
	e, notes, err := replay.NewExecution(source, d, o)
	bar.Done()
	// What was inferred about the trace, such as the architecture, may be wrong, so the user is told.
	for _, note := range notes {
		fmt.Fprintf(streams.Err, "tracewell: %s: %s\n", text.Visible(file.Name), text.Visible(note))
	}
	if ctx.Err() != nil && err != nil {
		return nil, fmt.Errorf("interrupted: %s is not indexed yet", text.Visible(file.Name))
	}
	if err != nil {
		// An error of the program or of the index names its file itself.
		var missing *os.PathError
		if errors.As(err, &missing) {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", text.Visible(file.Name), err)
	}
	return e, nil
}
