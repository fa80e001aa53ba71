// Package rvvi is RVVI-TEXT, the text format of the RISC-V Verification Interface, in its versions from 0.1 to 0.5, as Imperas'
// models, Wally (rvviTextLogger), CV32E40P and others write it. A trace is tokens between blanks. A line that ends with a token \
// goes on in the next one; such a logical line is what happens in one cycle:
//
//	"VERSION" INT INT                            of the format
//	"VENDOR" NAME INT INT                        the producer and its version
//	"PARAMS" N { NAME VALUE }                    N pairs; TIMESCALE is the unit of TIME, which is ps otherwise
//	"HART" INT                                   of what follows, also on later lines; 0 at first
//	"ISSUE" INT | "ORDER" INT                    the slot that an instruction retires in; its number
//	"RET" HEX HEX | "TRAP" HEX HEX               pc and opcode of an instruction that retired, or had an exception
//	("X" | "F" | "V") INT HEX | "C" HEX HEX      a register was written; C is one of control and status, its number in hexadecimal
//	"MODE" HEX | "VIRT" INT | "DM" HEX           privilege, as 0, 1 or 3; in a virtual machine; in debug mode
//	"CYCLE" INT | "TIME" INT                     how many have passed since the last one that was told
//	"MEM" NAME INT HEX HEX N { NAME VALUE }      since 0.4: an access (D) or fetch (I), bytes, virtual and physical address
//	"NET" NAME HEX                               a wire, such as that of an interrupt
//	"STATE" NAME NAME | "CANCEL" NAME            of the interface itself
//	"META" N { VALUE }                           N tokens of a meaning that the vendor gives
//	"LOAD" HEX HEX | "STORE" HEX HEX             address and data of an access: not in the specification, but written by some
//
//	VERSION 0 1
//	PARAMS 6 ILEN 32 XLEN 32 FLEN 64 VLEN 0 NHART 1 RETIRE 1
//	TRAP 100c '_start+12'  9002 'ebreak'  C 300 'mstatus' 00003800 C 341 'mepc' 0000100c
//	RET  0x0000100C 0x0182A283 X  5 0x80000080 MEM D 4 0x00001018 0x00001018 0
//
// What stands between apostrophes is a comment: the one behind an opcode is taken as the disassembly. HEX has 0x in front since
// 0.3. Keys of registers may be in lower case, and REG is read as RET. A name with blanks is in quotation marks.
//
// The elements between one RET or TRAP and the next of its line are the effects of the instruction; those in front of the first
// are the first's. MODE holds for its hart until it is told anew, VIRT and DM are of their instruction. ORDER is the number of a
// record where it is written; the numbers that the specification has readers count are not. CYCLE and TIME are added up.
//
// A MEM tells neither data nor direction: the opcode tells whether it is a load or a store. A MEM of an atomic instruction is
// both, and several of the same address and size are one. MEM of a fetch at the pc is the physical address of the instruction.
// Imperas' models write a register only if its value changes, and other producers whenever it is written; the option writes says
// so where the VENDOR does not.
//
// What is written is version 0.4. HART stands on each line, and ORDER where a record has a number. As CYCLE and TIME are
// differences, which depend on what else is written, they are left out, as are data of accesses, and reads of registers.
package rvvi
