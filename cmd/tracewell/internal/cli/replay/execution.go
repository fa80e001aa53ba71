package replay

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/recording"
	"tracewell/internal/text"
	"tracewell/itrace"
	"tracewell/itrace/dialects"
	"tracewell/target/replay"
	"tracewell/tfile"
)

// executionOptions apply to execution traces only. The trace says neither which architecture it is of nor in which byte order
// memory is, but names of registers and an ELF file do.
type executionOptions struct {
	Arch     string        `group:"Execution traces:" placeholder:"NAME" help:"The architecture, if neither --exec nor the names of registers determine it: ${architectures}."`
	Dialect  flags.Dialect `group:"Execution traces:" placeholder:"NAME" complete:"dialects" help:"The format of the trace; without it the format is detected: ${dialects}."`
	Backfill bool          `group:"Execution traces:" help:"Assume that memory held from the beginning what is read there before it is first written."`
	Index    string        `group:"Execution traces:" enum:"beside,memory,anew" default:"beside" help:"Where to keep the index of the trace: beside it, in a file that ends in .twx, or in memory; anew rebuilds the file."`
}

// indexPlaces are the values of --index. An index beside the trace is used again only if it fits the size, the time and a sample
// of that file, and was made by the same dialect. Where nothing can be written beside the trace the index is in the user's cache,
// and without one in memory, which is printed. Small traces have none in a file.
var indexPlaces = map[string]replay.KeepIndex{"beside": replay.Beside, "memory": replay.InMemory, "anew": replay.Anew}

// Architectures are the values of --arch.
func Architectures() string { return strings.Join(replay.SetNames(), ", ") }

// executionDialect returns the dialect of --dialect, or the one that the first bytes of the file are in. It returns nil for a
// file that is to be opened as a trace file: one with the first byte of a trace file, which is no character of a text, an empty
// one, and one that cannot be read, whose errors are then those of trace files. Text in no dialect is an error, which tells for
// each why.
func (o *executionOptions) executionDialect(file *input.PackedFile) (*itrace.Dialect, error) {
	if o.Dialect.Dialect != nil {
		return o.Dialect.Dialect, nil
	}
	head := make([]byte, itrace.DetectBytes)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF || n == 0 || head[0] == tfile.Magic[0] {
		return nil, nil
	}
	if d := dialects.All.Detect(head[:n]); d.Dialect != nil {
		return d.Dialect, nil
	}
	return nil, fmt.Errorf("%s: not a trace file, and as an execution trace it %s", text.Visible(file.Name),
		dialects.All.Undetected(head[:n]))
}

// openExecution opens an execution trace for clients, and refuses the options that only trace files have. A compressed file that
// is cut off is served as far as it could be unpacked, with the damage as a message.
func (c *Command) openExecution(file *input.PackedFile, d *itrace.Dialect, streams console.Streams) (*recording.Recording, error) {
	if c.Tdesc != "" || c.RegisterSize != 0 || c.Recover {
		return nil, errors.Join(fmt.Errorf("%s is an execution trace: --tdesc, --register-size and --recover are for trace files",
			text.Visible(file.Name)), file.Close())
	}
	options := replay.ExecutionOptions{Arch: c.Arch, Order: c.Order(), Program: c.Exec, Backfill: c.Backfill,
		Keep: indexPlaces[c.Index]}
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
