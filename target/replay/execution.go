package replay

import (
	"encoding/binary"
	"errors"
	"strings"

	"tracewell/arch"
	"tracewell/itrace"
	"tracewell/itrace/execution"
	"tracewell/itrace/index"
)

// ExecutionOptions say what an execution trace does not.
type ExecutionOptions struct {
	execution.Options // but for the program
	// Path is that of the ELF file of the program; "" if there is none. It tells what memory held in the beginning.
	Path string
	// Backfill has memory that was not seen before a position show what was read there later, before anything was written. That it
	// held the same before is an inference: it is wrong where devices or other masters write.
	Backfill bool
}

// Execution is an execution trace. Its targets may be used by several goroutines, each by one at a time.
type Execution struct {
	*execution.Execution
	isa      *arch.ISA
	program  *program
	data     index.Layout
	backfill bool
}

// NewExecution returns the execution that a trace tells of. The content must stay readable. The notes say what was found out, and
// what could not be. GDB shows nothing without an architecture, so a trace of which nothing tells it is refused.
func NewExecution(s execution.Source, d *itrace.Dialect, o ExecutionOptions) (e *Execution, notes []string, err error) {
	e = &Execution{backfill: o.Backfill}
	if o.Path != "" {
		if e.program, err = openProgram(o.Path); err != nil {
			return nil, nil, err
		}
		if !e.program.placed {
			e.program.place(0)
		}
		o.Program = e.program.elf
	}
	if e.Execution, notes, err = execution.Open(s, d, o.Options); err != nil {
		return nil, notes, errors.Join(err, e.program.close())
	}
	if e.Unclear != nil {
		return nil, notes, errors.Join(e.Unclear, e.Close())
	}
	notes = append(notes, e.Title)
	e.isa = e.Layout.ISA(e.Machine, e.Desc.Architecture, e.Order)
	e.data = e.Digits()
	if e.Order == binary.BigEndian && e.program == nil {
		notes = append(notes, "GDB has to be told of the byte order unless it has the program: set endian big")
	}
	if other := unplaced(e.Parts, e.Names); len(other) > 0 {
		notes = append(notes, "not shown, as GDB has no such registers: "+strings.Join(other, " "))
	}
	return e, notes, nil
}

// unplaced returns the first names that are no registers of the description.
func unplaced(parts []execution.Part, names []string) (other []string) {
	const most = 10
	for i, p := range parts {
		if p.Slot == nil && names[i] != "pc" {
			if len(other) == most {
				return append(other, "...")
			}
			other = append(other, names[i])
		}
	}
	return other
}

// Close gives up the index and the program's file.
func (e *Execution) Close() error { return errors.Join(e.Execution.Close(), e.program.close()) }
