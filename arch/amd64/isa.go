// Package amd64 takes one x86-64 instruction out of the stream: it says how long it is, gives it its effect on a register
// file, or copies it elsewhere so that the copy has the effect of the original.
//
// A tracepoint is an int3 over the first byte of an instruction. When it is hit, that displaced instruction must still
// happen, without a single-step and without taking the int3 away. There are three ways on, best first:
//
//   - Emulate gives the instruction its effect on the thread's registers and stack. This covers what compilers put at the
//     start of functions and of lines: push, nop, endbr64, moves and arithmetic between registers, lea, branches, calls.
//   - Relocate makes a copy for a slot, scratch memory of the program, which ends in a jump to the next instruction.
//   - Stepping, by the caller, in place of the original. Instruction.Reason says why it must be so.
//
// A jump in place of the int3 lies over several instructions. Displace copies them all, and rewrites branches and calls, which
// Relocate leaves to the other ways; Scan finds out where the branches of a function go.
//
// Invariants: Emulate and the copy leave exactly the state that the processor would leave, or are not offered; Emulate
// leaves everything untouched when it refuses. A length is only given when two independent decoders agree on it, or when it
// is one of the few encodings that are known to be beyond golang.org/x/arch, because a wrong length sends the program
// into the middle of an instruction.
//
// The package is pure computation: bytes and registers in, bytes and registers out. It never reads a process and never
// makes a system call.
package amd64

import "tracewell/arch"

// Remote register numbers of the registers with a role, as in GDB's org.gnu.gdb.i386.core feature for 64 bits.
const (
	remoteFP arch.Reg = 6  // rbp
	remoteSP arch.Reg = 7  // rsp
	remotePC arch.Reg = 16 // rip
)

// ISA is x86-64 as a debugger sees it.
var ISA = &arch.ISA{
	Machine:  arch.AMD64,
	Name:     arch.AMD64.Architectures[0],
	Order:    arch.AMD64.Order,
	AddrSize: arch.AMD64.AddrSize,
	PC:       remotePC,
	SP:       remoteSP,
	FP:       remoteFP,
}
