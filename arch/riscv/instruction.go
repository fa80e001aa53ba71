package riscv

import (
	"encoding/binary"
	"errors"
	"slices"

	"tracewell/arch/effect"
)

// Opcodes of instructions of 32 bits, their low seven bits.
const (
	opAUIPC  = 0x17
	opAMO    = 0x2f
	opBranch = 0x63
	opJALR   = 0x67
	opJAL    = 0x6f
	opSystem = 0x73
)

// Instructions with one encoding.
const (
	ecall      = 0x73
	ebreak     = 0x100073
	shortBreak = 0x9002 // c.ebreak
)

// Breakpoint is c.ebreak, which never lies over the beginning of a second instruction.
var Breakpoint = []byte{shortBreak & 0xff, shortBreak >> 8}

// ErrLength is the error of an instruction of which not even the length is known.
var ErrLength = errors.New("an instruction of more than 32 bits, or one that is cut off")

// Instruction is one instruction of a processor that has compressed ones, at an address.
//
// Of those that use the pc, which are calls, branches and auipc, a copy would do something else, so they are emulated. All others
// may be copied, what the processor refuses included: it is refused there as well. Only ecall and ebreak stay where they are, for
// the kernel looks at their address.
type Instruction struct {
	code      []byte
	at        uint64
	processor Processor
	word      uint32    // as one of 32 bits; 0 if it has no such form
	emulated  bool      // for certain, but for a fault
	exclusive *Sequence // that begins here; nil for none
}

// Decode decodes the instruction that code begins with, of a processor of 64 bits (wide) or 32. An exclusive sequence that begins
// there is found as far as code goes. It does not keep code.
func Decode(code []byte, at uint64, wide bool) (*Instruction, error) {
	n := Length(code)
	if n == 0 || n > len(code) {
		return nil, ErrLength
	}
	in := &Instruction{code: slices.Clone(code[:n]), at: at, processor: Processor{Wide: wide, Compressed: true, Unguarded: true}}
	if in.word = word(code, wide); isReserve(in.word) {
		if s, ok := sequence(code, at, wide); ok {
			in.exclusive = s
		}
	}
	var s effect.Step
	s.Begin(anyThread{})
	in.emulated = in.processor.Emulate(&s, in.code, at) && (len(s.Stored) == 0 || s.Near)
	return in, nil
}

// Length is how many bytes the instruction takes that code begins with: 2 or 4; 0 if that is not known, as of longer ones.
func Length(code []byte) int {
	switch {
	case len(code) < 2 || code[0]&0x1f == 0x1f:
		return 0
	case code[0]&3 != 3:
		return 2
	}
	return 4
}

// word is the instruction that code begins with as one of 32 bits, 0 if it has no such form or is cut off.
func word(code []byte, wide bool) uint32 {
	switch n := Length(code); {
	case n == 2:
		w, _ := Expand(binary.LittleEndian.Uint16(code), wide)
		return w
	case n == 4 && len(code) >= 4:
		return binary.LittleEndian.Uint32(code)
	}
	return 0
}

// anyThread is a thread of which only the stack can be read.
type anyThread struct{}

func (anyThread) Register(int) (uint64, bool)                  { return 1 << 20, true }
func (anyThread) Load(_ uint64, _ []byte, near bool) (ok bool) { return near }

// Len is how many bytes the instruction takes.
func (in *Instruction) Len() int { return len(in.code) }

// Code is the instruction as it lies in memory. The caller must not change it.
func (in *Instruction) Code() []byte { return in.code }

// Exclusive is the exclusive sequence that begins with the instruction, nil if none does.
func (in *Instruction) Exclusive() *Sequence { return in.exclusive }

// IsSyscall reports whether the instruction makes a system call.
func (in *Instruction) IsSyscall() bool { return in.word == ecall }

// CanEmulate reports whether Emulate gives the instruction its effect, unless it accesses the stack where that would fault.
func (in *Instruction) CanEmulate() bool { return in.emulated }

// Emulate has s begin with the instruction, executed by t. It reports whether the effects are known.
func (in *Instruction) Emulate(s *effect.Step, t effect.Thread) bool {
	s.Begin(t)
	return in.emulated && in.processor.Emulate(s, in.code, in.at) && s.OK()
}

// CanCopy reports whether Copy makes a copy with the effect of the instruction.
func (in *Instruction) CanCopy() bool {
	return !usesPC(in.word) && in.word != ecall && in.word != ebreak
}

// usesPC reports whether an instruction has another effect elsewhere. auipc that writes nowhere is a landing pad.
func usesPC(w uint32) bool {
	switch w & 0x7f {
	case opAUIPC:
		return rd(w) != 0
	case opBranch:
		return funct3(w)&^1 != 2
	case opJALR:
		return funct3(w) == 0
	case opJAL:
		return true
	}
	return false
}

// Exit is where a copy is left: a thread at Offset has executed all of the copy that it is to execute, and is to go on at PC.
type Exit struct {
	Offset int
	PC     uint64
}

// Copy makes a copy of the instruction for an address, which is a multiple of four: of the whole sequence if it begins an exclusive
// one. The bytes in front of the first exit are at the same distances as in the original. At each exit there is a jump to where the
// thread is to go on, or Breakpoint if that is out of reach, or wherever stop is set.
func (in *Instruction) Copy(to uint64, stop bool) (code []byte, exits []Exit) {
	if in.exclusive != nil {
		return in.exclusive.copy(to, in.at, stop)
	}
	code = slices.Clone(in.code)
	exits = append(exits, Exit{len(code), in.at + uint64(len(code))})
	return leave(code, to, exits[0].PC, stop), exits
}

// leave appends a jump behind code, which is to lie at an address, or a breakpoint.
func leave(code []byte, to, target uint64, stop bool) []byte {
	if offset := target - (to + uint64(len(code))); !stop && fits(offset, 21) {
		return binary.LittleEndian.AppendUint32(code, typeJ(0, uint32(offset)))
	}
	return append(code, Breakpoint...)
}

// fits reports whether a number is one of so many bits with a sign.
func fits(v uint64, bits int) bool { return uint64(int64(v<<(64-bits))>>(64-bits)) == v }
