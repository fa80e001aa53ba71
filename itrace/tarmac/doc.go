// Package tarmac is the trace format of Arm's models and processors: Fast Models, Cycle Models, RTL of Cortex-A, Cortex-M,
// Cortex-R and Neoverse, emulators, and gem5. Each line is an event:
//
//	line  = [ TIME [ unit ] ] [ "cpu" N ] event             unit: clk ns cs cyc tic ps us, which may be glued to TIME
//	event = ("IT" | "IS" | "IF") [ "(" N ")" ] ADDRESS OPCODE STATE MODE ":" text
//	      | ("IT" | "IS" | "IF") "(" ADDR ")" OPCODE STATE MODE ":" text
//	      | ("IT" | "IS" | "IF") "(" ADDR ":" N ")" ADDRESS OPCODE STATE text
//	      | "ES" "(" ADDR ":" OPCODE ")" STATE MODE ":" [ "CCFAIL" ] text
//	      | "R" NAME [ "(" word ")" ] [ "<" HIGH ":" LOW ">" ] DIGITS { [ ":" ] DIGITS } text
//	      | "M" letters BYTES letters [ "X" ] ADDRESS DATA [ DATA ] | ("R" | "W") BYTES [ "X" ] ADDRESS DATA
//	      | ("LD" | "ST") ADDR WORD WORD WORD WORD [ [ "S:" | "NS:" ] PHYSICAL ] text
//	      | "E" ADDRESS N NAME | "E" NAME text | [ "ES" ] "EXC" [ "[" N "]" ] text
//	ADDRESS = ADDR [ ":" PHYSICAL [ "_S" | "_NS" ] [ "," PHYSICAL [ "_S" | "_NS" ] ] ]
//	STATE   = "A" | "T" | "T16" | "T32" | "O"
//
//	2 clk cpu0 IT (2) 1000184c f2c30003 T thread_s : MOVT     r0,#0x3003
//	178000 ns  ES  (00000164:e59f1198) A svc:            LDR      r1,{pc}+0x1a0 ; 0x304
//	           LD 00000300  ........ ........ 00000800 ........     0000000300    NM ISH INC
//
// A line without a time has that of the line before. One with a time and no cpu is of processor 0, one with neither of that of the
// line before. Of a fraction behind the time nothing is kept.
//
// IT and IF are an instruction, IS and CCFAIL one whose condition did not hold. The number in brackets is a count, the address, or
// both. STATE O is A64; MODE, its colon or both may be missing behind T16 and T32 and where there is a colon, as of Cortex-M4 and
// Cortex-R5. Cortex-M0 tells no state either: the option state says which it is. An OPCODE of hyphens is an instruction that could
// not be fetched. The suffix of a mode, _s or _ns, is its security.
//
// Effects follow their instruction, but for the registers that Fast Models print in front of the first. Digits may have _ between
// them; groups with colons between, or of the same length with blanks, are one value. - stands for digits of a register that were
// not written: if they are at its ends, the others are a part of the register, and if all are, nothing is. (ABORTED) in place
// of data is no access, nor is one by a coprocessor (a C in the letters). X behind a size is an exclusive access, T an
// unprivileged one. Tokens of eight letters that end in D, of the data bus of Cortex-M4, have their data in the order of memory,
// and those that end in I or A are of other buses and mean nothing here.
//
// LD and ST show 16 bytes, the one with the highest address first. Dots are bytes that are not accessed, # unknown ones. Each row
// of accessed bytes is an access. A line whose first word stands below the address of an LD or ST in the line before goes on with
// that.
//
// Lines of BR, CADI, TTW, CACHE, P, SIGNAL, and operations on caches (R DC), are remarks.
//
// What is written is the form of Fast Models, also of a trace of another processor, whose modes and states become svc and A where
// they are not told. gem5 writes IT for skipped instructions of A64 as well, no stack pointers, and W registers where the others
// have X; that is how it is read.
//
// The lines of these tests are in the forms of the producers that they name, by the documented cases of Arm's Tarmac Trace
// Utilities; only those above come from a producer.
package tarmac
