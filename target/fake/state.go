package fake

import (
	"encoding/binary"
	"fmt"

	"tracewell/arch"
	"tracewell/target"
)

// ReadRegisters fills block with the registers of a stopped thread.
func (t *Target) ReadRegisters(id target.ThreadID, block []byte) error {
	return t.withStopped(id, func(th *thread) { copy(block, th.block) })
}

// WriteRegisters stores the registers of a stopped thread.
func (t *Target) WriteRegisters(id target.ThreadID, block []byte) error {
	return t.withStopped(id, func(th *thread) { copy(th.block, block) })
}

// withStopped calls f on a thread, which must be stopped: in all-stop mode none is while a Resume is pending, in non-stop mode each
// for itself. ptrace answers ESRCH for a thread that runs; here a session finds out why.
func (t *Target) withStopped(id target.ThreadID, f func(*thread)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running && !t.nonStop {
		return target.ErrRunning
	}
	th, err := t.find(id)
	if err != nil {
		return err
	}
	if th.runs {
		return target.ErrRunning
	}
	f(th)
	return nil
}

// SetRegister sets a register of up to eight bytes by its name in the description.
func (t *Target) SetRegister(id target.ThreadID, name string, v uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	th, err := t.find(id)
	if err != nil {
		return err
	}
	return t.setRegister(th, name, v)
}

func (t *Target) setRegister(th *thread, name string, v uint64) error {
	slot := t.layout.ByName(name)
	if slot == nil {
		return fmt.Errorf("no register is called %q", name)
	}
	t.put(th.block[slot.Offset:slot.Offset+slot.Size], v)
	return nil
}

// put stores as much of v as field has room for, in the target's byte order: registers have it in their block, as in a g packet.
func (t *Target) put(field []byte, v uint64) {
	for i := range field {
		at := i
		if t.isa.Order == binary.BigEndian {
			at = len(field) - 1 - i
		}
		field[at] = byte(v)
		v >>= 8
	}
}

// get reads field, of up to eight bytes, zero-extended.
func (t *Target) get(field []byte) uint64 {
	return arch.Uint(field, t.isa.Order)
}

// register reads a register by number.
func (t *Target) register(th *thread, r arch.Reg) (uint64, error) {
	slot := t.layout.ByNumber(r)
	if slot == nil || slot.Size > 8 {
		return 0, fmt.Errorf("register %d has no value of up to eight bytes", r)
	}
	return t.get(th.block[slot.Offset : slot.Offset+slot.Size]), nil
}

// pc reads the program counter; a description without one gives 0.
func (t *Target) pc(th *thread) arch.Addr {
	v, _ := t.register(th, t.isa.PC)
	return arch.Addr(v)
}

// setPC stores the program counter.
func (t *Target) setPC(th *thread, pc arch.Addr) {
	if slot := t.layout.ByNumber(t.isa.PC); slot != nil {
		t.put(th.block[slot.Offset:slot.Offset+slot.Size], uint64(pc))
	}
}

// ReadMemory reads what is mapped, across mappings that touch.
func (t *Target) ReadMemory(id target.ThreadID, addr arch.Addr, p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.find(id); err != nil {
		return 0, err
	}
	n := t.read(addr, p)
	if n < len(p) {
		return n, fmt.Errorf("no memory at %v", addr+arch.Addr(n))
	}
	return n, nil
}

// read reads the prefix of p that is mapped and returns its length.
func (t *Target) read(addr arch.Addr, p []byte) int {
	// A read may cross from one region into the next, and ends in front of the first byte that is in none.
	n := 0
	for n < len(p) {
		r := t.region(addr + arch.Addr(n))
		if r == nil {
			break
		}
		n += copy(p[n:], r.Bytes[addr+arch.Addr(n)-r.Start:])
	}
	return n
}

// WriteMemory writes to mapped memory, read-only mappings included, as a debugger can.
func (t *Target) WriteMemory(id target.ThreadID, addr arch.Addr, p []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.find(id); err != nil {
		return err
	}
	return t.write(addr, p)
}

// write writes all of p or nothing, so that a test which writes across the end of a mapping finds memory as it was.
func (t *Target) write(addr arch.Addr, p []byte) error {
	if n := t.read(addr, make([]byte, len(p))); n < len(p) {
		return fmt.Errorf("no memory at %v", addr+arch.Addr(n))
	}
	for len(p) > 0 {
		r := t.region(addr)
		n := copy(r.Bytes[addr-r.Start:], p)
		addr, p = addr+arch.Addr(n), p[n:]
	}
	return nil
}

// region returns the mapping that holds addr.
func (t *Target) region(addr arch.Addr) *Region {
	for i := range t.program.Memory {
		if r := &t.program.Memory[i]; addr >= r.Start && uint64(addr-r.Start) < uint64(len(r.Bytes)) {
			return r
		}
	}
	return nil
}
