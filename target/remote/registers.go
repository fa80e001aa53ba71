package remote

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"

	"tracewell/arch"
	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
	"tracewell/tdesc"
)

// registers are those of a stopped thread, as far as they have been told or asked for. They hold until anything runs or is written.
type registers struct {
	thread target.ThreadID
	block  []byte // laid out by the description
	known  []bool // by byte
	absent []bool // by byte of the stub's block, which says so once it has been read; nil if all are there
	whole  bool   // the stub's block has been read
}

// forget forgets what is known of registers.
func (t *Target) forget() {
	if t.state.block == nil {
		t.state.block, t.state.known = make([]byte, t.layout.Size), make([]bool, t.layout.Size)
	}
	clear(t.state.known)
	t.state.thread, t.state.whole, t.state.absent = target.ThreadID{}, false, nil
}

// of makes room for the registers of another thread.
func (t *Target) of(id target.ThreadID) {
	if t.state.thread != id || t.state.block == nil {
		t.forget()
		t.state.thread = id
	}
}

// note keeps what a stop tells of its thread.
func (t *Target) note(stop reply.Stop) {
	t.forget()
	t.state.thread = t.current
	for _, r := range stop.Registers {
		if slot := t.layout.ByNumber(r.Number); slot != nil {
			value := t.state.block[slot.Offset : slot.Offset+slot.Size]
			if len(r.Hex) != 2*len(value) {
				continue
			}
			if _, err := hex.Decode(value, []byte(r.Hex)); err == nil { // else some of it is not available
				t.know(slot)
			}
		}
	}
}

// keep keeps the value of a register.
func (t *Target) keep(slot *tdesc.Slot, value []byte) bool {
	if len(value) != slot.Size {
		return false
	}
	copy(t.state.block[slot.Offset:], value)
	t.know(slot)
	return true
}

// know notes that a register has its value.
func (t *Target) know(slot *tdesc.Slot) {
	for i := range slot.Size {
		t.state.known[slot.Offset+i] = true
	}
}

// readBlock is the stub's block of registers as it comes.
func (t *Target) readBlock(id target.ThreadID) (reply.Block, error) {
	if err := t.choose(id); err != nil {
		return reply.Block{}, err
	}
	return ask(&t.link, client.Ask(request.ReadRegisters, request.None{}, reply.Registers))
}

// fetch reads the stub's block.
func (t *Target) fetch(id target.ThreadID) error {
	if t.of(id); t.state.whole {
		return nil
	}
	n, err := t.decodeBlock(id)
	if err != nil {
		return err
	}
	if n < t.block {
		return fmt.Errorf("the stub has sent registers of %d bytes, and of %d before", n, t.block)
	}
	for i := range n {
		t.state.known[i] = true
	}
	t.state.whole = true
	return nil
}

// decodeBlock reads the stub's block to where it is kept, and returns how much of that it fills.
func (t *Target) decodeBlock(id target.ThreadID) (int, error) {
	if err := t.choose(id); err != nil {
		return 0, err
	}
	if !t.gaps {
		n, err := t.c.Decode(readRegisters, t.state.block)
		if err == nil || !errors.As(err, new(*client.ReplyError)) {
			return min(n, len(t.state.block)), t.check(err)
		}
		t.gaps = true
	}
	b, err := t.readBlock(id)
	if slices.Contains(b.Available, false) {
		t.state.absent = make([]bool, len(b.Available))
		for i, there := range b.Available {
			t.state.absent[i] = !there
		}
	}
	return copy(t.state.block, b.Bytes), err
}

// readRegisters is g.
var readRegisters = request.ReadRegisters.Append(nil, request.None{})

// register reads a register: alone if that is the cheaper way, or the only one, as for those behind the stub's block.
func (t *Target) register(id target.ThreadID, slot *tdesc.Slot) ([]byte, error) {
	t.of(id)
	value := t.state.block[slot.Offset : slot.Offset+slot.Size]
	if t.state.known[slot.Offset] {
		return value, nil
	}
	if t.block == 0 || slot.Offset+slot.Size <= t.block && !t.profile.Single {
		if err := t.fetch(id); err != nil {
			return nil, err
		}
		if t.state.known[slot.Offset] {
			return value, nil
		}
	}
	if err := t.choose(id); err != nil {
		return nil, err
	}
	b, err := ask(&t.link, client.Ask(request.ReadRegister, slot.Reg.Num, reply.Registers))
	switch {
	case client.IsUnsupported(err) && t.profile.Single: // it has no p after all
		t.profile.Single = false
		return t.register(id, slot)
	case err != nil:
		return nil, err
	case !t.keep(slot, b.Bytes):
		return nil, fmt.Errorf("the stub has %d bytes for %s, which has %d", len(b.Bytes), slot.Reg.Name, slot.Size)
	}
	return value, nil
}

// value reads a register of up to eight bytes.
func (t *Target) value(id target.ThreadID, n arch.Reg) (uint64, error) {
	slot := t.layout.ByNumber(n)
	switch {
	case slot == nil:
		return 0, fmt.Errorf("there is no register %d", n)
	case slot.Size > 8:
		return 0, fmt.Errorf("%s has %d bytes", slot.Reg.Name, slot.Size)
	}
	b, err := t.register(id, slot)
	if err != nil {
		return 0, err
	}
	return arch.Uint(b, t.isa.Order), nil
}

// pc is where a thread stands.
func (t *Target) pc(id target.ThreadID) (arch.Addr, error) {
	v, err := t.value(id, t.isa.PC)
	return t.short(arch.Addr(v)), err
}

// short is an address without what some put above its 32 bits (arch.Machine.SignedAddr): GDB has the sign there in tracepoints, and
// nothing in breakpoints.
func (t *Target) short(addr arch.Addr) arch.Addr {
	if t.isa.AddrSize == 4 {
		return addr & math.MaxUint32
	}
	return addr
}

// pcAlone is pc without all other registers, of a stub that has p.
func (t *Target) pcAlone(id target.ThreadID) (arch.Addr, error) {
	slot := t.layout.ByNumber(t.isa.PC)
	if t.of(id); t.state.known[slot.Offset] {
		return t.pc(id)
	}
	if err := t.choose(id); err != nil {
		return 0, err
	}
	if t.asksPC == nil {
		t.asksPC = request.ReadRegister.Append(nil, t.isa.PC)
	}
	value := t.state.block[slot.Offset : slot.Offset+slot.Size]
	if n, err := t.c.Decode(t.asksPC, value); err != nil || n != slot.Size {
		if client.IsLost(err) {
			return 0, t.check(err)
		}
		return t.pc(id)
	}
	t.know(slot)
	return t.pc(id)
}

// put writes a register, alone if the stub has P.
func (t *Target) put(id target.ThreadID, slot *tdesc.Slot, value []byte) error {
	if len(value) != slot.Size {
		return fmt.Errorf("%s has %d bytes, not %d", slot.Reg.Name, slot.Size, len(value))
	}
	if err := t.choose(id); err != nil {
		return err
	}
	err := command(&t.link, request.WriteRegister, request.RegisterValue{Register: slot.Reg.Num, Value: value})
	if client.IsUnsupported(err) && slot.Offset+slot.Size <= t.block {
		b, err := t.readBlock(id)
		if err != nil {
			return err
		}
		if len(b.Bytes) < t.block {
			return fmt.Errorf("the stub has sent registers of %d bytes, and of %d before", len(b.Bytes), t.block)
		}
		copy(b.Bytes[slot.Offset:], value)
		t.forget()
		return command(&t.link, request.WriteRegisters, b.Bytes)
	}
	t.forget()
	return err
}

// ReadRegisters implements target.Target. Registers behind the stub's own block are not asked for: there may be thousands, see
// SingleRegisters.
func (t *Target) ReadRegisters(id target.ThreadID, block []byte) error {
	return t.do(func() error {
		if err := t.present(id); err != nil {
			return err
		}
		if err := t.fetch(id); err != nil {
			return err
		}
		copy(block, t.state.block)
		return nil
	})
}

// Availability implements target.Groups.
func (t *Target) Availability() target.Availability { return t }

// AvailableRegisters implements target.Availability: what the stub has x for is not available.
func (t *Target) AvailableRegisters(id target.ThreadID, available []bool) error {
	return t.do(func() error {
		if err := t.present(id); err != nil {
			return err
		}
		if err := t.fetch(id); err != nil {
			return err
		}
		for i := range available {
			available[i] = i >= len(t.state.absent) || !t.state.absent[i]
		}
		return nil
	})
}

// WriteRegisters implements target.Target.
func (t *Target) WriteRegisters(id target.ThreadID, block []byte) error {
	return t.do(func() error {
		if err := t.present(id); err != nil {
			return err
		}
		if err := t.choose(id); err != nil {
			return err
		}
		t.forget()
		return command(&t.link, request.WriteRegisters, block[:min(t.block, len(block))])
	})
}

// SingleRegisters implements target.Groups.
func (t *Target) SingleRegisters() target.SingleRegisters { return t }

// BlockSize implements target.SingleRegisters.
func (t *Target) BlockSize() int { return t.block }

// ReadRegister implements target.SingleRegisters.
func (t *Target) ReadRegister(id target.ThreadID, n arch.Reg) (value []byte, err error) {
	err = t.do(func() error {
		slot := t.layout.ByNumber(n)
		if slot == nil {
			return fmt.Errorf("there is no register %d", n)
		}
		if err := t.present(id); err != nil {
			return err
		}
		b, err := t.register(id, slot)
		value = append(value, b...)
		return err
	})
	return value, err
}

// WriteRegister implements target.SingleRegisters.
func (t *Target) WriteRegister(id target.ThreadID, n arch.Reg, value []byte) error {
	return t.do(func() error {
		slot := t.layout.ByNumber(n)
		if slot == nil {
			return fmt.Errorf("there is no register %d", n)
		}
		if err := t.present(id); err != nil {
			return err
		}
		return t.put(id, slot, value)
	})
}
