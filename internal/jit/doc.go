// Package jit compiles agent expressions to x86-64 machine code, which computes what ax.Machine computes: the same values, the same
// effects in the same order, the same failures.
//
// The code becomes part of something larger that saves and restores registers around it, a jump pad. What the compiler has to know
// of that is an Env; what the pad has to know of the expression beforehand is a Demand. Check tells whether an expression can be
// compiled at all.
//
// # How
//
// The cells of the stack are lazy. A cell is described rather than computed for as long as that can be: as a constant, as a
// register of the program plus a constant, or as a condition of the processor's flags just now. Only what has been computed is in
// a register, and the place for that is fixed by the cell's height: cell n has the nth scratch register. So nothing needs to be
// allocated or spilled, "$rdi == 5" becomes one comparison, "*(int *) ($rdi + 8)" one load, and constants fold.
//
// Where control can arrive by a jump, all cells are put into their registers, on every path. Jumps go forward only, which is all
// that GDB makes, so one pass suffices.
package jit
