// Package ax reads, checks, prints, assembles and evaluates GDB agent expressions: the bytecode in which GDB writes the
// conditions of tracepoints and breakpoints, what a tracepoint collects, and agent-side printf (GDB manual, "The GDB Agent
// Expression Mechanism").
//
// # Terms
//
// An expression is a string of instructions: one opcode byte, then an operand, big-endian and unsigned, whose form depends
// on the opcode alone. It works on a stack of 64-bit cells without types; arithmetic wraps around. Jumps name the offset of
// their target from the start of the expression. One table, opcodes in op.go, drives decoding, encoding, printing,
// assembling, the static analysis and the evaluator's bookkeeping.
//
// # Strengths
//
// Raw bytecode is a []byte. Decode makes a *Program of it, which promises structure: every opcode is known, every operand
// is whole, every jump lands on the start of an instruction, and control cannot run off the end. A Program makes no promise
// about the stack: Program.Requirements says what can be told of that beforehand, and the Machine checks it on every
// instruction, so that no program, however made, can harm its evaluator or keep it for ever.
//
// # What it never does
//
// The package does no I/O and knows no target: registers, memory and trace state variables come through Env, and what an
// expression records goes out through Env. It does not evaluate floating point; nor does gdbserver.
//
// # Where it differs from gdbserver 13.1
//
// Bad bytecode is refused when it is decoded instead of running past its end. A stack underflow is found in every case. ext
// is right for every width. INT64_MIN divided by -1 wraps instead of raising SIGFPE. Shift counts of 64 and more are
// defined. pick checks its operand, loops are bounded, trace16 works, and a register that cannot be read is an error
// rather than an abort. printf knows %p, %lc and %ls, and the formats it cannot print by can be found beforehand, where
// gdbserver ends the session. As in gdbserver, and unlike the manual, tracev pushes nothing: GDB's own code relies on it.
package ax
