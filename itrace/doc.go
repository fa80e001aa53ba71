// Package itrace reads and writes execution traces: what a processor, or a model of one, says of the instructions that it
// executed and of their effects on registers and memory, a line of text for each.
//
// The lines come in many dialects, one a folder below this one. A Dialect turns a line into a Record and a Record into a line;
// a Reader does the rest: it reads blocks, finds lines, counts them, and keeps those that the dialect does not know. A
// Record is the same for all dialects, with its numbers decoded and its words as views of the line.
//
// Invariants. No line is dropped but blank ones: one that cannot be read is a Record of kind Unknown that says why. Reading
// takes no memory for a record, and no more for a long trace than for a short one. A Record's bytes are valid until the next
// Read. Nothing here opens a file.
package itrace
