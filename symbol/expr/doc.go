// Package expr compiles expressions in C syntax, over the names of a place in a program, to agent expressions: what a
// tracepoint collects, on what condition, and what it does to trace state variables. The same expressions compile to
// Evaluators, which find the values again in what a frame holds.
//
// What names mean is for a Scope to say. Values have the types of C: an integer narrower than an int becomes one, an
// operation is signed or unsigned by the types of its operands, and integers wrap around at the width of their type.
// References are followed by themselves.
//
// What is collected for an expression is all that evaluating it touches, registers and memory, as GDB does it: so that GDB
// and an Evaluator can evaluate it over the frame.
//
// A Scalar is an expression over named values that may be missing, such as a condition over the frames of a trace: the same
// rules of C, but floating point is computed, too, and what is missing is neither true nor false.
//
// # From text to bytecode
//
// The text is parsed by cexpr, which asks the Scope only which names are types. The compiler then turns the tree into values from
// the leaves up (compile.go). A value is one of two things: it lies in a Place, which a name had from the debug information and
// which members, elements and pieces of it inherit; or it is computed, by code that leaves one 64-bit cell on the stack of an
// agent. Code is a function that appends instructions, so that parts are put together in any order and jumps are bound at the
// end. Loading turns the first into the second where an operator wants a number; taking an address turns an lvalue into the
// number of its place.
//
// A cell holds an integer extended by the sign of its type. Each operation keeps that: what carries into bits above the type is
// cut off and extended anew. Constants are folded by running the code on a machine that has neither registers nor memory, so that
// there is one arithmetic and not two.
//
// The same values serve three ends. Condition loads one, as a number. Collect makes the actions that put all into a frame that
// finding and printing the value takes (collect.go): registers that hold it, memory at fixed addresses, and otherwise bytecode
// that traces what it reads; besides the value itself what GDB prints with it, such as static members, virtual bases and the text
// of strings. Compile makes an Evaluator, which finds the value again in a Context: a frame, or a stopped process.
//
// Each of these may fail for a part of an expression. The parts give up by a panic with an *Error, which the exported functions
// return; the alternative, an error from each of some fifty functions, hid the arithmetic.
//
// # Places
//
// A Place says where a value lies, in the terms of DWARF's locations: Memory at an address that code computes, Register, a
// computed Value, a Constant, Pieces of these, or Absent with the reason. Members and elements are parts of a place (part in
// value.go): an offset in memory, some bytes of a register, a shift of a computed value, some of the pieces. Byte order matters
// outside of memory: the first member of a structure in a register is in its lowest bytes on little-endian machines, in its
// highest on others.
//
// # What is collected besides the value
//
// Everything that the bytecode reads on its way, as GDB's agent does with its trace flag: a frame from which p->next->id can be
// printed has p and p->next as well. Registers that the code reads join the mask. Memory at a fixed address becomes an M action.
//
// # What it rejects
//
// What an agent expression cannot compute is an *Error when the expression is compiled, with the part marked and the reason:
// floating-point arithmetic, calls of functions, what the compiler has optimized out. The package reads no memory and no
// file.
package expr
