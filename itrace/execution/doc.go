// Package execution opens execution traces: it finds the index of a trace or builds it, and decides which machine the trace is of,
// so that registers have all their names and memory has bytes. Whatever asks questions of a trace by its index begins here.
//
// An index is kept beside its trace, or in the user's cache where that cannot be. One that is damaged, or of another trace, is
// built anew. A trace of few bytes has none in a file: building it takes no longer than reading it.
//
// The trace says neither the architecture nor the byte order. The user may, or the ELF file of the program; otherwise the names of
// registers and the opcodes are compared with those of all machines. What only has addresses stays unclear, which is no error:
// most questions need neither.
package execution
