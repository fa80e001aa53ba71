// Package scope says what the names of a program mean at one of its addresses: which variable a name stands for there, of which
// type it is, and where its value lies.
//
// Terms. A block is a part of a function that has variables of its own: the function, a lexical block in it, or a copy of an
// inlined function. The blocks at a pc lie within one another; a name is looked for from the innermost outward, then in the
// class of the function, in its namespaces and those that they import, among what the unit has and what other units show. A
// place is where a value lies: DWARF describes it by an expression for a stack machine, which is compiled here to the code of
// agent expressions, so that it can be computed without stopping the program for longer than a tracepoint takes.
//
// # How a name is found
//
// Lookup takes the first that it finds, in GDB's order: the blocks of the innermost function at the pc (an inlined function hides
// the variables of the function that it was inlined into); its class and namespaces with what they import; definitions of the
// file, those of the unit first; static variables of other functions (push::calls); definitions of the other files of the
// program; and symbols of the linker's, which have no type. 'queue.c'::count asks one source file only. A declaration leads to
// its definition, wherever it is.
//
// # How a location becomes code
//
// A location is an attribute of the variable's DIE: one expression, or a list of expressions by ranges of the pc. A variable of an
// inlined function may have it in the abstract instance, or a constant in place of it. The expression is translated operator by
// operator (compile.go, operator.go); terminal operators end it and say whether the value is in memory, in a register, or is what
// was computed (place.go). What an expression refers to outside of itself goes through a frame (frame.go): the frame base, the CFA
// from the unwind table, addresses by index, base types, and values at the entry of the function, which callers know (entry.go).
//
// Nothing is evaluated here: the result is code for an agent expression that runs at each hit, or later over a traceframe.
// Therefore the translation must not depend on values: entry values branch over all callers, and lengths of arrays are code
// themselves.
//
// # Types
//
// A type is made once for each DIE and file, and shared by all scopes (types.go, records.go). Members of records are read when
// they are asked for: a variable's type leads to most of a C++ program. A declaration without a definition in its file is
// completed by another file of the program. Names are GDB's: "struct job" in C, ns::Job in C++ and Rust, main.Job in Go.
//
// # Calls
//
// Some names mean what belongs to the call that is active at the pc (call.go): the value that the function returns, and what tells
// the call from others. They are found like registers, so that expressions, conditions and the reading of frames know nothing of
// them. Where a value is returned is the business of package results, which is given a type and a language. What only the
// descriptions of classes tell is read here (trivial.go): whether an object can be copied byte by byte, and so be returned in
// registers.
//
// A value is there only at a return instruction: one instruction earlier the registers may hold anything. And it is there only as
// far as compilers keep to the convention, which they need not for functions that nobody else can call.
//
// # Limits
//
// Debug information may be damaged, or hostile. Depths are bounded by deepest, searches by mostEntries and mostNames, pieces by
// mostBytes; DIEs that complete one another in a circle end after as many steps. Nothing panics on any input; a fuzz test and
// random damage hold it to that.
//
// What cannot be had at the pc is known all the same, with the reason: that it was optimised out, or that its location requires
// what an agent expression cannot do, such as floating-point arithmetic or the registers of the caller.
//
// A Scope reads debugging information only. It may be used by several goroutines.
package scope
