// Package cexpr reads expressions in C syntax, as GDB takes them, into trees. It is the one parser of C here: conditions over
// the values of a frame and expressions that are compiled for a tracepoint differ in what their parts mean, not in how they
// are written.
//
// It knows nothing of what a name stands for, but whether it is a type, which C's grammar cannot do without.
package cexpr
