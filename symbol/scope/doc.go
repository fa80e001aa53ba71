// Package scope says what the names of a program mean at one of its addresses: which variable a name stands for there, of which
// type it is, and where its value lies.
//
// Terms. A block is a part of a function that has variables of its own: the function, a lexical block in it, or a copy of an
// inlined function. The blocks at a pc lie within one another; a name is looked for from the innermost outward, then in the
// class of the function, in its namespaces and those that they import, among what the unit has and what other units show. A
// place is where a value lies: DWARF describes it by an expression for a stack machine, which is compiled here to the code of
// agent expressions, so that it can be computed without stopping the program for longer than a tracepoint takes.
//
// What cannot be had at the pc is known all the same, with the reason: that it was optimised out, or that its location needs
// what an agent expression cannot do, such as floating-point arithmetic or the registers of the caller.
//
// A Scope reads debugging information only. It may be used by several goroutines.
package scope
