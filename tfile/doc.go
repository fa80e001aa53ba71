// Package tfile reads and writes trace files: the format in which GDB's tsave keeps a trace run (GDB manual, appendix "Trace
// File Format").
//
// A file is a magic line, definition lines of text that end with an empty one, frames in binary, and an end marker:
//
//	"\x7fTRACE0\n"
//	R <size>  status <…>  tsv <…>  tp <…>  tdesc <…>          one a line, in any order
//	""
//	frame:   tracepoint number i16, length of the data u32, data; there may be none
//	data:    blocks, each one of
//	           'R' registers                       as many bytes as the R line says, as in a g packet
//	           'M' address u64, length u16, bytes  memory
//	           'V' number i32, value i64           a trace state variable
//	           'S' length u16, bytes               data of a static tracepoint; GDB 13.1 cannot read it
//	end:     0 u16, and usually 0 u16 again
//
// # Where the manual and GDB part
//
// GDB's behaviour decides, and what the manual allows besides is read where nothing else can be meant:
//
//   - The size in the R line is hexadecimal, as GDB writes and reads it, though the manual says decimal. Open takes it for decimal
//     where only that makes sense of the frames, and says so.
//   - A file may do without an R line, which GDB refuses: the size is then that of the target description's registers.
//   - The status has the format of the reply to qTStatus without its T. With the T it is read all the same, but GDB takes it for
//     another (RuleStatusReply).
//   - Lines with other keywords are passed over, and kept. GDB warns of them.
//   - Of several tsv lines of one number the last counts; the manual says nothing of that.
//   - A register mask may have any number of digits; it is written in whole bytes.
//   - The manual has no end marker. A file without one is taken to have been cut (ErrTruncated) even behind a whole frame, since
//     GDB ends every search that passes the last frame with an error there.
//   - The manual has S blocks, which GDB shows nothing of a frame with. They are read, and written on request only.
//
// # The rest
//
// Binary integers are in the byte order of the target, which the file does not state; Open finds it out and says how: by which the
// frames lead to the end marker, make sense, or are of tracepoints that are defined.
//
// A File is an index over a file that stays where it is: Open reads the definitions and the headers of the frames, and a
// frame's data is read when it is asked for. OpenAll goes on with files that are joined to the first. A Frame is a view of a
// frame's bytes, in a file or in a live trace buffer, and copies nothing. Builder makes such bytes. Writer makes a file of them
// that is whole once it is closed; Appender one that is whole at any time, even when its process is killed.
//
// What Open notices that is not as it should be is a Finding of a Rule, whose Severity says what GDB 13.1 makes of it. Opening
// a damaged or cut file yields every whole frame before the damage, with an error that points at it; WithRecovery searches
// behind the damage, too, and accounts for what it passes over.
//
// Invariants. A frame is addressed by its place, counted from 0. A File does not change once it is open and may be used by
// several goroutines; Builder, Writer and Appender may not. Input of any kind makes nothing panic, and nothing be allocated that
// is not a small multiple of it.
//
// The package never opens, maps or closes a file itself, and never guesses what a damaged frame may have held.
package tfile
