// Package whisper is the logs of Whisper, an instruction set simulator of RISC-V by Tenstorrent, and of VeeR-ISS and SweRV-ISS,
// from which it comes, as text (--logfile) and as CSV (--csvlog).
//
// Text has a line for each effect of an instruction, in which all else is repeated. All but the last end in "+". An instruction
// without effects has one line with a write of 0 to x0.
//
//	"#" TAG " " HART [ " " MODE2 ] " " PC " " OP8 " " RES " " NUMBER " " VALUE " " text
//	          [ " [" PLACES "]" ] [ " (exception)" | " (interrupted)" ] [ sp "+" ]
//	PLACES = "0x" VA [ ":0x" PA ] [ "=0x" DATA ] { ";" … }
//
//	#1 0 80000000 d0580537 r 0a         d0580000  lui      x10, -0x2fa80
//
// TAG and HART are decimal, all else is hexadecimal. RES is r for integer registers, f for those of floating point, v for vectors,
// c for those of control and status, and m for memory, where NUMBER is the address. OP8 has eight digits, or four. MODE2 is M, S,
// HS, U, VS, VU or D; VeeR's older versions have none. PLACES are the addresses of a load or store, of vectors of each element.
// Loads tell no data. Between the lines there may be names of functions, with a colon, and with --traceptw lines of page tables.
//
// CSV has a header and a row for each instruction:
//
//	pc, inst, modified regs, source operands, memory, inst info, privilege, trap, disassembly, hartid[, iptw, dptw]
//	80000010,13,x5=1000;c768=1800,x0;i0,80001000:81001000=7,s,m,,sd x5; 0(x2),0
//
// Numbers are hexadecimal, without zeros in front, but for those of registers, and for c768, which is decimal. ff is flags of
// floating point that were set, and pc where a jump leads to; both are left out. memory is the addresses of accesses, virtual and
// behind a colon physical, with data if they are written; m is on elements of vectors that are masked off. trap is a cause, of an
// interrupt if its highest bit is set. The disassembly has semicolons for commas.
//
// An instruction that had an exception has its line or row, with what the exception wrote to registers of control and status, which
// is not compared, as other producers do not tell that. One that was interrupted was not executed, and is an event.
package whisper
