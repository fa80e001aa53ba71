package flow

import "encoding/binary"

// mips decodes an instruction of MIPS in a byte order. Jumps and branches take effect behind the instruction that follows them, so
// they count as eight bytes long.
func mips(order binary.ByteOrder) func(code []byte, at uint64) Flow {
	return func(code []byte, at uint64) Flow {
		if len(code) < 4 {
			return Flow{Len: 4}
		}
		w := order.Uint32(code)
		f := mipsWord(w, at)
		f.Len = 4
		if f.Delayed = f.Kind != Next && f.Kind != Trap && w != mipsERET; f.Delayed {
			f.Len = 8
		}
		return f
	}
}

// mipsLink is the register of return addresses. Two registers belong to handlers, which return through them on processors without
// eret.
const (
	mipsLink                 = 31
	mipsKernel0, mipsKernel1 = 26, 27
	mipsERET                 = 0x42000018
)

func mipsWord(w uint32, at uint64) Flow {
	rs, rt, rd := w>>21&31, w>>16&31, w>>11&31
	branch := conditional(8, at+4, signed(w<<2, 18))
	switch op := w >> 26; {
	case op == 0 && w&0x3f == 8 && rs == mipsLink:
		return Flow{Kind: Return}
	case op == 0 && w&0x3f == 8 && (rs == mipsKernel0 || rs == mipsKernel1):
		return Flow{Kind: TrapReturn}
	case op == 0 && w&0x3f == 8, op == 0 && w&0x3f == 9 && rd == 0:
		return Flow{Kind: Jump}
	case op == 0 && w&0x3f == 9:
		return Flow{Kind: Call}
	case op == 0 && (w&0x3f == 12 || w&0x3f == 13):
		return Flow{Kind: Trap}
	case op == 2, op == 3:
		f := direct(Jump, 8, (at+4)&^0x0fffffff, int64(field(w, 0, 26, 2)))
		if op == 3 {
			f.Kind = Call
		}
		return f
	case op == 1 && rt&0x10 != 0: // bltzal, bgezal
		branch.Kind, branch.Conditional = Call, rs != 0
		return branch
	case op == 4 && rs == 0 && rt == 0: // b
		branch.Conditional = false
		return branch
	case op == 1, op >= 4 && op <= 7, op >= 20 && op <= 23, op == 0x11 && rs == 8:
		return branch
	case w == mipsERET:
		return Flow{Kind: TrapReturn}
	}
	return Flow{}
}

// bigNumber appends a number of 32 bits in big endian.
func bigNumber(dst []byte, value uint64, _ int) []byte {
	return binary.BigEndian.AppendUint32(dst, uint32(value))
}
