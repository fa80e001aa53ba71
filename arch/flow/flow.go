// Package flow tells what single instructions do to the flow of control, for those who see a program only from outside, as in an
// execution trace: whether an instruction calls, returns, branches or leaves a handler, where to, and how long it is.
//
// It goes by conventions where the architecture has several ways: a jump that links to a register of return addresses is a
// call, one through such a register is a return. What it says of an instruction is what the instruction is for, not what it did:
// a conditional call may have gone on behind itself.
//
// A Set is an instruction set. Code is bytes in the order in which they lie in memory. Nothing is executed, and what a Set does
// not know goes on behind itself, at a distance that may not be known.
package flow

import (
	"encoding/binary"
	"strings"

	"tracewell/arch"
)

// Kind is what an instruction does to the flow of control.
type Kind uint8

// The kinds of flow.
const (
	Next       Kind = iota // on to the next instruction
	Jump                   // elsewhere within the function, or to another that takes its place
	Call                   // to a function that is to return behind the instruction
	Return                 // to where the function was called from
	Swap                   // a return and a call at once, as between coroutines
	TrapReturn             // out of a handler of exceptions or interrupts
	Trap                   // an exception that the program asks for: a system call, a breakpoint
)

// String gives the kind as one word.
func (k Kind) String() string {
	return [...]string{"next", "jump", "call", "return", "swap", "trap-return", "trap"}[k]
}

// Flow is what an instruction does.
type Flow struct {
	Kind        Kind
	Conditional bool   // it may go on behind itself instead
	Direct      bool   // Target is where it goes
	Delayed     bool   // the instruction behind it is executed first; Len is that of both
	Len         uint8  // in bytes; 0 where that is not known
	Target      uint64 // of a direct jump or call
}

// Set is an instruction set.
type Set struct {
	Title string
	// Bits are those of an address.
	Bits int

	machine string           // the name of its row in the table of machines
	order   binary.ByteOrder // of code where there are two sets; nil where there is one
	state   byte             // of the instruction set, as execution traces name it; 0 for the only one
	decode  func(code []byte, at uint64) Flow
	name    func(code []byte, at uint64) string             // the mnemonic, "" where it is not known
	text    func(code []byte, at uint64) string             // the instruction in words, "" where it is not known; nil for never
	number  func(dst []byte, value uint64, size int) []byte // nil: little endian
}

// Sets are all that there are.
func Sets() []*Set { return sets }

// Of is the set of a machine whose data have a byte order, nil if there is none.
func Of(m *arch.Machine, order arch.ByteOrder) *Set {
	for _, s := range sets {
		if s.machine == m.Name && (s.order == nil || s.order.String() == order.String()) {
			return s
		}
	}
	return nil
}

// In is the set that a processor executes in a state that an execution trace tells: the same, or the one beside it.
func (s *Set) In(state byte) *Set {
	if state == 0 || s.state == 0 || s.state == state {
		return s
	}
	for _, o := range sets {
		if o.state == state {
			return o
		}
	}
	return s
}

// Decode says what the instruction at the beginning of code does, at an address. Code may be cut off.
func (s *Set) Decode(code []byte, at uint64) Flow { return s.decode(code, at) }

// Mnemonic is the name of the instruction at the beginning of code in lower case, "" if it is not known.
func (s *Set) Mnemonic(code []byte, at uint64) string {
	if s.name == nil {
		return ""
	}
	return strings.ToLower(s.name(code, at))
}

// Text is the instruction at the beginning of code in the syntax of the GNU assembler, "" if it is not known. Places in code are as
// the decoder writes them, some relative to the instruction: Decode tells where a direct jump goes.
func (s *Set) Text(code []byte, at uint64) (text string) {
	if s.text == nil {
		return ""
	}
	// What is disassembled may be data, and a decoder that fails over it must not take the program with it.
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	return s.text(code, at)
}

// Append appends an instruction as it lies in memory, of the number that an execution trace has for it and how many bytes were
// written.
func (s *Set) Append(dst []byte, value uint64, size int) []byte {
	if s.number != nil {
		return s.number(dst, value, size)
	}
	return binary.LittleEndian.AppendUint64(dst, value)[:len(dst)+min(max(size, 1), 8)]
}

// word is the first 32 bits of code in little endian, less than all of them if code is shorter.
func word(code []byte) uint32 {
	var b [4]byte
	copy(b[:], code)
	return binary.LittleEndian.Uint32(b[:])
}

// signed extends the low bits of a number by their sign.
func signed(v uint32, bits int) int64 { return int64(int32(v<<(32-bits)) >> (32 - bits)) }

// field is the bits from low on of a number, so many, moved to a place.
func field(v uint32, low, bits, to int) uint32 { return v >> low & (1<<bits - 1) << to }

// direct is a jump or call to a place relative to an address.
func direct(kind Kind, size uint8, from uint64, offset int64) Flow {
	return Flow{Kind: kind, Direct: true, Len: size, Target: from + uint64(offset)}
}

// conditional is a direct jump that may not be taken.
func conditional(size uint8, from uint64, offset int64) Flow {
	f := direct(Jump, size, from, offset)
	f.Conditional = true
	return f
}
