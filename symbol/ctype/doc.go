// Package ctype is the types of C, C++, Rust and Go as far as values in memory need them: what an integer's size and sign are, what a pointer
// points to, where the members of a structure lie. Program reads them, and where variables are, from the debugging
// information of a program.
//
// Types are shared and never change once made. The package evaluates nothing; what memory holds is for others to say.
package ctype
