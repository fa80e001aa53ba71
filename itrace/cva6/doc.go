// Package cva6 is the traces of CVA6, once Ariane, of all its tracers. Two tracers write the files that most users have.
//
// rvfi_tracer writes trace_rvfi_hart_00.dasm, two lines for each instruction, or one for an instruction that had an exception:
//
//	"core" sp [ "INTERRUPT " ] HART ": 0x" PC " (0x" OP8 ") " [ "@ " CYCLE " " ] ( "DASM(" OP8 ")" | text )
//	MODE " 0x" PC " (0x" OP ")" [ " x" W2 " 0x" HEX | " f" W2 " 0x" HEX ] [ " mem 0x" ADDR ] [ " mem 0x" ADDR " 0x" DATA ]
//	CAUSE " exception @ 0x" PC " (0x" OP ")"
//
//	core   0: 0x0000000080000318 (0x00004185) c.li    gp, 1
//	3 0x0000000080000318 (0x4185) x 3 0x00000001
//	ILLEGAL_INSTR exception @ 0x000000008000007c (0x30002673)
//
// The text is that of spike-dasm, if the file went through it. MODE is 0, 1 or 3. INTERRUPT is on the first instruction of a
// handler, and makes an event of which it is not told where it was. The pc has 16 digits; with 32-bit registers some versions
// extend it by its sign. Loads of registers other than x0 and those of floating point tell their address, in the oldest version
// none does. The data of a store are the register that is stored, of which the low bytes count; of an atomic instruction that is
// not what memory holds then. Registers of control and status are not told. Spike's -l with --log-commits was the same until 2020.
//
// instr_tracer, which Verilator cannot run, writes trace_hart_0.log:
//
//	TIME "ns" sp CYCLE " " ( "M" | "S" | "U" | "D" ) " " PC " " MISPREDICTED " " OP8 " " text
//	          { " " REG sp ":" HEX } [ " VA: " HEX " PA: " HEX ]
//	"Exception @" sp TIME [ "ns" ] ", PC: " PC ", Cause: " text [ ", " LF tabs "tval: " HEX ]
//
//	    2850ns       52 M 0000000080000000 0 00001117 auipc          sp, 0x1                   sp  :0000000080001000
//
// The text has 36 columns or more. The register that is written comes first, and those that are read follow, without x0. Which it
// is the opcode tells. An access tells its addresses, without data, of atomic instructions none. An exception is that of an
// instruction that has no other line, unless its cause is an interrupt.
//
// Under Verilator the file trace_hart_00.dasm tells no more than what was executed:
//
//	sp CYCLE " 0x" PC " " MODE " (0x" OP8 ") " ( "DASM(" OP8 ")" | text )
//
//	                  73 0x10000 M (0x00000000) DASM(00000000)
package cva6
