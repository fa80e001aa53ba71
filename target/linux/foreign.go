//go:build linux && amd64

package linux

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/target"
)

// foreignCopy is a slot with the copy of an instruction that the session's client has made, for want of anybody here who knows
// the instruction. It is good for as long as the instruction is the same.
type foreignCopy struct {
	insn *amd64.Instruction // nil while there is no copy yet
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
	s.used += amd64.SlotSize
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
	_, err := amd64.Decode(code[:n], at)
	return err != nil
}

// holds reports whether the copy is one of the instruction that code begins with.
func (c foreignCopy) holds(code []byte) bool {
	return c.insn != nil && bytes.HasPrefix(code, c.insn.Code())
}

// Relocated implements target.Relocator: it puts the jump back behind the copy.
func (t *Target) Relocated(pid int, r target.Relocation, size int) error {
	return t.onProcess(pid, func(p *process) error {
		if size < 1 || size > maxInstruction || size > amd64.MaxCopy {
			return fmt.Errorf("a copy of %d bytes of the instruction at %s", size, r.From)
		}
		original, moved := make([]byte, size), make([]byte, size)
		if _, err := p.read(r.From, original); err != nil {
			return err
		}
		if _, err := p.read(r.To, moved); err != nil {
			return err
		}
		if !isCopy(original, moved, int64(r.From-r.To)) {
			return fmt.Errorf("the bytes % x at %s are no copy of the instruction % x at %s", moved, r.To, original, r.From)
		}
		c := foreignCopy{amd64.Foreign(original, r.From), r.To}
		end := r.To + arch.Addr(size)
		if _, err := p.mem.WriteAt(c.insn.JumpBack(end), int64(end)); err != nil {
			return errors.Join(errors.New("cannot write behind the copy"), err)
		}
		p.foreign[r.From] = c
		return nil
	})
}

// isCopy reports whether moved is what original is so far away: the same bytes, or with a displacement of four bytes that
// makes up for the distance.
//
// The second is not believed of an instruction with legacy prefixes. GDB (13.1 to 18) counts the place of the displacement
// with them and then starts behind them, so it changes bytes that follow the displacement.
func isCopy(original, moved []byte, away int64) bool {
	if bytes.Equal(original, moved) {
		return true
	}
	if bytes.IndexByte(legacyPrefixes, original[0]) >= 0 {
		return false
	}
	for i := 0; i+4 <= len(original); i++ {
		before, after := binary.LittleEndian.Uint32(original[i:]), binary.LittleEndian.Uint32(moved[i:])
		if int64(int32(after)) == int64(int32(before))+away &&
			bytes.Equal(original[:i], moved[:i]) && bytes.Equal(original[i+4:], moved[i+4:]) {
			return true
		}
	}
	return false
}

// legacyPrefixes are the prefixes of x86 but for REX.
var legacyPrefixes = []byte{0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3}

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
