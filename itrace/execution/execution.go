package execution

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"tracewell/arch"
	"tracewell/itrace"
	"tracewell/itrace/index"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

// Options say what an execution trace does not.
type Options struct {
	// Arch is the instruction set, one of Architectures; "" to go by the program, or to guess it from the names of registers.
	Arch string
	// Order is the byte order of data; nil for that of the program, or the usual one.
	Order arch.ByteOrder
	// Program is the ELF file of the program; nil if there is none.
	Program *elf.File
	// Bias is how far above its own addresses the program was loaded.
	Bias uint64
	// Keep says where the index is kept; see KeepIndex.
	Keep KeepIndex
	// Context ends the building of an index; nil for nothing that does.
	Context context.Context
	// Progress is told how many bytes have been read while an index is built; nil for nobody.
	Progress func(done int64)
}

// Execution is an execution trace with its index, and the machine that it is of. It may be used by several goroutines, each of
// which takes a Trace of its own.
type Execution struct {
	Name string // of the trace, for messages
	// Machine is what the trace is of; nil if nothing tells, and then Unclear says why. Without it Desc and Layout are nil, and
	// Registers has nothing.
	Machine *arch.Machine
	Unclear error
	// Title says in words what the trace is of, and how that is known; Inferred that only the names of registers say so.
	Title    string
	Inferred bool
	Desc     *tdesc.Target
	Layout   *tdesc.Layout
	Parts    []Part            // of the registers of Layout, by the numbers of names in the trace
	Aliases  map[string]string // registers of Layout by all names that they have
	Order    arch.ByteOrder    // of data; little endian where nothing tells
	Names    []string          // of registers in the trace, by their numbers
	Program  *elf.File         // of Options; nil for none
	Bias     uint64            // of Options

	content io.ReaderAt
	dialect *itrace.Dialect
	kept    kept // the index
	// first is the Trace with which the execution was opened, for the first who wants one.
	first atomic.Pointer[index.Trace]
}

// ErrNothing refuses a trace in which nothing was executed.
var ErrNothing = errors.New("the trace has no instructions")

// Open opens a trace, whose content must stay readable, and finds its index or builds it. The notes say what of the trace was not
// understood, and where the index is if that is not usual. An architecture that nothing tells is no error: see Execution.Unclear.
func Open(s Source, d *itrace.Dialect, o Options) (e *Execution, notes []string, err error) {
	e = &Execution{Name: s.Name, Program: o.Program, Bias: o.Bias, content: s.Content, dialect: d}
	if e.kept, notes, err = s.index(d, o); err != nil {
		return nil, notes, err
	}
	t := e.kept.trace
	if t == nil {
		if t, err = e.Trace(); err != nil {
			return nil, notes, errors.Join(err, e.Close())
		}
	}
	e.Names = t.Names
	notes = append(notes, summaryNotes(t.Summary())...)
	if t.Instructions == 0 {
		return nil, notes, errors.Join(ErrNothing, e.Close())
	}
	if err := e.choose(t, o); err != nil {
		return nil, notes, errors.Join(err, e.Close())
	}
	t.Narrow = e.narrow()
	e.first.Store(t)
	return e, notes, nil
}

// summaryNotes says what of a trace was not understood.
func summaryNotes(s index.Summary) []string {
	if s.Unknown == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d lines tell nothing that is known, the first is line %d: %s", s.Unknown, s.FirstUnknown, s.Problem)}
}

// choose decides what the trace is of. A wrong name is an error; a trace that nothing tells it of is not.
func (e *Execution) choose(t *index.Trace, o Options) (err error) {
	how := "as told"
	switch {
	case o.Arch != "":
		if e.Machine, err = setByName(o.Arch); err != nil {
			return err
		}
	case o.Program != nil:
		how = "as the program is"
		e.Machine, e.Unclear = setOf(o.Program)
	default:
		how, e.Inferred = "by the names of registers; --arch says otherwise", true
		e.Machine, e.Unclear = guess(t)
	}
	if e.Order = order(e.Machine, o); e.Machine == nil {
		return nil
	}
	float := false
	if e.Desc = machine.Bare(e.Machine, true); e.layOut(t) == nil {
		float = usesFloat(e.Parts)
	}
	e.Desc = machine.Bare(e.Machine, float)
	if err := e.layOut(t); err != nil {
		return err
	}
	e.Title = fmt.Sprintf("%s, %s endian (%s)", e.Machine.Title, arch.OrderName(e.Order), how)
	return nil
}

// order is the byte order of data.
func order(m *arch.Machine, o Options) arch.ByteOrder {
	switch {
	case o.Order != nil:
		return o.Order
	case o.Program != nil && o.Program.Data == elf.ELFDATA2MSB:
		return binary.BigEndian
	case o.Program != nil || m == nil:
		return binary.LittleEndian
	}
	return m.Order
}

// layOut lays out the registers of the description and finds those of the trace among them.
func (e *Execution) layOut(t *index.Trace) (err error) {
	if e.Layout, err = e.Desc.Layout(); err == nil {
		e.Parts, e.Aliases, _ = partsOf(e.Machine, t.Names, e.Layout)
	}
	return err
}

// Digits says how the digits of the trace are bytes.
func (e *Execution) Digits() index.Layout {
	l := index.Layout{BigEndian: e.Order == binary.BigEndian}
	if e.Machine != nil {
		l.Halfwords, l.LittleCode = e.Machine.Halfwords, e.Machine.LittleCode
	}
	return l
}

// usesFloat reports whether a trace has registers of floating point.
func usesFloat(parts []Part) bool {
	for _, p := range parts {
		if p.Slot != nil && (strings.HasSuffix(p.Slot.Feature.Name, "fpu") || strings.HasSuffix(p.Slot.Feature.Name, "vfp")) {
			return true
		}
	}
	return false
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
	for _, m := range arch.Machines() {
		understood, desc := m.Plausible != nil, machine.Bare(m, true)
		if desc == nil {
			continue
		}
		layout, err := desc.Layout()
		if err != nil {
			return nil, err
		}
		_, _, known := partsOf(m, t.Names, layout)
		if understood && m.AddrSize == 8 != wide && !m.WideValues || known < most || known == 0 {
			continue
		}
		if known > most {
			best, most = nil, known
		}
		best = append(best, m)
	}
	// A machine that is not understood wins, too: those that are may have a few names in common with it.
	best = slices.DeleteFunc(best, func(m *arch.Machine) bool { return m.Plausible == nil })
	if len(best) > 1 {
		best = byOpcodes(t, best)
	}
	if len(best) != 1 {
		return nil, fmt.Errorf("the names of registers do not tell the architecture; --arch says it (%s); "+
			"the first instruction is at 0x%x",
			strings.Join(Architectures(), ", "), first.Addr)
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

// Close gives up the index.
func (e *Execution) Close() error { return e.kept.close() }

// Dialect is what the trace is written in.
func (e *Execution) Dialect() *itrace.Dialect { return e.dialect }

// Trace returns the trace with its index, for one goroutine.
func (e *Execution) Trace() (*index.Trace, error) {
	if t := e.first.Swap(nil); t != nil {
		return t, nil
	}
	t, err := index.Open(e.kept, e.kept.size, e.content, e.dialect)
	if err == nil {
		t.Narrow = e.narrow()
	}
	return t, err
}

// narrow reports whether addresses have 32 bits.
func (e *Execution) narrow() bool { return e.Machine != nil && e.Machine.AddrSize == 4 }

// Named returns the numbers, in a trace, of the names that a register goes by, whose name is that of the trace or any other of the
// machine, in whatever case, with $ in front or without. The slot is that of the description, nil for a register that it lacks.
// Of a register that is written in parts there are several names; of one that the trace never names there are none.
func (e *Execution) Named(t *index.Trace, name string) (slot *tdesc.Slot, names []uint32) {
	name = strings.ToLower(strings.TrimPrefix(name, "$"))
	if e.Layout != nil {
		if slot = e.Layout.ByName(e.Aliases[name]); slot == nil {
			slot = e.Layout.ByName(name)
		}
	}
	for i, own := range t.Names {
		if own == name || slot != nil && e.Parts[i].Slot == slot {
			names = append(names, uint32(i))
		}
	}
	return slot, names
}

// Loaded returns a byte of memory as a program is loaded, by its address in the file; false for one that is none of the program's.
func Loaded(f *elf.File, addr uint64) (byte, bool) {
	for _, s := range f.Progs {
		if s.Type != elf.PT_LOAD || addr-s.Vaddr >= s.Memsz {
			continue
		}
		var b [1]byte
		if addr-s.Vaddr < s.Filesz {
			if n, _ := s.ReadAt(b[:], int64(addr-s.Vaddr)); n == 0 {
				return 0, false
			}
		}
		return b[0], true
	}
	return 0, false
}
