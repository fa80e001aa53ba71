package flow

import (
	"encoding/binary"

	"golang.org/x/arch/arm/armasm"
	"golang.org/x/arch/arm64/arm64asm"
)

// a64 decodes an instruction of AArch64.
func a64(code []byte, at uint64) Flow {
	w := word(code)
	switch {
	case w>>26 == 0x05:
		return direct(Jump, 4, at, signed(w<<2, 28))
	case w>>26 == 0x25:
		return direct(Call, 4, at, signed(w<<2, 28))
	case w>>24 == 0x54, w>>25&0x3f == 0x1a: // b.cond; cbz and cbnz
		return conditional(4, at, signed(field(w, 5, 19, 2), 21))
	case w>>25&0x3f == 0x1b: // tbz and tbnz
		return conditional(4, at, signed(field(w, 5, 14, 2), 16))
	case w>>25 == 0x6b:
		switch w >> 21 & 0xf {
		case 0, 8:
			return Flow{Kind: Jump, Len: 4}
		case 1, 9:
			return Flow{Kind: Call, Len: 4}
		case 2:
			return Flow{Kind: Return, Len: 4}
		case 4:
			return Flow{Kind: TrapReturn, Len: 4}
		}
	case w>>24 == 0xd4:
		return Flow{Kind: Trap, Len: 4}
	}
	return Flow{Len: 4}
}

const (
	armSP = 13
	armLR = 14
)

// a32 decodes an instruction of the state A.
func a32(code []byte, at uint64) Flow {
	w := word(code)
	if w>>28 == 0xf {
		switch {
		case w>>25 == 0x7d: // blx, which goes to the state T
			f := direct(Call, 4, at+8, signed(w<<2, 26)|int64(field(w, 24, 1, 1)))
			return f
		case w&0xfe50ffff == 0xf8100a00: // rfe
			return Flow{Kind: TrapReturn, Len: 4}
		}
		return Flow{Len: 4}
	}
	f := Flow{Kind: a32Kind(w), Len: 4}
	if w>>25&7 == 5 {
		f = direct(f.Kind, 4, at+8, signed(w<<2, 26))
	}
	f.Conditional = f.Kind != Next && w>>28 != 0xe
	return f
}

// a32Kind tells what an instruction does that has a condition, or the one that always holds.
func a32Kind(w uint32) Kind {
	rn, rm := w>>16&15, w&15
	switch {
	case w>>24&0xf == 0xf: // svc
		return Trap
	case w>>24&0xf == 0xb: // bl
		return Call
	case w>>24&0xf == 0xa: // b
		return Jump
	case w&0x0ffffff0 == 0x012fff10 && rm == armLR, w&0x0fffffff == 0x01a0f00e: // bx lr; mov pc, lr
		return Return
	case w&0x0ffffff0 == 0x012fff30: // blx
		return Call
	case w&0x0fffffff == 0x01b0f00e, w&0x0ffff000 == 0x025ef000: // movs pc, lr; subs pc, lr, #n
		return TrapReturn
	case w&0x0e508000 == 0x08508000: // ldm with pc and ^
		return TrapReturn
	case w&0x0e108000 == 0x08108000 && rn == armSP, w&0x0f7ff000 == 0x041df000: // pop with pc
		return Return
	case w&0x0ffffff0 == 0x012fff10, w&0x0e108000 == 0x08108000, // bx; ldm with pc
		w&0x0c10f000 == 0x0410f000 && w&0x02000010 != 0x02000010,                                   // ldr pc
		w&0x0fe0f000 == 0x0080f000 && w&0x90 != 0x90, w&0x0ffff000 == 0x01a0f000 && w&0x90 != 0x90: // add pc; mov pc
		return Jump
	}
	return Next
}

// t32 decodes an instruction of the state T.
func t32(code []byte, at uint64) Flow {
	w := word(code)
	h, h2 := w&0xffff, w>>16
	if h>>11 >= 0x1d {
		f := t32Wide(h, h2, at)
		f.Len = 4
		return f
	}
	f := Flow{Len: 2}
	switch {
	case h>>12 == 0xd && h>>8&0xf < 14:
		return conditional(2, at+4, signed(h<<1, 9))
	case h>>12 == 0xd, h>>8 == 0xbe: // udf, svc; bkpt
		f.Kind = Trap
	case h>>11 == 0x1c:
		return direct(Jump, 2, at+4, signed(h<<1, 12))
	case h&0xf500 == 0xb100: // cbz and cbnz
		return conditional(2, at+4, int64(field(h, 3, 5, 1)|field(h, 9, 1, 6)))
	case h>>7 == 0x8f: // blx
		f.Kind = Call
	case h&0xffff == 0x4770, h&0xffff == 0x46f7, h>>8 == 0xbd: // bx lr; mov pc, lr; pop with pc
		f.Kind = Return
	case h>>7 == 0x8e, h&0xff87 == 0x4687, h&0xff87 == 0x4487: // bx; mov pc; add pc
		f.Kind = Jump
	}
	return f
}

// t32Wide decodes an instruction of two halfwords.
func t32Wide(h, h2 uint32, at uint64) Flow {
	s, j1, j2 := h>>10&1, h2>>13&1, h2>>11&1
	far := signed(field(h2, 0, 11, 1)|field(h, 0, 10, 12)|(^(j2^s)&1)<<22|(^(j1^s)&1)<<23|s<<24, 25)
	rn := h & 15
	kind := Next
	switch {
	case h == 0xf3de && h2>>8 == 0x8f: // subs pc, lr, #n
		kind = TrapReturn
	case h>>11 == 0x1e && h2&0xd000 == 0xd000:
		return direct(Call, 4, at+4, far)
	case h>>11 == 0x1e && h2&0xd001 == 0xc000: // blx, which goes to the state A
		return direct(Call, 4, (at+4)&^3, far)
	case h>>11 == 0x1e && h2&0xd000 == 0x9000:
		return direct(Jump, 4, at+4, far)
	case h>>11 == 0x1e && h2&0xd000 == 0x8000 && h>>6&0xf < 14:
		offset := field(h2, 0, 11, 1) | field(h, 0, 6, 12) | j1<<18 | j2<<19 | s<<20
		return conditional(4, at+4, signed(offset, 21))
	case h&0xffd0 == 0xe990, h&0xffd0 == 0xe810 && h2&0xffff == 0xc000: // rfe
		kind = TrapReturn
	case h&0xffd0 == 0xe890 && h2&0x8000 != 0 && rn == armSP, h&0xffff == 0xf85d && h2>>12 == 0xf: // pop with pc
		kind = Return
	case (h&0xffd0 == 0xe890 || h&0xffd0 == 0xe910) && h2&0x8000 != 0, // ldm with pc
		h&0xff70 == 0xf850 && h2>>12 == 0xf,       // ldr pc
		h&0xfff0 == 0xe8d0 && h2&0xffe0 == 0xf000: // tbb and tbh
		kind = Jump
	}
	return Flow{Kind: kind}
}

// t32Number puts the bytes of an instruction in order of a number in which the first halfword is the upper one, or the lower.
func t32Number(dst []byte, value uint64, size int) []byte {
	h, h2 := uint16(value>>16), uint16(value)
	if size <= 2 {
		return binary.LittleEndian.AppendUint16(dst, h2)
	}
	if h>>11 < 0x1d {
		h, h2 = h2, h
	}
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(dst, h), h2)
}

func a64Name(code []byte, _ uint64) string {
	in, err := arm64asm.Decode(code)
	if err != nil {
		return ""
	}
	return in.Op.String()
}

func a32Name(code []byte, _ uint64) string {
	in, err := armasm.Decode(code, armasm.ModeARM)
	if err != nil {
		return ""
	}
	return in.Op.String()
}

func a64Text(code []byte, _ uint64) string {
	in, err := arm64asm.Decode(code)
	if err != nil {
		return ""
	}
	return arm64asm.GNUSyntax(in)
}

func a32Text(code []byte, _ uint64) string {
	in, err := armasm.Decode(code, armasm.ModeARM)
	if err != nil {
		return ""
	}
	return armasm.GNUSyntax(in)
}
