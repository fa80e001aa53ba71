//go:build linux

package linux

import (
	"bytes"
	"fmt"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/target/linux/internal/patch"
)

// relocatedInsn is an instruction that cannot be decoded here, relocated by the session's client. It is good for as long as the
// instruction is the same.
type relocatedInsn struct {
	at     arch.Addr   // of the room that was reserved for it
	insn   instruction // nil until the client has relocated it
	buffer *patch.Buffer
}

// Relocations implements target.Relocator. A client is asked about instructions only that cannot be decoded here. What is
// known not to survive copying is not tried: GDB 13 would copy a loop or a system call as it is.
func (t *Target) Relocations(pid int, addrs []arch.Addr) []target.Relocation {
	var wanted []target.Relocation
	t.onProcess(pid, func(p *process) error {
		if err := t.examine(p); err != nil {
			return err
		}
		for _, from := range addrs {
			if !p.unknown(from) {
				continue
			}
			if at, err := t.reserveRelocated(p, from); err == nil {
				wanted = append(wanted, target.Relocation{From: from, To: at})
			}
		}
		return nil
	})
	return wanted
}

// reserveRelocated reserves room for the instruction at an address, the same until it has been relocated.
func (t *Target) reserveRelocated(p *process, from arch.Addr) (arch.Addr, error) {
	if c := p.relocated[from]; c.at != 0 && c.insn == nil {
		return c.at, nil
	}
	at, err := t.reserveNear(p, from)
	if err != nil {
		return 0, err
	}
	if (from-at)&0xff == 0 {
		return t.reserveRelocated(p, from) // a displacement may have to change in its lowest byte for isCopy to see it
	}
	p.relocated[from] = relocatedInsn{at: at}
	return at, nil
}

// unknown reports whether there is an instruction that is neither known nor copied.
func (p *process) unknown(at arch.Addr) bool {
	var code [maxInstruction]byte
	n, _ := p.read(at, code[:])
	if n == 0 || p.relocated[at].holds(code[:n]) {
		return false
	}
	_, err := host.decode(code[:n], at)
	return err != nil
}

// holds reports whether the copy is one of the instruction that code begins with.
func (c relocatedInsn) holds(code []byte) bool {
	return c.insn != nil && bytes.HasPrefix(code, c.insn.Code())
}

// Relocated implements target.Relocator: it writes the jump back behind the copy.
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
		insn := host.relocated(original, r.From)
		code := append(moved, insn.JumpBack(r.To+arch.Addr(size))...)
		buffer, err := p.code.Place(r.To, bufferSize, code, pointsOf(insn, r.From, size)...)
		if err != nil {
			return err
		}
		p.relocated[r.From] = relocatedInsn{r.To, insn, buffer}
		return nil
	})
}

// useRelocated gives a breakpoint over an unknown instruction the buffer that a client has filled, if it is for that instruction.
func (bp *insertedBreakpoint) useRelocated(p *process) {
	var code [maxInstruction]byte
	n, _ := p.read(bp.addr, code[:])
	c := p.relocated[bp.addr]
	if !c.holds(code[:n]) {
		return
	}
	bp.insn, bp.buffer = c.insn, c.buffer
	bp.ambiguous = arch.Addr(c.insn.Len()) == trapShift()
}
