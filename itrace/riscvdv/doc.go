// Package riscvdv is the CSV in which riscv-dv, a generator of tests for cores of RISC-V, and flows that use it compare traces.
// Their scripts convert the logs of simulators and cores to it. A header, and a row for each instruction:
//
//	pc,instr,gpr,csr,binary,mode,instr_str,operand,pad
//	80000080,auipc,sp:80001080,,00001117,,"auipc	x2,0x1","sp,0x1",
//	80000194,,t0:00000009,mem:80001080,00064283,3,"lbu     t0, 0(a2)",,
//
// pc and binary, the opcode, are hexadecimal without 0x. gpr has the registers that were written, by their names in the calling
// convention, as NAME:HEX with semicolons between them; csr those of control and status, of which converters leave most out. That
// of Spike's log puts what follows the register in the log there, which may be c768_mstatus:HEX, or mem:HEX, an access of the
// address. mode is 0, 1 or 3, or empty. instr_str is the disassembly, instr and operand another one. A field in quotation marks may
// have commas; none has quotation marks or ends of lines in it. Columns are found by the names in the header, in any order: that of
// 2019 has addr, str, rd and rd_val for pc, instr_str and gpr, and what it has in csr is no value.
//
// Such a file is incomplete by design. Accesses to memory, exceptions and interrupts are not in it. Of Spike's log it has only the
// instructions that write a register, and wfi, unless the converter was given --full_trace. It ends at the first ecall, and begins
// behind the boot code. Where an instruction does not lead to that of the next row, some are missing between them, and the record
// says so (itrace.Gaps). A row of an instruction that writes nothing shows that rows are of all instructions.
package riscvdv
