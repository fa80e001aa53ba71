package jit

import (
	"fmt"

	"tracewell/arch"
	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
)

// Env is the world of a compiled expression: what ax.Env is to the Machine, at the time of compilation. The functions are called
// in the order of the bytecode, and some of them emit code, which then runs at that place of the expression. Each effect and each
// access that control can come to is compiled once.
//
// Code that they emit may move the stack pointer for as long as it runs. It may change the flags. It must leave alone Scratch and
// whatever Place a register of the program has, but for what the single function says.
type Env struct {
	// Scratch are registers that the code may change. Cell n of the stack lives in the nth. There must be as many as Demand says,
	// none of them RSP, and none of RAX, RCX and RDX if Demand has Fixed: these are then used besides.
	Scratch []asm.Reg

	// Register returns where the register of remote number r is now; the zero Place refuses it. It is asked anew for each use,
	// since a place relative to the stack pointer moves with that. It is in no scratch register, nor in a fixed one if there are.
	Register func(r arch.Reg) Place

	// Variable returns where trace state variable n is; the zero Place if there is none, which is then always 0. A variable that
	// an expression sets must be Stored in 8 bytes, or not exist.
	Variable func(n uint16) Place

	// Guard, unless it is nil, emits code before each access to memory: a check of the address, which may jump out. It must leave
	// alone a.Addr.Base.
	Guard func(a Access)

	// Fault notes that the instruction at offsets from to to of the code performs an access and can fault. Nil if nobody wants
	// to know.
	Fault func(from, to int, a Access)

	// Failed returns the label to which control goes when the expression fails by itself: ax.ErrDivideByZero, or ax.ErrEmptyStack
	// at the end of a condition or value. The error is what ax.Machine returns.
	Failed func(e *ax.Error) asm.Label

	// TraceMemory emits code that records size bytes at addr, TraceString code that records the bytes up to and including the
	// first zero byte, at most limit of them, and TraceVariable code that records a trace state variable. Sizes of 0 never come
	// here. An error refuses, and so does nil.
	TraceMemory   func(addr, size Operand) error
	TraceString   func(addr, limit Operand) error
	TraceVariable func(n uint16) error

	// Printf emits code that records what printf prints: see ax.Env. An error refuses, and so does nil.
	Printf func(fn, channel Operand, format string, args []Operand) error
}

// Access is a load from memory at an address that the expression computes.
type Access struct {
	Addr   Operand // registers have these values before the access and at a fault
	Size   int     // in bytes: 1, 2, 4 or 8
	Op     ax.Op   // of the bytecode
	Offset int     // in the bytecode
}

// Error is the error that ax.Machine returns if the Env cannot read memory, with what the Env says.
func (a Access) Error(addr arch.Addr, cause error) *ax.Error {
	return &ax.Error{Kind: ax.ErrMemory, Op: a.Op, Offset: a.Offset, Cause: fmt.Errorf("%d bytes at %v: %w", a.Size, addr, cause)}
}

// Operand is a value that code of an Env uses: what Base holds plus Disp, modulo 2^64, or Disp alone if Base is asm.NoReg. With a
// Base, Disp fits into 32 bits. The Base may be a register of the program: it is not to be changed. If it is RSP, it is that at the
// place where the code of the Env begins, before anything is pushed.
type Operand struct {
	Base asm.Reg
	Disp int64
}

// Load emits code that puts the value into dst. It leaves the flags alone.
func (o Operand) Load(a *asm.Assembler, dst asm.Reg) {
	switch {
	case o.Base == asm.NoReg:
		a.MovImm(dst, o.Disp)
	case o.Disp != 0:
		a.Lea(dst, asm.At(o.Base, int32(o.Disp)))
	case o.Base != dst:
		a.Mov(8, dst, o.Base)
	}
}

// Mem is the memory to which the value is the address. The value must have a Base or fit into 32 bits, sign-extended.
func (o Operand) Mem() asm.Mem { return asm.At(o.Base, int32(o.Disp)) }
