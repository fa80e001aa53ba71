// Package query answers questions about execution traces: who wrote or read something, what registers and memory held at a moment,
// where an address was executed, how long it takes from one place to another.
//
// A Trace is what is asked: the trace with its index, the names of its program if there is one, and the range and the processor
// that questions are restricted to. Positions, places in code, registers and memory are written as users write them (see Position,
// Code and Object), so that all questions take the same words.
//
// Questions about a point read a few blocks of the trace, found by the index. Answers come one by one, in the order of the trace,
// to a function that may end the search: nothing is collected that is not wanted.
//
// What the trace does not tell is never made up. Bytes that no record has told of are unknown, and a question about something that
// the trace does not tell at all is an error (Untold).
package query
