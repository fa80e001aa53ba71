package jump

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"tracewell/arch"
	"tracewell/arch/amd64"
)

// Rung is a way to patch a location, the better the lower.
type Rung uint8

// The rungs of the ladder.
const (
	Jump    Rung = iota // over one instruction that is as long as a jump
	Overlap             // over several, and nothing is known to branch under it
	Pun                 // the jump ends in bytes of the program that stay what they are
	Short               // of two bytes, to a jump in the padding between functions
	Unclean             // over several, in a function whose branches are not all known
)

var rungNames = [...]string{"jump", "overlap", "pun", "short jump", "unclean overlap"}

// String gives the rung in words for a user.
func (r Rung) String() string { return rungNames[r] }

// Trampoline is the size of a trampoline: a jump to a pad, where the patch cannot reach the pad itself.
const Trampoline = 5

// Plan is how a location is patched. It never changes.
type Plan struct {
	Addr arch.Addr
	Rung Rung

	// Run is the instructions that are executed elsewhere (amd64.Displace), and Next is behind the last of them.
	Run  []*amd64.Instruction
	Next arch.Addr

	// Landing is the room of the trampoline, Hop that of the jump in padding; each is 0 without. What is written at Addr goes to
	// Hop, that to Landing, and that to the pad.
	Landing, Hop arch.Addr

	// Guards are the boundaries of the run that are under the patch, in order. A thread that stands at one, or comes to one and has
	// its signal, goes on in the copy. So does one that stands there when the patch is written.
	Guards []Guard

	// Held is the bytes that nothing else may change while the patch is in the program. Those of a pun go beyond what is written.
	Held Range

	old      []byte // the program's own, that are written over
	hopOld   []byte // likewise in the padding
	prefixes int    // in front of the jump
	width    int    // bytes of its displacement
}

// Write is bytes to be written in one piece, never over the end of a page.
type Write struct {
	Addr arch.Addr
	Old  []byte // the program's own bytes; nil in a trampoline's page
	New  []byte // as long
}

// Writes returns what is to be written so that the location leads to a pad, in an order in which a program that is not stopped
// would never see a jump to nowhere: the write at the location itself comes last. It is an error if the pad is not where the
// planner was told that pads are.
func (p *Plan) Writes(pad arch.Addr) ([]Write, error) {
	var writes []Write
	to := pad
	for _, via := range []struct {
		at  arch.Addr
		old []byte
	}{{p.Landing, nil}, {p.Hop, p.hopOld}} {
		if via.at == 0 {
			continue
		}
		jump, err := encode(via.at, to, 0, 4)
		if err != nil {
			return nil, err
		}
		writes, to = append(writes, Write{via.at, via.old, jump}), via.at
	}
	jump, err := encode(p.Addr, to, p.prefixes, p.width)
	if err != nil {
		return nil, err
	}
	return append(writes, Write{p.Addr, p.old, jump[:len(p.old)]}), nil // the rest of a pun is there already
}

// Covers reports whether an address is that of a displaced instruction but the first. A tracepoint there cannot be patched by
// itself; the pad of this plan collects for it between the copies.
func (p *Plan) Covers(addr arch.Addr) bool {
	for _, in := range p.Run[1:] {
		if in.At() == addr {
			return true
		}
	}
	return false
}

// Leads reports whether a pc is on the way from the patch to the pad. A thread there is at Addr, as the program sees it.
func (p *Plan) Leads(pc arch.Addr) bool { return pc != 0 && (pc == p.Landing || pc == p.Hop) }

// nullPrefix changes nothing about a jump, but moves its displacement (a segment that 64-bit mode ignores).
const nullPrefix = 0x2e

// The opcodes of jumps, by the width of the displacement.
var jumpOpcodes = map[int]byte{1: 0xeb, 4: 0xe9}

// encode returns a jump with a displacement of width bytes behind null prefixes.
func encode(at, to arch.Addr, prefixes, width int) ([]byte, error) {
	distance := int64(to - at - arch.Addr(prefixes+1+width))
	if width == 4 && int64(int32(distance)) != distance || width == 1 && (distance < math.MinInt8 || distance > math.MaxInt8) {
		return nil, fmt.Errorf("a jump at %v does not reach %v", at, to)
	}
	var code []byte
	for range prefixes {
		code = append(code, nullPrefix)
	}
	code = binary.LittleEndian.AppendUint32(append(code, jumpOpcodes[width]), uint32(distance))
	return code[:prefixes+1+width], nil
}

// Follow returns where the jump goes that code from an address on begins with, if it is one that a Plan writes.
func Follow(code []byte, at arch.Addr) (to arch.Addr, ok bool) {
	n := 0
	for n < len(code) && code[n] == nullPrefix {
		n++
	}
	switch rest := code[n:]; {
	case len(rest) >= 5 && rest[0] == jumpOpcodes[4]:
		return at + arch.Addr(n+5) + arch.Addr(int32(binary.LittleEndian.Uint32(rest[1:]))), true
	case len(rest) >= 2 && rest[0] == jumpOpcodes[1]:
		return at + arch.Addr(n+2) + arch.Addr(int8(rest[1])), true
	}
	return 0, false
}

// Leads reports whether code from an address on has bytes that are a near jump which matches, wherever its instructions begin.
func Leads(code []byte, at arch.Addr, match func(from, to arch.Addr) bool) bool {
	for i := 0; ; i++ {
		n := bytes.IndexByte(code[i:], jumpOpcodes[4])
		if n < 0 || i+n+Trampoline > len(code) {
			return false
		}
		i += n
		from := at + arch.Addr(i)
		if to, _ := Follow(code[i:], from); match(from, to) {
			return true
		}
	}
}
