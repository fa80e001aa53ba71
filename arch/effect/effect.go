// Package effect is what the emulators of single instructions share, whatever processor they are for: where an instruction takes
// its operands from, and what it does.
//
// An emulator changes nothing. It collects the writes of registers and of memory in a Step, for its caller to carry out or to drop.
// Whatever it is not certain of it refuses, and a refused Step means nothing.
//
// Registers have numbers of the emulator's own. Values are zero-extended to 64 bits. Memory is little endian.
package effect

import "encoding/binary"

// Thread is a thread that stands at an instruction.
type Thread interface {
	// Register reads a register, false if it cannot be read.
	Register(n int) (uint64, bool)
	// Load reads memory in place of the instruction; false if that is not certain to be what the instruction would read, or if it
	// might change something, as reading a device does. near says that the address counts from the stack pointer or the pc.
	Load(addr uint64, p []byte, near bool) bool
}

// MostRegisters and MostStored are how much one instruction may write: all registers of a list with their base and the flags, and
// as many words of memory.
const (
	MostRegisters = 18
	MostStored    = 64
)

// Step is one instruction.
type Step struct {
	Next uint64 // where the thread goes on
	// Registers are those that are written, each once, without the pc.
	Registers []Write
	// Stored is memory that is written, at Addr; Near is as in Thread.Load.
	Stored []byte
	Addr   uint64
	Near   bool

	thread    Thread
	refused   bool
	registers [MostRegisters]Write
	stored    [MostStored]byte
	loaded    [8]byte // a field, as what an interface is given would be allocated for each instruction
}

// Write is a register with its new value.
type Write struct {
	Register int
	Value    uint64
}

// Begin empties the Step for an instruction of a thread.
func (s *Step) Begin(t Thread) {
	s.thread, s.refused, s.Next = t, false, 0
	s.Registers, s.Stored = s.registers[:0], s.stored[:0]
}

// Refuse says that the effects are not known for certain.
func (s *Step) Refuse() { s.refused = true }

// OK reports whether nothing was refused.
func (s *Step) OK() bool { return !s.refused }

// Get is the value of a register in front of the instruction.
func (s *Step) Get(n int) uint64 {
	v, ok := s.thread.Register(n)
	s.refused = s.refused || !ok
	return v
}

// Set gives a register a value. The last one counts.
func (s *Step) Set(n int, v uint64) {
	for i := range s.Registers {
		if s.Registers[i].Register == n {
			s.Registers[i].Value = v
			return
		}
	}
	s.Registers = append(s.Registers, Write{n, v})
}

// Load reads size bytes of memory, 1 to 8. Addresses that are not aligned are refused: what they do depends on the processor.
func (s *Step) Load(addr uint64, size int, near bool) uint64 {
	clear(s.loaded[:])
	if s.refused || addr%uint64(size) != 0 || !s.thread.Load(addr, s.loaded[:size], near) {
		s.Refuse()
		return 0
	}
	return binary.LittleEndian.Uint64(s.loaded[:])
}

// Store writes the low size bytes of a value to memory, behind what the instruction has stored before if there is any.
func (s *Step) Store(addr uint64, size int, v uint64, near bool) {
	if len(s.Stored) == 0 {
		s.Addr, s.Near = addr, near
	}
	if addr%uint64(size) != 0 || addr != s.Addr+uint64(len(s.Stored)) || len(s.Stored)+size > MostStored {
		s.Refuse()
		return
	}
	for range size {
		s.Stored = append(s.Stored, byte(v))
		v >>= 8
	}
}
