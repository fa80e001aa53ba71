package fakestub

import (
	"bytes"
	"encoding/binary"
	"errors"

	"tracewell/arch"
)

// trapOf is the instruction that a software breakpoint puts into memory.
func trapOf(size int) []byte {
	if size == 2 {
		return binary.LittleEndian.AppendUint16(nil, trapTwo)
	}
	return binary.LittleEndian.AppendUint32(nil, trapWide)
}

// breakpointAt finds a breakpoint on an instruction. That of hardware comes first, as it needs no fetch.
func (m *machine) breakpointAt(pc uint64) *breakpoint {
	if b := m.breakpoints[place{1, pc}]; b != nil {
		return b
	}
	b := m.breakpoints[place{0, pc}]
	if b != nil && b.under != nil && !bytes.Equal(m.at(pc, b.size), trapOf(b.size)) {
		return nil // the program or the client has written over it
	}
	return b
}

func reasonOf(b *breakpoint) why {
	if b.kind == 1 {
		return atHardware
	}
	return atSoftware
}

// at is memory as it is, without anybody noticing.
func (m *machine) at(at uint64, size int) []byte {
	if r := m.region(at, size); r != nil {
		return r.bytes[at-r.at:][:size]
	}
	return nil
}

// insert inserts a breakpoint, in memory or beside it. One that is there already gets other conditions.
func (m *machine) insert(b breakpoint, inMemory bool) {
	if old := m.breakpoints[b.place]; old != nil {
		old.conditions = b.conditions
		return
	}
	if inMemory && b.kind == 0 {
		text := m.at(b.at, b.size)
		b.under = bytes.Clone(text)
		copy(text, trapOf(b.size))
	}
	m.breakpoints[b.place] = &b
	m.count()
}

// remove removes a breakpoint. What has been written over it since stays.
func (m *machine) remove(p place) bool {
	b := m.breakpoints[p]
	if b == nil {
		return false
	}
	m.restore(b)
	delete(m.breakpoints, p)
	m.count()
	return true
}

func (m *machine) restore(b *breakpoint) {
	if text := m.at(b.at, b.size); b.under != nil && bytes.Equal(text, trapOf(b.size)) {
		copy(text, b.under)
	}
}

// count notes what each instruction has to be checked for.
func (m *machine) count() {
	m.checked, m.watching = 0, false
	for p := range m.breakpoints {
		if p.kind > 1 {
			m.watching = true
		} else {
			m.checked++
		}
	}
}

// lift takes a software breakpoint out of memory for one instruction.
func (m *machine) lift(pc uint64) *breakpoint {
	b := m.breakpoints[place{0, pc}]
	if b == nil || b.under == nil || !bytes.Equal(m.at(pc, b.size), trapOf(b.size)) {
		return nil
	}
	copy(m.at(pc, b.size), b.under)
	return b
}

// plant undoes lift.
func (m *machine) plant(b *breakpoint) {
	if b != nil {
		copy(m.at(b.at, b.size), trapOf(b.size))
	}
}

// holds reports whether a breakpoint stops a hart. A condition that fails does, so that its user sees that.
func (m *machine) holds(b *breakpoint, h *hart) bool {
	for _, p := range b.conditions {
		if v, err := m.evaluator.Value(p, &world{m, h}); err != nil || v != 0 {
			return true
		}
	}
	return len(b.conditions) == 0
}

// world is what conditions see.
type world struct {
	m *machine
	h *hart
}

func (w *world) Register(r arch.Reg) (uint64, error) {
	switch {
	case r == pcRegister:
		return w.h.pc, nil
	case r >= 0 && int(r) < len(w.h.x):
		return w.h.x[r], nil
	}
	return 0, errors.New("no such register")
}

func (w *world) Ref(addr arch.Addr, size int) (uint64, error) {
	b := w.m.at(uint64(addr), size)
	if b == nil {
		return 0, errors.New("no such memory")
	}
	var whole [8]byte
	copy(whole[:], b)
	return binary.LittleEndian.Uint64(whole[:]), nil
}

func (w *world) Variable(uint16) int64                        { return 0 }
func (w *world) SetVariable(uint16, int64)                    {}
func (w *world) TraceVariable(uint16)                         {}
func (w *world) TraceMemory(arch.Addr, uint64)                {}
func (w *world) TraceString(arch.Addr, uint64)                {}
func (w *world) Printf(uint64, uint64, string, []int64) error { return errors.New("no console") }
