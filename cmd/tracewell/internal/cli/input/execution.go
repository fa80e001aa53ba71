package input

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"tracewell/arch"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/internal/packed"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/itrace"
	"tracewell/itrace/dialects"
	"tracewell/itrace/execution"
	"tracewell/symbol"
	"tracewell/tfile"
)

// ExecutionOptions apply to execution traces only. The trace says neither which architecture it is of nor in which byte order
// memory is, but names of registers and an ELF file do.
type ExecutionOptions struct {
	Arch    string        `group:"Execution traces:" placeholder:"NAME" help:"The architecture, if neither --exec nor the names of registers determine it: ${architectures}."`
	Dialect flags.Dialect `group:"Execution traces:" placeholder:"NAME" complete:"dialects" help:"The format of the trace; without it the format is detected: ${dialects}."`
	Index   string        `group:"Execution traces:" enum:"beside,memory,anew" default:"beside" help:"Where to keep the index of the trace: beside it, in a file that ends in .twx, or in memory; anew rebuilds the file."`
}

// indexPlaces are the values of --index. An index beside the trace is used again only if it fits the size, the time and a sample
// of that file, and was made by the same dialect. Where nothing can be written beside the trace the index is in the user's cache,
// and without one in memory, which is printed. Small traces have none in a file.
var indexPlaces = map[string]execution.KeepIndex{"beside": execution.Beside, "memory": execution.InMemory, "anew": execution.Anew}

// LoadOptions say where the program of an execution trace was.
type LoadOptions struct {
	Bias uint64 `group:"Execution traces:" placeholder:"BYTES" help:"How far above the addresses in its file a position-independent program of --exec was loaded; 0x for hexadecimal."`
}

// OpenProgram opens the program of --exec, twice: by its names, which are read when the first is asked for, and as what is loaded
// into memory. Both are nil without one.
func (o *LoadOptions) OpenProgram(path string) (names *symbol.Program, file *elf.File, close func() error, err error) {
	if path == "" {
		return nil, nil, func() error { return nil }, nil
	}
	if names, err = symbol.Open(path, symbol.Options{}); err != nil {
		return nil, nil, nil, err
	}
	if file, err = elf.Open(path); err != nil {
		return nil, nil, nil, errors.Join(err, names.Close())
	}
	names.Rebase(arch.Addr(o.Bias))
	return names, file, func() error { return errors.Join(names.Close(), file.Close()) }, nil
}

// KeepIndex is where --index wants the index.
func (o *ExecutionOptions) KeepIndex() execution.KeepIndex { return indexPlaces[o.Index] }

// Architectures are the values of --arch.
func Architectures() string { return strings.Join(execution.Architectures(), ", ") }

// DialectOf returns the dialect of --dialect, or the one that the first bytes of the file are in. It returns nil for a file that is
// none of an execution trace: one with the first byte of a trace file, which is no character of a text, an empty one, and one that
// cannot be read, whose errors are then those of trace files. Text in no dialect is an error, which tells for each why.
func (o *ExecutionOptions) DialectOf(file *PackedFile) (*itrace.Dialect, error) {
	if o.Dialect.Dialect != nil {
		return o.Dialect.Dialect, nil
	}
	head := make([]byte, itrace.DetectBytes)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF || n == 0 || head[0] == tfile.Magic[0] {
		return nil, nil
	}
	// To try all dialects takes a good part of the time that a question about a point takes. The one of a kept index is tried alone;
	// its settings, which somebody has named once, are not taken again.
	if d, err := dialects.All.ByName(sourceOf(file).Dialect()); err == nil && len(d.String()) == len(d.Name) {
		if found := (itrace.Registry{d}).Detect(head[:n]); found.Dialect != nil && found.Known == found.Lines {
			return d, nil
		}
	}
	if d := dialects.All.Detect(head[:n]); d.Dialect != nil {
		return d.Dialect, nil
	}
	return nil, fmt.Errorf("%s: not a trace file, and as an execution trace it %s", text.Visible(file.Name),
		dialects.All.Undetected(head[:n]))
}

// sourceOf is an execution trace in a file. The index is kept beside a regular file only: pipes have no name or time to recognise
// them by.
func sourceOf(file *PackedFile) execution.Source {
	source := execution.Source{Name: file.Name, Content: file, Size: file.Size()}
	if file.Source != nil {
		if status, err := file.Source.Stat(); err == nil && status.Mode().IsRegular() {
			source.Path, source.Status, source.Stored = file.Name, status, file.Source
		}
	}
	return source
}

// IndexExecution has open index an execution trace in a file, or load the index that was saved beside it, and prints the notes
// that open returns. Work that takes its time shows a progress bar, and Ctrl-C ends it. The file stays open.
func IndexExecution(file *PackedFile, streams console.Streams, o execution.Options,
	open func(execution.Source, execution.Options) (notes []string, err error)) error {
	bar := progress.Start(streams.Err, progress.Work{Name: "indexing " + text.Visible(file.Name), Total: file.Size()})
	ctx, stop := console.UntilInterrupted()
	defer stop()
	o.Context, o.Progress = ctx, bar.Set
	source := sourceOf(file)
	notes, err := open(source, o)
	// Damage of a large compressed file shows when the index is built of it. What is in front of it is asked, by an index of that.
	var damage *packed.DamageError
	if errors.As(err, &damage) && damage.Size > 0 && damage.Size < source.Size {
		file.Damage = damage
		source.Size, o.Keep = damage.Size, execution.InMemory
		notes, err = open(source, o)
	}
	bar.Done()
	// What was inferred about the trace, such as the architecture, may be wrong, so the user is told.
	for _, note := range notes {
		fmt.Fprintf(streams.Err, "tracewell: %s: %s\n", text.Visible(file.Name), text.Visible(note))
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted: %s is not indexed yet", text.Visible(file.Name))
	}
	// An error of the program or of the index names its file itself.
	var missing *os.PathError
	if err == nil || errors.As(err, &missing) {
		return err
	}
	return fmt.Errorf("%s: %w", text.Visible(file.Name), err)
}
