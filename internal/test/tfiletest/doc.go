// Package tfiletest holds what tfile makes of trace files against what the real GDB makes of them. It has no code of its own.
//
// Files come from three sides: tsave of a live session, under gdbserver and under tracewell serve; tfile's own Writer, for
// machines of every kind and for sizes that no session reaches; and hands, for what only a broken writer would do. Each is
// opened in GDB and by tfile, and both have to tell the same of every frame: its tracepoint, registers, memory and variables.
package tfiletest
