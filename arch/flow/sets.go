package flow

import (
	"encoding/binary"
	"math/bits"
)

// sets are all instruction sets, those first of which instructions are told apart best.
var sets = []*Set{
	{Title: "RISC-V", Bits: 64, machine: "riscv64", decode: riscv(false), name: riscvName, text: riscvText},
	{Title: "RISC-V of 32 bits", Bits: 32, machine: "riscv32", decode: riscv(true), name: riscvName, text: riscvText},
	{Title: "AArch64", Bits: 64, machine: "aarch64", state: 'X', decode: a64, name: a64Name, text: a64Text},
	{Title: "A32", Bits: 32, machine: "arm", state: 'A', decode: a32, name: a32Name, text: a32Text},
	{Title: "T32", Bits: 32, state: 'T', decode: t32, number: t32Number},
	{Title: "MIPS", Bits: 32, machine: "mips", order: binary.BigEndian, decode: mips(binary.BigEndian), number: bigNumber},
	{Title: "little-endian MIPS", Bits: 32, machine: "mips", order: binary.LittleEndian, decode: mips(binary.LittleEndian)},
	{Title: "x86-64", Bits: 64, machine: "x86-64", decode: x86(64), name: x86Name(64), text: x86Text(64),
		number: x86Number},
	{Title: "x86 of 32 bits", Bits: 32, machine: "i386", decode: x86(32), name: x86Name(32), text: x86Text(32),
		number: x86Number},
}

// x86Number takes a number for the first bytes of an instruction in little endian, as plugins write it. Leading zeros are not
// written.
func x86Number(dst []byte, value uint64, size int) []byte {
	n := max((bits.Len64(value)+7)/8, size, 1)
	return binary.LittleEndian.AppendUint64(dst, value)[:len(dst)+min(n, 8)]
}
