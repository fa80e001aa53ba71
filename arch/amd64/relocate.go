package amd64

import (
	"encoding/binary"
	"math"

	"tracewell/arch"
)

const (
	nearJumpLength = 5  // jmp rel32
	farJumpLength  = 14 // jmp *0(%rip) and the address
)

// SlotSize is the room that the longest copy takes with its jump back, rounded up so that slots stay aligned.
const SlotSize = (maxLength + farJumpLength + 15) / 16 * 16

// Relocate makes a copy of the instruction that runs at address slot and then jumps to the original's successor. The copy
// begins at offset 0 and is done when the pc is at offset resume; an instruction that passes control elsewhere never gets
// there. The code is at most SlotSize bytes.
//
// It is not ok if CanRelocate is false, or if an operand relative to the pc is out of reach of this slot; one within 2 GiB
// of the original and of what it refers to would do.
func (in *Instruction) Relocate(slot arch.Addr) (code []byte, resume int, ok bool) {
	if in.reason != Relocatable {
		return nil, 0, false
	}
	code = append(make([]byte, 0, SlotSize), in.Code()...)
	if in.dispAt != 0 {
		field := code[in.dispAt:][:4]
		disp := int64(int32(binary.LittleEndian.Uint32(field))) + int64(in.at-slot)
		if int64(int32(disp)) != disp {
			return nil, 0, false
		}
		binary.LittleEndian.PutUint32(field, uint32(disp))
	}
	return appendJump(code, slot, in.Next()), len(in.Code()), true
}

// Foreign makes an Instruction of bytes that Decode does not know and another authority on the instruction set does, which has
// copied them as Relocate would. Of such an instruction only its length is known.
func Foreign(code []byte, at arch.Addr) *Instruction {
	in := &Instruction{at: at, length: uint8(len(code)), reason: System}
	copy(in.code[:], code)
	return in
}

// JumpBack is the jump to the instruction's successor that follows a copy, from the address where it lies.
func (in *Instruction) JumpBack(from arch.Addr) []byte { return appendJump(nil, from, in.Next()) }

// MaxCopy is the length of the longest copy that leaves a slot room for the jump back.
const MaxCopy = SlotSize - farJumpLength

// appendJump appends a jump to target to code that runs at address slot.
func appendJump(code []byte, slot, target arch.Addr) []byte {
	distance := int64(target - (slot + arch.Addr(len(code)+nearJumpLength)))
	if distance >= math.MinInt32 && distance <= math.MaxInt32 {
		return binary.LittleEndian.AppendUint32(append(code, 0xe9), uint32(distance))
	}
	code = append(code, 0xff, 0x25, 0, 0, 0, 0)
	return binary.LittleEndian.AppendUint64(code, uint64(target))
}

// OriginalPC says where a thread at pc in the copy at slot would be without relocation: at the instruction if the copy has
// not happened, or not to its end, and behind it if only the jump back is left. It is false if pc is neither, because
// the thread is elsewhere.
func (in *Instruction) OriginalPC(slot, pc arch.Addr) (arch.Addr, bool) {
	switch pc {
	case slot:
		return in.at, true
	case slot + arch.Addr(in.length):
		return in.Next(), true
	}
	return 0, false
}
