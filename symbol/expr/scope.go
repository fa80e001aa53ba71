package expr

import (
	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
	"tracewell/trace"
)

// Scope says what the names in an expression mean at one place of a program. Addresses are those of the running program.
type Scope interface {
	// Lookup finds a variable, an argument, a function or an enumerator: "n", "ns::limit", "'queue.c'::count", "push::calls",
	// "main.count", the name being as it was written but for blanks. It need not look into this: see Object.Outer. What is
	// known and cannot be had is an Object whose Place is Absent. The error says why there is none: "there is no n".
	Lookup(name string) (Object, error)
	// Register finds a register by its name without the $: "rax", "eax", "pc", "sp", "fp", "eflags", "xmm0".
	Register(name string) (Object, error)
	// Registers lists what $regs stands for, ascending.
	Registers() []arch.Reg
	// Return is where the return address of the function lies, and its type.
	Return() (Object, error)
	// Length gives the code that pushes the number of elements of an array whose length the program has.
	Length(bound *ctype.Bound) (func(b *ax.Builder) error, error)
	// Type finds a type that C does not define: "struct job", "enum kind", "queue_t", "ns::Point", "Stack<int>".
	Type(name string) (*ctype.Type, error)
	// Arguments and Locals are the names that $args and $locals stand for, as Lookup takes them: those of the innermost
	// block first, each name once.
	Arguments() []string
	Locals() []string
	// Variable finds a trace state variable by its name without the $. It is asked before Register.
	Variable(name string) (trace.VariableNumber, bool)
	// Names lists what Lookup finds at hand, for messages.
	Names() []string
	ABI() ctype.ABI
	Order() arch.ByteOrder
	Language() ctype.Language
	// Concrete lists the types that a dyn of Rust may stand for, by the path of its trait, "core::fmt::Debug".
	Concrete(trait string) []container.Concrete
}

// Object is what a name stands for.
type Object struct {
	Name  string
	Type  *ctype.Type
	Place Place
	// Outer says that the name was found outside of the function, so that a member of this with the name hides it.
	Outer bool
}

// Place says where a value is: one of Memory, Register, Value, Constant, Pieces and Absent. An Emit must append code that
// leaves one cell more on the stack, and may be called more than once.
type Place interface{ place() }

// Memory is a value in memory. A function is one, too: its address is that of its code.
type Memory struct {
	Emit func(b *ax.Builder) error // appends code that pushes the address
}

// Register is a value in a register, or in a part of one. The lowest byte of a register is byte 0, whatever the byte order.
type Register struct {
	Num    arch.Reg
	Offset int // of the lowest byte of the value
	Size   int // bytes of the value in the register
}

// Value is a value that is computed and lies nowhere (DW_OP_stack_value), of at most eight bytes: what the compiler made a
// variable's value known by, such as rax + 1.
type Value struct {
	Emit func(b *ax.Builder) error // appends code that pushes the value
}

// Constant is a value that is known: an enumerator, or an implicit value. The bytes are in the byte order of the target.
type Constant struct{ Bytes []byte }

// Pieces is a value in several places, the first of which holds the bytes at the lowest addresses.
type Pieces []Piece

// Piece is a part of a value (DW_OP_piece, DW_OP_bit_piece). One without a Place, or in an Absent one, is optimized out.
type Piece struct {
	Place  Place
	Bits   int // length
	Offset int // of the piece's lowest bit in its Place, in bits
}

// Absent is a value that cannot be had.
type Absent struct{ Reason string } // "optimized out"

func (Memory) place()   {}
func (Register) place() {}
func (Value) place()    {}
func (Constant) place() {}
func (Pieces) place()   {}
func (Absent) place()   {}
