package emulatetest

import (
	"encoding/binary"
	"math/rand/v2"
)

// riscvForms are all that is emulated, and what stands beside it in the tables of opcodes.
func riscvForms(wide bool) []form {
	forms := []form{
		word("lui", 0x37, 0x7f), word("auipc", 0x17, 0x7f), word("jal", 0x6f, 0x7f), word("branch", 0x63, 0x7f),
		word("load", 0x03, 0x7f), word("store", 0x23, 0x7f), word("addi", 0x13, 0x7f), word("add", 0x33, 0xfe00007f),
		word("sub", 0x40000033, 0xfe00007f), word("mul", 0x02000033, 0xfe00707f), word("op", 0x33, 0x9e00007f), nop,
		word("slti small", 0x2013, 0xffc0607f), word("slli", 0x1013, 0xfc00707f), word("srli", 0x5013, 0xfc00707f), word("srai", 0x40005013, 0xfc00707f),
		jalr, half("c0", 0, 3), half("c1", 1, 3), half("c2", 2, 3), half("c arithmetic", 0x8c01, 0xfc03), half("c.sp", 0x6101, 0xff83),
	}
	if wide {
		forms = append(forms, word("addiw", 0x1b, 0x707f), word("addw", 0x3b, 0xfe00007f), word("subw", 0x4000003b, 0xfe00007f),
			word("slliw", 0x101b, 0xfe00707f), word("sraiw", 0x4000501b, 0xfe00707f))
	}
	return forms
}

var nop = word("nop", 0x13, 0xffffffff)

// jalr jumps through the registers of returns, among others.
var jalr = form{"jalr", func(r *rand.Rand) []byte {
	return binary.LittleEndian.AppendUint32(nil, r.Uint32()&0xfff00f80|0x67|uint32(r.IntN(9))<<15)
}}
