// Package ctype is the types of C, C++, Rust and Go as far as values in memory need them: what an integer's size and sign are,
// what a pointer points to, where the members of a structure lie; and the writing of values as GDB writes them. Package
// scope reads them from debugging information.
//
// Types are shared and never change once made. The package evaluates nothing; what memory holds is for others to say.
package ctype
