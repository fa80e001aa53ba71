package replay

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"tracewell/arch"
	"tracewell/itrace"
	"tracewell/itrace/index"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

// ExecutionOptions say what an execution trace does not.
type ExecutionOptions struct {
	// Arch is the instruction set, one of SetNames; "" to go by the program, or to guess it from the names of registers.
	Arch string
	// Order is the byte order of data; nil for that of the program, or the usual one.
	Order arch.ByteOrder
	// Program is the path of the ELF file of the program; "" if there is none. It tells what memory held in the beginning.
	Program string
	// Backfill has memory that was not seen before a position show what was read there later, before anything was written. That it
	// held the same before is an inference: it is wrong where devices or other masters write.
	Backfill bool
	// Keep says where the index is kept; see KeepIndex.
	Keep KeepIndex
	// Context ends the building of an index; nil for nothing that does.
	Context context.Context
	// Progress is told how many bytes have been read while an index is built; nil for nobody.
	Progress func(done int64)
}

// Execution is an execution trace. Its targets may be used by several goroutines, each by one at a time.
type Execution struct {
	name    string
	content io.ReaderAt
	dialect *itrace.Dialect
	kept    kept // the index

	machine *arch.Machine
	isa     *arch.ISA
	desc    *tdesc.Target
	layout  *tdesc.Layout
	parts   []part            // by the numbers of names
	aliases map[string]string // registers of the description by all names that they have
	program *program
	data    index.Layout
	o       ExecutionOptions
}

// errNothing refuses a trace in which nothing was executed.
var errNothing = errors.New("the trace has no instructions")

// NewExecution returns the execution that a trace tells of. The content must stay readable. The notes say what was found out, and
// what could not be.
func NewExecution(s ExecutionSource, d *itrace.Dialect, o ExecutionOptions) (e *Execution, notes []string, err error) {
	e = &Execution{name: s.Name, content: s.Content, dialect: d, o: o}
	if o.Program != "" {
		if e.program, err = openProgram(o.Program); err != nil {
			return nil, nil, err
		}
		if !e.program.placed {
			e.program.place(0)
		}
	}
	if e.kept, notes, err = s.index(d, o); err != nil {
		return nil, notes, err
	}
	t, err := e.trace()
	if err != nil {
		return nil, notes, errors.Join(err, e.Close())
	}
	notes = append(notes, summaryNotes(t.Summary())...)
	if t.Instructions == 0 {
		return nil, notes, errors.Join(errNothing, e.Close())
	}
	if err := e.choose(t, &notes); err != nil {
		return nil, notes, errors.Join(err, e.Close())
	}
	return e, notes, nil
}

// summaryNotes says what of a trace was not understood.
func summaryNotes(s index.Summary) []string {
	if s.Unknown == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d lines tell nothing that is known, the first is line %d: %s", s.Unknown, s.FirstUnknown, s.Problem)}
}

// choose decides what the trace is of.
func (e *Execution) choose(t *index.Trace, notes *[]string) error {
	how := "as told"
	var err error
	switch {
	case e.o.Arch != "":
		e.machine, err = setByName(e.o.Arch)
	case e.program != nil:
		how = "as the program is"
		if e.machine, err = setOf(e.program.elf); err != nil {
			err = fmt.Errorf("%s: %w", e.program.path, err)
		}
	default:
		how = "by the names of registers; --arch says otherwise"
		e.machine, err = guess(t)
	}
	if err != nil {
		return err
	}
	order := e.order()
	float := false
	if e.desc = machine.Bare(e.machine, true); e.layoutOf(t) == nil {
		float = usesFloat(e.parts)
	}
	e.desc = machine.Bare(e.machine, float)
	if err := e.layoutOf(t); err != nil {
		return err
	}
	e.isa = e.layout.ISA(e.machine, e.desc.Architecture, order)
	e.data = index.Layout{BigEndian: order == binary.BigEndian, Halfwords: e.machine.Halfwords, LittleCode: e.machine.LittleCode}
	*notes = append(*notes, fmt.Sprintf("%s, %s endian (%s)", e.machine.Title, arch.OrderName(order), how))
	if order == binary.BigEndian && e.program == nil {
		*notes = append(*notes, "GDB has to be told of the byte order unless it has the program: set endian big")
	}
	if other := unplaced(e.parts, t.Names); len(other) > 0 {
		*notes = append(*notes, "not shown, as GDB has no such registers: "+strings.Join(other, " "))
	}
	return nil
}

// order is the byte order of data.
func (e *Execution) order() arch.ByteOrder {
	switch {
	case e.o.Order != nil:
		return e.o.Order
	case e.program != nil && e.program.elf.Data == elf.ELFDATA2MSB:
		return binary.BigEndian
	case e.program != nil:
		return binary.LittleEndian
	}
	return e.machine.Order
}

// layoutOf lays out the registers of the description and finds those of the trace among them.
func (e *Execution) layoutOf(t *index.Trace) (err error) {
	if e.layout, err = e.desc.Layout(); err == nil {
		e.parts, e.aliases, _ = partsOf(e.machine, t.Names, e.layout)
	}
	return err
}

// usesFloat reports whether a trace has registers of floating point.
func usesFloat(parts []part) bool {
	for _, p := range parts {
		if p.slot != nil && (strings.HasSuffix(p.slot.Feature.Name, "fpu") || strings.HasSuffix(p.slot.Feature.Name, "vfp")) {
			return true
		}
	}
	return false
}

// unplaced returns the first names that are no registers of the description.
func unplaced(parts []part, names []string) (other []string) {
	const most = 10
	for i, p := range parts {
		if p.slot == nil && names[i] != "pc" {
			if len(other) == most {
				return append(other, "...")
			}
			other = append(other, names[i])
		}
	}
	return other
}

// guess finds the instruction set whose registers have the most names of the trace, and to which its first instructions belong.
func guess(t *index.Trace) (*arch.Machine, error) {
	first, err := t.Instruction(0)
	if err != nil {
		return nil, err
	}
	wide, err := isWide(t)
	if err != nil {
		return nil, err
	}
	var best []*arch.Machine
	most := 0
	for _, m := range executed() {
		layout, err := machine.Bare(m, true).Layout()
		if err != nil {
			return nil, err
		}
		_, _, known := partsOf(m, t.Names, layout)
		if m.AddrSize == 8 != wide && !m.WideValues || known < most || known == 0 {
			continue
		}
		if known > most {
			best, most = nil, known
		}
		best = append(best, m)
	}
	if len(best) > 1 {
		best = byOpcodes(t, best)
	}
	if len(best) != 1 {
		return nil, fmt.Errorf("the names of registers do not tell the architecture; --arch says it (%s); "+
			"the first instruction is at 0x%x",
			strings.Join(SetNames(), ", "), first.Addr)
	}
	return best[0], nil
}

// isWide reports whether registers have more than 32 bits: by what they hold, and by how many digits are written.
func isWide(t *index.Trace) (bool, error) {
	values, err := t.Registers(t.Instructions)
	for _, v := range values {
		if n := len(v.Digits); n > 8 && n <= 16 {
			return true, err
		}
	}
	return false, err
}

// someInstructions is how many instructions a guess looks at.
const someInstructions = 200

// byOpcodes leaves those to which nearly all of the first instructions can belong, but one that has nearly any number for an
// instruction only if there is none else.
func byOpcodes(t *index.Trace, machines []*arch.Machine) []*arch.Machine {
	var left []*arch.Machine
	for _, m := range machines {
		n, plausible := min(someInstructions, t.Instructions), int64(0)
		for i := range n {
			it, err := t.Instruction(i)
			if err == nil && m.Plausible(opcode(it.Digits), it.Size) {
				plausible++
			}
		}
		if plausible*10 >= n*9 {
			left = append(left, m)
		}
	}
	if len(left) > 1 && left[0].AnyWord {
		left = left[1:]
	}
	return left
}

// opcode is the number that digits are, those that are not known as 0.
func opcode(digits []byte) (n uint64) {
	for i := range uint64(8) {
		b, _ := index.DigitByte(digits, i)
		n |= uint64(b) << (8 * i)
	}
	return n
}

// Close gives up the index and the program's file.
func (e *Execution) Close() error {
	err := e.kept.close()
	if e.program != nil {
		err = errors.Join(err, e.program.file.Close())
	}
	return err
}

// trace returns the trace with its index, for one goroutine.
func (e *Execution) trace() (*index.Trace, error) {
	t, err := index.Open(e.kept, e.kept.size, e.content, e.dialect)
	if err == nil {
		t.Narrow = e.machine != nil && e.machine.AddrSize == 4
	}
	return t, err
}
