// Package rocket is the two logs of Rocket, of which BOOM, Shuttle and others write the second as well. They come from printf
// statements of the generators, in which %d is as wide as the signal can be, so that numbers are padded with blanks.
//
// With +verbose, a line for each cycle, and since 2020 only for those with an instruction:
//
//	[ "S" N ] "C" HART ": " CYCLE " [" VALID "] pc=[" PC "] W[r" N "=" HEX "][" WRITES "] R[r" N "=" HEX "]"
//	          " R[r" N "=" HEX "] inst=[" OP "] " ( "DASM(" OP ")" | text )
//
//	C0: 484 [1] pc=[0000000213c] W[r29=000000007fff8000][1] R[r31=…] R[r31=…] inst=[7fff8eb7] lui t3, 0x7fff8
//
// CYCLE is the low 32 bits of a counter, which the reader extends. VALID is 1 for an instruction that was executed. Where it is 0
// there was none, but since 2020 it is one that had an exception: the option invalid says which. W is the integer register that
// was written if WRITES is 1. What is written later, as by loads that miss and by divisions, is not told, and neither are registers
// of floating point; older versions show it in the W of a later line, which may be of no instruction. R are operands on their way
// through the pipeline, which are not always those of registers that are read, so they are no records. The text is that of
// spike-dasm, if the log went through it.
//
// The commit log, which a generator has to be told to write, has a line for each instruction, and one for each write that comes
// later:
//
//	[ "@@@ " ] PRIV " 0x" PC " (0x" OP ")" [ " " REG " 0x" HEX | " " REG " p" N " 0xXXXXXXXXXXXXXXXX" ]
//	REG " p" N " 0x" HEX
//	REG = "x" N | "f" N
//
//	3 0x0000000080000014 (0x00006289) x 5 0x0000000000002000
//	3 0x0000000080000018 (0x0005b503) x10 p10 0xXXXXXXXXXXXXXXXX
//	x10 p10 0x0000000000000001
//
// PRIV is 0, 1 or 3, and 4 more in debug mode. A later write is that of the oldest instruction that waits for one of its register;
// it is a record where it comes, and says by Record.Back of which instruction it is. Rocket writes all registers of floating point
// that way. BOOM has no later writes. Spike wrote the same lines until 2020 for instructions without accesses to memory; a log with
// such accesses is taken for Spike's, and one without does not tell them.
//
// Neither log tells accesses to memory and registers of control and status, and the commit log does not tell exceptions either.
package rocket
