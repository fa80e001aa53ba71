package arm64

import (
	"encoding/binary"

	"tracewell/arch"
)

// SlotSize is the room that a copy takes with its jump back, rounded up so that slots stay aligned.
const SlotSize = 16

// MaxCopy is the length of the longest copy that leaves a slot room for the jump back.
const MaxCopy = SlotSize - Length

// Reach is how far a branch leads, in bytes, forwards and backwards.
const Reach = 1 << 27

// Relocate makes a copy of the instruction that runs at address slot and then jumps to the original's successor. The copy
// begins at offset 0 and is done when the pc is at offset resume; an instruction that passes control elsewhere never gets
// there.
//
// It is not ok if CanRelocate is false, or if the instruction is out of the reach of a branch: a longer way would take a register.
func (in *Instruction) Relocate(slot arch.Addr) (code []byte, resume int, ok bool) {
	if in.reason != Relocatable {
		return nil, 0, false
	}
	back := in.JumpBack(slot + Length)
	if back == nil {
		return nil, 0, false
	}
	return append(append(make([]byte, 0, 2*Length), in.code[:]...), back...), Length, true
}

// JumpBack is the jump to the instruction's successor that follows a copy, from the address where it lies. It is nil if that is
// too far away.
func (in *Instruction) JumpBack(from arch.Addr) []byte {
	return Branch(from, in.at+Length)
}

// Branch is b from one address to another, nil if that is too far away.
func Branch(from, to arch.Addr) []byte {
	distance := int64(to - from)
	if distance < -Reach || distance >= Reach || distance%Length != 0 {
		return nil
	}
	return binary.LittleEndian.AppendUint32(nil, 0x14000000|uint32(distance>>2)&0x3ffffff)
}
