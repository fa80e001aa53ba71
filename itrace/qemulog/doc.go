// Package qemulog is the log of QEMU's option -d with exec, and with in_asm, cpu and int as far as they are there, as it is written
// for any processor, by QEMU in system and in user mode:
//
//	exec   = ("Trace " | "Chain ") [ CPU ": " ] ["0x"] HOST " [" [ CPU ": " ] BLOCK "] " SYMBOL
//	BLOCK  = PC | CS "/" PC [ "/" FLAGS [ "/" CFLAGS ] ]
//	in_asm = "----------------" NL "IN: " SYMBOL NL [ "Priv: " DEC "; Virt: " DEC NL ] { CODE NL } NL
//	CODE   = "0x" PC ":  " [ OPCODE "  " ] DISASSEMBLY
//	cpu    = lines of [ "GPR" DEC ":" | "CP0" ] { " " NAME " " ["0x"] HEX } or of { NAME ["sp"] "=" ["0x"] HEX }
//	int    = "riscv_cpu_do_interrupt: hart:" CPU ", async:" DEC ", cause:" HEX ", epc:" HEX ", tval:" HEX ", desc=" CAUSE
//	       | "Taking exception " DEC " [" CAUSE "] on CPU " CPU NL { "..." TEXT NL }
//	       | DEC ": v=" HEX " e=" HEX " i=" DEC " cpl=" DEC " IP=" HEX ":" HEX " pc=" HEX TEXT
//
//	Trace 0: 0x7f2174000100 [00000000/00001000/00109003/ff000201]
//	0x00001000:  00000297          auipc                   t0,0                    # 0x1000
//	 x4/tp    00000000 x5/t0    00000000 x6/t1    00000000 x7/t2    00000000
//	X02=0000000000000000 X03=0000000000000000 X04=0000000000000000
//	EAX=00000000 EBX=00000000 ECX=00000000 EDX=00060fb1
//	GPR04: a0 00000000 a1 00000000 a2 00000000 a3 00000000
//	riscv_cpu_do_interrupt: hart:0, async:0, cause:0000000000000008, epc:0x000000008000006c, tval:0x0000000000000000, desc=user_ecall
//
// An exec line is of a block of translated code that is about to run. The instructions of a block are in the in_asm block that was
// written when it was translated, before its first run: they are the records of each exec line with the same words in brackets.
// Where the log has no in_asm block, an exec line is one instruction without opcode, which is all of it if QEMU translated one
// instruction at a time (-singlestep, -one-insn-per-tb). An exception at an instruction of a block ends the run of the block there.
// A block of which QEMU says that it stopped before it has not run.
//
// A dump is the state before a block. What differs from the dump before of the same processor was written by the block in between,
// and is added as effects of its last instruction, in front of the next; changes by an exception or interrupt in between are among
// them. The first of all is added ahead of the first instruction, as what registers held. What an instruction writes is known only
// if its block is no longer than it. The pc is left out, as are words that say what QEMU keeps of flags. Of names such as x5/t0 the
// first is taken. Accesses to memory are not told.
//
// Without nochain QEMU links blocks, and says so ("Linking TBs"). What runs by a link has no exec line, so from there on any number
// of instructions may be missing behind a block: its last instruction has Scope Gaps.
//
// A wfi leaves its block. A block that writes to itself, or that the end of the log cuts, is taken as run to its end, since nothing
// tells where it was left.
//
// Lines of RISC-V, AArch64, Arm, x86 and MIPS are of 7.2 as it wrote them. The forms of exec lines without CFLAGS or CPU, "Chain",
// blocks that stopped before, interrupts, and events of x86 have not been seen in a log by these tests.
package qemulog
