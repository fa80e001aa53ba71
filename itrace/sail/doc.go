// Package sail is the traces of the Sail model of RISC-V (sail-riscv), of the C emulator and of versions before 2024 alike: a line
// for each instruction, and behind it lines of what it did.
//
//	"[" STEP "] [" MODE "]: 0x" PC " (0x" OP ") " text [ blanks symbol ]
//	REG " <- 0x" HEX
//	"CSR " NAME [ " (0x" HEX ")" ] ( " <- " | " -> " ) "0x" HEX [ " (input: 0x" HEX ")" ]
//	"mem[" [ TYPE "," ] "0x" ADDR "] " ( "<-" | "->" ) " 0x" HEX
//	"handling " ( "exc" | "int" ) "#" CAUSE " at priv " MODE ( " with tval 0x" HEX | " | tval=0x" HEX { " | " text } )
//
//	[46] [M]: 0x00000000800000F4 (0x18005073) csrrwi x0, satp, 0x0
//	[48] [M]: 0x00000000800000FC (0x02428293) addi x5, x5, 0x24
//	x5 <- 0x0000000080000120
//
// Hexadecimal digits are in upper case. STEP counts instructions from 0, with those that had an exception; the first five are of
// the boot ROM. MODE is M, S, U, VS or VU. REG is x5, f5 or v5, or since 2026, on request, a name of the calling convention.
// Addresses of accesses are physical, and as many bytes are accessed as there are digits. TYPE is X for a fetch, which comes in
// front of its instruction and is a remark; whether the others read or write the arrow tells. -> of a CSR is a read. There is no
// hart.
//
// An instruction that had an exception has its line, and behind it what the exception wrote to CSRs. That it had one the line of
// handling tells, or a cause that is written by an instruction that does not write it itself, if it is no interrupt and mepc or
// sepc, where told, is its address. What exceptions and interrupts write to CSRs is not compared, as other producers do not tell
// that.
//
// All but the lines of instructions can be switched off. What a trace does not have a line of so far it is taken not to tell; that
// a load or store has no access is told by its opcode. Lines about page tables, returns from handlers, the platform and the
// emulator's own messages are remarks.
package sail
