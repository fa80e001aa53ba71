package tdesc

import (
	"cmp"
	"fmt"
	"slices"

	"tracewell/arch"
)

// Layout is where each register lies in a register block: in the g packet, and after the R of a trace frame. Registers
// follow each other by number, without padding, each with the size of its type (GDB 13 remote.c does it so, where gdbserver
// goes by bitsize; a description that both shall read has to keep the two equal). A type whose id means one thing in one feature
// and another in the next is that of the first register for both, as in GDB 13 (see Slot.Shared). A block may be shorter than
// Size; the registers that are not whole in it are then unavailable.
type Layout struct {
	Slots []Slot // by number; those of equal number, which GDB has in any order, in document order; without those Outside
	Size  int    // of the whole block in bytes

	byNumber map[arch.Reg]*Slot
	byName   map[string]*Slot
}

// Slot is the place of one register.
type Slot struct {
	Reg     *Register
	Feature *Feature
	Offset  int // in bytes from the start of the block
	Size    int // in bytes

	// Shared tells that GDB does not take the register's own type, but one of the same name that another register has, and that
	// this one differs.
	Shared bool

	shape   *shape
	bySize  bool // the shape goes by the bitsize
	machine *arch.Machine
}

// Layout resolves the description. The error, of a description not from Parse or of one with absurdly large types, names
// feature and type or register.
func (t *Target) Layout() (*Layout, error) {
	count := 0
	for _, f := range t.Features {
		count += len(f.Registers)
	}
	l := &Layout{
		Slots:    make([]Slot, 0, count),
		byNumber: make(map[arch.Reg]*Slot, count),
		byName:   make(map[string]*Slot, count),
	}
	m := modelOf(t)
	for _, f := range t.Features {
		if err := l.add(m, f); err != nil {
			return nil, fmt.Errorf("target description: %w", err)
		}
	}
	if err := l.share(t); err != nil {
		return nil, err
	}
	l.Slots = slices.DeleteFunc(l.Slots, func(s Slot) bool { return s.Reg.Num == Outside })
	slices.SortStableFunc(l.Slots, func(a, b Slot) int { return cmp.Compare(a.Reg.Num, b.Reg.Num) })
	machine := t.Machine()
	for i := range l.Slots {
		s := &l.Slots[i]
		s.machine = machine
		s.Offset = l.Size
		l.Size += s.Size
		if _, ok := l.byNumber[s.Reg.Num]; !ok {
			l.byNumber[s.Reg.Num] = s
		}
		if _, ok := l.byName[s.Reg.Name]; !ok {
			l.byName[s.Reg.Name] = s
		}
	}
	return l, nil
}

func (l *Layout) add(m model, f *Feature) error {
	r, err := newResolver(m, f)
	if err != nil {
		return err
	}
	for _, reg := range f.Registers {
		s, bySize, err := r.register(reg)
		if err != nil {
			return fmt.Errorf("feature %q: reg %q: %w", f.Name, reg.Name, err)
		}
		l.Slots = append(l.Slots, Slot{Reg: reg, Feature: f, Size: s.size, shape: s, bySize: bySize})
	}
	return nil
}

// ByNumber finds a register by its number, nil if there is none. Of several it is the first.
func (l *Layout) ByNumber(n arch.Reg) *Slot { return l.byNumber[n] }

// ByName finds a register by its name, nil if there is none. Of several it is the one with the lowest number.
func (l *Layout) ByName(name string) *Slot { return l.byName[name] }

// Number is the number of the register of a name, arch.NoReg if there is none.
func (l *Layout) Number(name string) arch.Reg {
	if slot := l.ByName(name); slot != nil {
		return slot.Reg.Num
	}
	return arch.NoReg
}

// ISA is a machine that has these registers, with memory in such an order.
func (l *Layout) ISA(m *arch.Machine, name string, order arch.ByteOrder) *arch.ISA {
	return &arch.ISA{
		Machine: m, Name: name, Order: order, AddrSize: m.AddrSize, PC: l.Number(m.PC), SP: l.Number(m.SP), FP: l.Number(m.FP),
	}
}

// ProgramCounter finds the register that is the program counter, nil if there is none of a name that GDB has for it, and of the
// size of an address.
func (l *Layout) ProgramCounter() *Slot {
	for _, name := range arch.Counters() {
		if slot := l.ByName(name); slot != nil && slot.Size <= 8 {
			return slot
		}
	}
	return nil
}

// Bytes is the part of a register block that holds the register, in target byte order; false if the block ends before it.
func (s *Slot) Bytes(block []byte) ([]byte, bool) {
	if len(block) < s.Offset+s.Size {
		return nil, false
	}
	return block[s.Offset : s.Offset+s.Size : s.Offset+s.Size], true
}
