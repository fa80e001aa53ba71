// Package ctype is the types of C, C++, Rust and Go as far as values in memory need them: what an integer's size and sign are,
// what a pointer points to, where the members of a structure lie; and the writing of values as GDB writes them. Package
// scope reads them from debugging information.
//
// Types are shared and never change once made. The package evaluates nothing; what memory holds is for others to say.
//
// A Value is bytes and a type, and may have holes, where a tracer collected nothing or the compiler kept nothing. There are
// two ways to look at one. Printer.Print and its relatives write the text that GDB's print command writes, GDB 13 being the
// judge in tests of this package and of symbol/scope. Printer.Children takes a value apart for those who show it as a tree.
// Records are printed by their children, so that both always agree.
//
// Types come from debug information, which may be damaged: they may contain themselves, have sizes below 0, and members beyond
// their end. Nothing here panics or recurses without a bound because of that.
package ctype
