//go:build linux

package linux

import (
	"bytes"
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/target"
)

// foreignCopy is a slot with the copy of an instruction that the session's client has made, for want of anybody here who knows
// the instruction. It is good for as long as the instruction is the same.
type foreignCopy struct {
	insn instruction // nil while there is no copy yet
	slot arch.Addr
}

// Relocations implements target.Relocator. A client is asked about instructions only that cannot be decoded here. What is
// known not to survive copying is not tried: GDB 13 would copy a loop or a system call as it is.
func (t *Target) Relocations(pid int, addrs []arch.Addr) []target.Relocation {
	var wanted []target.Relocation
	t.onProcess(pid, func(p *process) error {
		if err := p.examine(); err != nil {
			return err
		}
		for _, from := range addrs {
			if !p.unknown(from) {
				continue
			}
			if slot, err := t.foreignSlot(p, from); err == nil {
				wanted = append(wanted, target.Relocation{From: from, To: slot})
			}
		}
		return nil
	})
	return wanted
}

// foreignSlot sets a slot aside for the instruction at an address, the same one until there has been a copy in it.
func (t *Target) foreignSlot(p *process, from arch.Addr) (arch.Addr, error) {
	if c := p.foreign[from]; c.slot != 0 && c.insn == nil {
		return c.slot, nil
	}
	s, err := t.scratchNear(p, from)
	if err != nil {
		return 0, err
	}
	slot := s.base + arch.Addr(s.used)
	s.used += bufferSize
	if (from-slot)&0xff == 0 {
		return t.foreignSlot(p, from) // a displacement may have to change in its lowest byte for isCopy to see it
	}
	p.foreign[from] = foreignCopy{slot: slot}
	return slot, nil
}

// unknown reports whether there is an instruction that is neither known nor copied.
func (p *process) unknown(at arch.Addr) bool {
	var code [maxInstruction]byte
	n, _ := p.read(at, code[:])
	if n == 0 || p.foreign[at].holds(code[:n]) {
		return false
	}
	_, err := host.decode(code[:n], at)
	return err != nil
}

// holds reports whether the copy is one of the instruction that code begins with.
func (c foreignCopy) holds(code []byte) bool {
	return c.insn != nil && bytes.HasPrefix(code, c.insn.Code())
}

// Relocated implements target.Relocator: it puts the jump back behind the copy.
func (t *Target) Relocated(pid int, r target.Relocation, size int) error {
	return t.onProcess(pid, func(p *process) error {
		if size < 1 || size > maxInstruction || size > maxCopy {
			return fmt.Errorf("a copy of %d bytes of the instruction at %s", size, r.From)
		}
		original, moved := make([]byte, size), make([]byte, size)
		if _, err := p.read(r.From, original); err != nil {
			return err
		}
		if _, err := p.read(r.To, moved); err != nil {
			return err
		}
		if !host.isCopy(original, moved, int64(r.From-r.To)) {
			return fmt.Errorf("the bytes % x at %s are no copy of the instruction % x at %s", moved, r.To, original, r.From)
		}
		c := foreignCopy{host.relocated(original, r.From), r.To}
		end := r.To + arch.Addr(size)
		if _, err := p.mem.WriteAt(c.insn.JumpBack(end), int64(end)); err != nil {
			return errors.Join(errors.New("cannot write behind the copy"), err)
		}
		p.foreign[r.From] = c
		return nil
	})
}

// takeForeign gives a trap over an unknown instruction the slot that a client has filled, if it is for that instruction.
func (tr *trap) takeForeign(p *process) {
	var code [maxInstruction]byte
	n, _ := p.read(tr.addr, code[:])
	c := p.foreign[tr.addr]
	if !c.holds(code[:n]) {
		return
	}
	tr.insn, tr.slot, tr.resume = c.insn, c.slot, c.insn.Len()
	tr.ambiguous = c.insn.Len() == 1
}
