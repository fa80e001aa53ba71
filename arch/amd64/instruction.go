package amd64

import (
	"golang.org/x/arch/x86/x86asm"

	"tracewell/arch"
)

// Instruction is one instruction at one address, taken apart so far that Emulate has nothing left to find out. It never
// changes and may be shared between threads.
type Instruction struct {
	at     arch.Addr
	length uint8
	dispAt uint8 // offset of a displacement that counts from the next instruction; 0 without
	code   [maxLength]byte

	flow   Flow
	reason Reason
	effect
}

// Len is the length in bytes, 1 to 15.
func (in *Instruction) Len() int { return int(in.length) }

// At is the address that the instruction was decoded for.
func (in *Instruction) At() arch.Addr { return in.at }

// Next is the address of the instruction behind this one, the return address if this is a call.
func (in *Instruction) Next() arch.Addr { return in.at + arch.Addr(in.length) }

// Code returns the bytes of the instruction. The caller must not change them.
func (in *Instruction) Code() []byte { return in.code[:in.length:in.length] }

// Flow says where the instruction passes control.
func (in *Instruction) Flow() Flow { return in.flow }

// WritesShadowStack tells whether the instruction pushes or pops a return address. On a thread with a shadow stack neither
// Emulate nor a copy does that right: Emulate leaves the shadow stack alone, and so a later return faults.
// A return may still run from a slot.
func (in *Instruction) WritesShadowStack() bool { return in.flow == FlowCall || in.flow == FlowReturn }

// CanEmulate tells whether Emulate knows the instruction.
func (in *Instruction) CanEmulate() bool { return in.op != opNone }

// CanRelocate tells whether Relocate can make a copy, given a slot near enough.
func (in *Instruction) CanRelocate() bool { return in.reason == Relocatable }

// Reason says what keeps the instruction from running anywhere but in its place.
func (in *Instruction) Reason() Reason { return in.reason }

// String gives the instruction in AT&T syntax, or at least its mnemonic.
func (in *Instruction) String() string {
	inst, err := x86asm.Decode(in.Code(), 64)
	if err == nil && inst.Op != 0 {
		return x86asm.GNUSyntax(inst, uint64(in.at), nil)
	}
	l, _ := measure(in.Code())
	return l.gapName()
}

// Flow is what an instruction does with control, as far as a debugger must know it.
type Flow uint8

// The kinds of flow.
const (
	FlowNext    Flow = iota // on to the next instruction, unless it faults
	FlowJump                // elsewhere, always or under a condition
	FlowCall                // elsewhere, and the address of the next instruction goes onto the stack
	FlowReturn              // to an address from the stack
	FlowSyscall             // into the kernel, by way of a system call
)

var flowNames = [...]string{"next", "jump", "call", "return", "syscall"}

// String gives the kind as one word.
func (f Flow) String() string { return flowNames[f] }

// Reason is what keeps an instruction from running anywhere but in its place; such an instruction is stepped there unless
// it can be emulated.
type Reason uint8

// The reasons.
const (
	Relocatable     Reason = iota // nothing does
	RelativeBranch                // its target counts from where it is
	PushesAddress                 // a call: the return address would be the slot's
	EntersKernel                  // syscall and its like: the kernel sees and may rewind the pc
	Traps                         // int3 and its like: a debugger or handler is told the pc
	ReturnsFromTrap               // iret and its like
	SetsTrapFlag                  // popf may turn on single-stepping, which would count the jump back
	Transaction                   // begins, ends or aborts one
	RecordsAddress                // x87: the processor remembers where its last instruction was
	NarrowAddress                 // relative to the next instruction in 32 bits
	System                        // of no use to programs, or beyond this package
)

var reasonTexts = [...]string{
	Relocatable:     "",
	RelativeBranch:  "its branch target counts from its own address",
	PushesAddress:   "it pushes the address behind it",
	EntersKernel:    "it enters the kernel",
	Traps:           "it raises an exception that tells its address",
	ReturnsFromTrap: "it returns from an exception",
	SetsTrapFlag:    "it may set the trap flag",
	Transaction:     "it is part of a hardware transaction",
	RecordsAddress:  "the x87 unit records its address",
	NarrowAddress:   "its operand counts from its own address in 32 bits",
	System:          "it is a system instruction",
}

// String gives the reason as the end of a sentence, empty for Relocatable.
func (r Reason) String() string { return reasonTexts[r] }
