// Package check says what is wrong with a trace file: what GDB refuses, misreads or dies of, and what is legal but odd; and
// makes a file of what can be saved.
package check
