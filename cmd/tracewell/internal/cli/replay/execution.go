package replay

import (
	"errors"
	"fmt"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/recording"
	"tracewell/internal/text"
	"tracewell/itrace"
	"tracewell/itrace/execution"
	"tracewell/target/replay"
)

// executionOptions apply to execution traces only.
type executionOptions struct {
	// Those that every command has which opens an execution trace by its index.
	input.ExecutionOptions
	Backfill bool `group:"Execution traces:" help:"Assume that memory held from the beginning what is read there before it is first written."`
}

// openExecution opens an execution trace for clients, and refuses the options that only trace files have. A compressed file that
// is cut off is served as far as it could be unpacked, with the damage as a message.
func (c *Command) openExecution(file *input.PackedFile, d *itrace.Dialect, streams console.Streams) (*recording.Recording, error) {
	if c.Tdesc != "" || c.RegisterSize != 0 || c.Recover || c.Frame != 0 {
		err := fmt.Errorf("%s is an execution trace: --tdesc, --register-size, --recover and --frame are for trace files",
			text.Visible(file.Name))
		return nil, errors.Join(err, file.Close())
	}
	// The options of replay itself come on top of those that every command over an index has.
	// GDB asks for memory of which nothing was told yet, so that --backfill is a matter of targets, and not of the index.
	options := replay.ExecutionOptions{Options: execution.Options{Arch: c.Arch, Order: c.Order(), Keep: c.KeepIndex()}, Path: c.Exec,
		Backfill: c.Backfill}
	// Clients read the trace for as long as the command runs, so the file stays open: the recording closes it.
	e, err := recording.OpenExecution(file, d, options, streams)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if file.Damage != nil {
		fmt.Fprintf(streams.Err, "tracewell: %v\n", file.Damage)
	}
	return recording.OfExecution(e, file, nil), nil
}
