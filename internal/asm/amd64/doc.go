// Package asm assembles x86-64 machine code: the code that a tracer puts into a program to collect what a tracepoint asks for.
//
// An Assembler appends one instruction per method call. Methods have the names of the instructions, in the order of operands
// that Intel's manual uses: destination first. Where several instructions share an encoding, one method has the operation as its
// first parameter: Arith(Add, …), Shift(Shl, …).
//
// Each method always chooses the same form for the same operands, and no method inserts an instruction that was not asked for,
// so that the caller can note an offset before and after a call and knows that they enclose exactly one instruction. Tables that
// take a stopped thread out of such code depend on that. (MovImm chooses among three forms; it still emits one instruction.)
//
// Nothing here touches the processor: the package is pure computation and builds everywhere.
package asm
