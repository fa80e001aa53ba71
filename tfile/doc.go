// Package tfile reads and writes trace files: the format in which GDB's tsave keeps a trace run (GDB manual, appendix "Trace
// File Format").
//
// A file is a magic line, definition lines of text that end with an empty one, frames in binary, and an end marker:
//
//	"\x7fTRACE0\n"
//	R <size>  status <…>  tsv <…>  tp <…>  tdesc <…>          one a line, in any order
//	""
//	frame:   tracepoint number i16, length of the data u32, data
//	data:    blocks, each one of
//	           'R' registers                       as many bytes as the R line says, as in a g packet
//	           'M' address u64, length u16, bytes  memory
//	           'V' number i32, value i64           a trace state variable
//	           'S' length u16, bytes               data of a static tracepoint; GDB 13.1 cannot read it
//	end:     0 u16, and usually 0 u16 again
//
// Binary integers are in the byte order of the target, which the file does not state; Open finds it out and says how.
//
// A File is an index over a file that stays where it is: Open reads the definitions and the headers of the frames, and a
// frame's data is read when it is asked for. A Frame is a view of a frame's bytes, in a file or in a live trace buffer, and
// copies nothing. Builder makes such bytes and Writer a file of them.
//
// Invariants. A frame is addressed by its place, counted from 0. Opening a damaged or cut file yields every whole frame
// before the damage, with an error that points at it; what could be read but is not as it should be is a Finding. A File does
// not change once it is open and may be used by several goroutines; Builder and Writer may not.
//
// The package never opens, maps or closes a file itself, and never guesses what a damaged frame may have held.
package tfile
