package flow

import (
	"regexp"
	"strconv"

	"golang.org/x/arch/riscv64/riscv64asm"
)

// isLink reports whether a register holds return addresses by the convention that the manual gives in its hints for predictors:
// ra, and t0 of functions that save registers for others.
func isLink(register uint32) bool { return register == 1 || register == 5 }

// through is a jump through a register that links to another, by the table of those hints.
func through(rd, rs uint32, size uint8) Flow {
	kind := Jump
	switch {
	case isLink(rd) && isLink(rs) && rd != rs:
		kind = Swap
	case isLink(rd):
		kind = Call
	case isLink(rs):
		kind = Return
	}
	return Flow{Kind: kind, Len: size}
}

// riscv decodes instructions of which the narrow form has 32-bit registers.
func riscv(narrow bool) func(code []byte, at uint64) Flow {
	return func(code []byte, at uint64) Flow {
		w := word(code)
		if w&3 != 3 {
			return compressed(w&0xffff, at, narrow)
		}
		rd := field(w, 7, 5, 0)
		switch w & 0x7f {
		case 0x6f:
			offset := field(w, 21, 10, 1) | field(w, 20, 1, 11) | field(w, 12, 8, 12) | field(w, 31, 1, 20)
			f := direct(Jump, 4, at, signed(offset, 21))
			if isLink(rd) {
				f.Kind = Call
			}
			return f
		case 0x67:
			return through(rd, field(w, 15, 5, 0), 4)
		case 0x63:
			offset := field(w, 8, 4, 1) | field(w, 25, 6, 5) | field(w, 7, 1, 11) | field(w, 31, 1, 12)
			return conditional(4, at, signed(offset, 13))
		case 0x73:
			switch w {
			case 0x00000073, 0x00100073:
				return Flow{Kind: Trap, Len: 4}
			case 0x30200073, 0x10200073, 0x00200073, 0x70200073, 0x7b200073:
				return Flow{Kind: TrapReturn, Len: 4}
			}
		}
		return Flow{Len: 4}
	}
}

// compressed decodes an instruction of 16 bits.
func compressed(h uint32, at uint64, narrow bool) Flow {
	rs := field(h, 7, 5, 0)
	if h == 0 { // never an instruction, but what fills memory
		return Flow{}
	}
	switch h & 0xe003 {
	case 0x2001: // c.jal; with registers of 64 bits c.addiw
		if narrow {
			return direct(Call, 2, at, compressedJump(h))
		}
	case 0xa001:
		return direct(Jump, 2, at, compressedJump(h))
	case 0xc001, 0xe001:
		offset := field(h, 3, 2, 1) | field(h, 10, 2, 3) | field(h, 2, 1, 5) | field(h, 5, 2, 6) | field(h, 12, 1, 8)
		return conditional(2, at, signed(offset, 9))
	case 0x8002:
		switch {
		case h == 0x9002:
			return Flow{Kind: Trap, Len: 2}
		case h&0x7c == 0 && rs != 0 && h&0x1000 != 0:
			return through(1, rs, 2)
		case h&0x7c == 0 && rs != 0:
			return through(0, rs, 2)
		}
	case 0xa002: // cm.popret and cm.popretz; without Zcmp they are stores, which go on behind themselves
		if h>>8 == 0xbe || h>>8 == 0xbc {
			return Flow{Kind: Return, Conditional: true, Len: 2}
		}
	}
	return Flow{Len: 2}
}

// compressedJump is where c.j and c.jal go.
func compressedJump(h uint32) int64 {
	offset := field(h, 3, 3, 1) | field(h, 11, 1, 4) | field(h, 2, 1, 5) | field(h, 7, 1, 6) | field(h, 6, 1, 7) |
		field(h, 9, 2, 8) | field(h, 8, 1, 10) | field(h, 12, 1, 11)
	return signed(offset, 12)
}

// riscvName is the mnemonic of an instruction.
func riscvName(code []byte, _ uint64) string {
	in, err := riscv64asm.Decode(append(code[:len(code):len(code)], 0, 0, 0, 0)[:4])
	if err != nil {
		return ""
	}
	return in.Op.String()
}

// riscvText is an instruction in words.
func riscvText(code []byte, _ uint64) string {
	in, err := riscv64asm.Decode(append(code[:len(code):len(code)], 0, 0, 0, 0)[:4])
	if err != nil {
		return ""
	}
	return numbered.ReplaceAllStringFunc(riscv64asm.GNUSyntax(in), func(register string) string {
		names := &integerNames
		if register[0] == 'f' {
			names = &floatNames
		}
		n, err := strconv.Atoi(register[1:])
		if err != nil || n >= len(names) {
			return register
		}
		return names[n]
	})
}

// numbered is a register as its encoding has it, as the decoder writes it. Traces, compilers and debuggers have the names of the
// calling convention.
var numbered = regexp.MustCompile(`\b[xf]\d{1,2}\b`)

var (
	integerNames = [32]string{"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
		"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"}
	floatNames = [32]string{"ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2", "fa3",
		"fa4", "fa5", "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"}
)
