// Package cexpr reads expressions in C syntax, as GDB takes them, into trees. It is the one parser of C here: conditions over
// the values of a frame and expressions that are compiled for a tracepoint differ in what their parts mean, not in how they
// are written.
//
// It knows nothing of what a name stands for, but whether it is a type, which C's grammar cannot do without: (a)-b is a cast
// where a is a type and a difference where it is not. Names answers that.
//
// A lexer makes tokens (lex.go), a parser that descends recursively makes a tree of them (parse.go, name.go, typename.go). Nodes
// refer to the tokens that they were made of, so that a message can mark the part that it is about, and so that a part has a text
// by which it can be found: "j->id", however it was spaced.
//
// What GDB has beyond C: $names, value @ count, {type} address, 'file.c'::name, member operators that follow pointers, and for C++,
// Rust and Go what their names and casts need. What it lacks on purpose: calls of functions, and anything that would change the
// program.
package cexpr
