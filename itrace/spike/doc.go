// Package spike is the logs of Spike, the ISA simulator of RISC-V (riscv-isa-sim), as its options -l and --log-commits write them,
// alone or together:
//
//	"core" W4 ": 0x" PC " (0x" OP8 ") " text                      -l: an instruction is about to be executed
//	"core" W4 ": >>>>  " name                                     -l: the symbol at the pc of the next line
//	"core" W4 ": Executed " DEC " times"                          -l: the line before stands for so many
//	"core" W4 ": exception " name ", epc 0x" HEX                  -l: of the instruction in the line before, unless the name
//	"core" W4 ":           tval 0x" HEX                               begins with interrupt; the second line may be missing
//	["core" W4 ": "] PRIV " 0x" PC " (0x" OP ")" { EFFECT }       --log-commits: an instruction was executed, with its effects
//	EFFECT = " x" R " 0x" HEX | " f" R " 0x" HEX | " v" R " 0x" HEX | " c" DEC "_" NAME " 0x" HEX
//	       | " e" DEC " m" ["f"] DEC " l" DEC | " mem 0x" ADDR | " mem 0x" ADDR " 0x" DATA
//
//	core   0: 3 0x0000000080002240 (0x1141) x2  0x0000000080020fe0
//	core   0: 3 0x0000000080002316 (0x00c57553) c1_fflags 0x0000000000000001 f10 0xffffffff3f800000
//	core   0: 3 0x0000000080001014 (0xfef42423) mem 0x80020fe8 0x0000000a
//
// W4 is the hart, right-aligned in four columns. Numbers are hexadecimal in lower case unless they are R or DEC. R is left-aligned
// in two columns since May 2022, and right-aligned before (x 5); the commit line begins with core since September 2020. PRIV is 0,
// 1 or 3: U, S or M, before the instruction.
//
// A line of -l and the commit line behind it are one instruction. A load tells its address alone, a store data, of as many bytes as
// there are digits. Instructions that had an exception have no commit line, so they are records only of a log with -l, where the
// line of the exception says so; an interrupt has a mark only there as well. What a commit line writes to CSRs is what they hold
// then, changed or not.
//
// Lines that begin with "warning:" are remarks. Icarus or Verilator with RVFI printed in this form are read as well.
package spike
