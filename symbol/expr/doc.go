// Package expr compiles expressions in C syntax, over the names of a place in a program, to agent expressions: what a
// tracepoint collects, on what condition, and what it does to trace state variables. The same expressions compile to plans
// that give the values again, of what a frame holds.
//
// What names mean is for a Scope to say. Values have the types of C: an integer narrower than an int becomes one, an
// operation is signed or unsigned by the types of its operands, and integers wrap around at the width of their type.
// References are followed by themselves.
//
// What is collected for an expression is all that evaluating it touches, registers and memory, as GDB does it: so that GDB
// and a Plan can evaluate it over the frame.
//
// A Scalar is an expression over named values that may be missing, such as a condition over the frames of a trace: the same
// rules of C, but floating point is computed, too, and what is missing is neither true nor false.
//
// What an agent expression cannot compute is an *Error when the expression is compiled, with the part marked and the reason:
// floating-point arithmetic, calls of functions, what the compiler has optimized out. The package reads no memory and no
// file.
package expr
