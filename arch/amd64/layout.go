package amd64

import "encoding/binary"

// maxLength is the most bytes that the processor takes for one instruction.
const maxLength = 15

// The opcodes that more than one place names.
const (
	opcodeInt3   = 0xcc
	opcodeEscape = 0x0f
)

// prefixSet is the set of legacy prefixes of an instruction. REX is apart, because it changes no meaning, only widths.
type prefixSet uint8

const (
	prefixOperand prefixSet = 1 << iota // 66
	prefixAddress                       // 67
	prefixLock                          // f0
	prefixRepne                         // f2, also bnd
	prefixRep                           // f3
	prefixNull                          // 26, 2e, 36, 3e: segments that 64-bit mode ignores; notrack and branch hints
	prefixSegment                       // 64, 65: fs and gs
)

// legacyPrefix gives the set that each legacy prefix byte stands for.
var legacyPrefix = [256]prefixSet{
	0x26: prefixNull, 0x2e: prefixNull, 0x36: prefixNull, 0x3e: prefixNull, 0x64: prefixSegment, 0x65: prefixSegment,
	0x66: prefixOperand, 0x67: prefixAddress, 0xf0: prefixLock, 0xf2: prefixRepne, 0xf3: prefixRep,
}

// The bits of a REX prefix.
const (
	rexB = 1 << iota
	rexX
	rexR
	rexW
)

// opcodeSpace is the table that an opcode byte belongs to. Spaces up to space0F3A are the numbers by which VEX and EVEX
// name them.
type opcodeSpace uint8

const (
	spaceOne  opcodeSpace = iota // no escape
	space0F                      // 0f
	space0F38                    // 0f 38
	space0F3A                    // 0f 3a
	spaceNone opcodeSpace = 4    // one that this package does not know
	space5    opcodeSpace = 5    // EVEX only: half-precision
	space6    opcodeSpace = 6
)

// encoding is the scheme that an instruction's prefixes and opcode follow.
type encoding uint8

const (
	legacy encoding = iota
	vex
	evex
)

// layout is where the parts of one instruction lie. It says nothing about what the instruction does, nor whether a
// processor knows it.
type layout struct {
	prefixes prefixSet
	rex      uint8 // low four bits
	space    opcodeSpace
	encoding encoding
	opcode   uint8

	hasModRM bool
	modrm    uint8
	sib      uint8
	disp     int32
	dispAt   uint8 // offset of the displacement, when dispLen is not 0
	dispLen  uint8

	imm    uint64 // sign-extended as the instruction does
	length uint8
}

func (l *layout) mod() uint8  { return l.modrm >> 6 }
func (l *layout) reg() uint8  { return l.modrm >> 3 & 7 }
func (l *layout) rm() uint8   { return l.modrm & 7 }
func (l *layout) wide() bool  { return l.rex&rexW != 0 }
func (l *layout) isMem() bool { return l.hasModRM && l.mod() != 3 }

// has tells whether any prefix of set is there.
func (l *layout) has(set prefixSet) bool { return l.prefixes&set != 0 }

// ripRelative tells whether the memory operand counts from the next instruction.
func (l *layout) ripRelative() bool { return l.hasModRM && l.mod() == 0 && l.rm() == 5 }

// The letters of the two tables below say what follows an opcode:
//
//	.  nothing        M  ModRM                 x  no such opcode in 64-bit mode
//	b  8 bits         B  ModRM, 8 bits         p  a prefix or an escape, never met here
//	w  16 bits        e  16 and 8 bits         G  ModRM, 8 bits if its reg field is 0 or 1 (test)
//	z  16 or 32 bits  Z  ModRM, 16 or 32 bits  H  the same with 16 or 32 bits
//	q  16, 32 or 64   a  an address            R  ModRM, always with two registers (control and debug registers)
//	j  32 bits, relative
const oneByteOperands = "" +
	"MMMMbzxxMMMMbzxp" + // 00
	"MMMMbzxxMMMMbzxx" +
	"MMMMbzpxMMMMbzpx" +
	"MMMMbzpxMMMMbzpx" +
	"pppppppppppppppp" + // 40
	"................" +
	"xxpMppppzZbB...." +
	"bbbbbbbbbbbbbbbb" +
	"BZxBMMMMMMMMMMMM" + // 80
	"..........x....." +
	"aaaa....bz......" +
	"bbbbbbbbqqqqqqqq" +
	"BBw.ppBZe.w..bx." + // c0
	"MMMMxxx.MMMMMMMM" +
	"bbbbbbbbjjxb...." +
	"p.pp..GH......MM"

const twoByteOperands = "" +
	"MMMMx.....x.xM.B" + // 0f 00
	"MMMMMMMMMMMMMMMM" +
	"RRRRxxxxMMMMMMMM" +
	"......x.pxpxxxxx" +
	"MMMMMMMMMMMMMMMM" + // 0f 40
	"MMMMMMMMMMMMMMMM" +
	"MMMMMMMMMMMMMMMM" +
	"BBBBMMM.MMxxMMMM" +
	"jjjjjjjjjjjjjjjj" + // 0f 80
	"MMMMMMMMMMMMMMMM" +
	"...MBMxx...MBMMM" +
	"MMMMMMMMMMBMMMMM" +
	"MMBMBBBM........" + // 0f c0
	"MMMMMMMMMMMMMMMM" +
	"MMMMMMMMMMMMMMMM" +
	"MMMMMMMMMMMMMMMM"

// operands gives the letter for the opcode.
func (l *layout) operands() byte {
	switch l.space {
	case spaceOne:
		return oneByteOperands[l.opcode]
	case space0F:
		return twoByteOperands[l.opcode]
	case space0F38, space5, space6:
		return 'M'
	case space0F3A:
		return 'B'
	}
	return 'x'
}

// cursor reads bytes one after the other; beyond the end it gives zeros and remembers that it did.
type cursor struct {
	code  []byte
	at    int
	short bool
}

func (c *cursor) take(n int) []byte {
	if len(c.code)-c.at < n {
		c.short, c.at = true, len(c.code)
		return make([]byte, 8)[:n]
	}
	c.at += n
	return c.code[c.at-n : c.at]
}

func (c *cursor) byte() uint8 { return c.take(1)[0] }

// signed reads a little-endian number of n bytes, 1, 2, 4 or 8, and extends its sign.
func (c *cursor) signed(n int) uint64 {
	b := c.take(n)
	switch n {
	case 1:
		return uint64(int8(b[0]))
	case 2:
		return uint64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return uint64(int32(binary.LittleEndian.Uint32(b)))
	}
	return binary.LittleEndian.Uint64(b)
}

// measure finds the parts of the instruction that code begins with. The cause is empty if that went well.
func measure(code []byte) (l layout, cause string) {
	limit := code[:min(len(code), maxLength)]
	c := cursor{code: limit}
	first := l.readPrefixes(&c)
	l.readOpcode(&c, first)
	letter := l.operands()
	if l.hasModRM = letter >= 'A' && letter <= 'Z'; l.hasModRM {
		l.modrm = c.byte()
		if letter != 'R' {
			l.readMemory(&c)
		}
	}
	l.readImmediate(&c, letter)
	l.length = uint8(c.at)
	switch {
	case c.short && len(limit) == maxLength:
		return l, "longer than 15 bytes"
	case c.short:
		return l, "ends early"
	case letter == 'x' || letter == 'p':
		return l, "not an opcode in 64-bit mode"
	case l.encoding != legacy && (l.rex != 0 || l.has(prefixOperand|prefixLock|prefixRepne|prefixRep)):
		return l, "a prefix that VEX and EVEX exclude"
	case letter == 'j' && l.has(prefixOperand) && !l.wide():
		return l, "a branch with an operand-size prefix, whose length differs between vendors"
	}
	return l, ""
}

// readPrefixes reads legacy prefixes and REX, and returns the byte behind them. A REX counts only if it comes last.
func (l *layout) readPrefixes(c *cursor) uint8 {
	for {
		b := c.byte()
		switch {
		case legacyPrefix[b] != 0:
			l.prefixes |= legacyPrefix[b]
			l.rex = 0
		case b&0xf0 == 0x40:
			l.rex = b & 0xf
		default:
			return b
		}
	}
}

// readOpcode reads the escapes or the VEX or EVEX prefix that b begins, and the opcode.
func (l *layout) readOpcode(c *cursor, b uint8) {
	switch b {
	case 0xc5:
		l.encoding, l.space = vex, space0F
		c.byte()
		l.opcode = c.byte()
	case 0xc4:
		l.encoding, l.space = vex, vectorSpace(c.byte()&0x1f)
		c.byte()
		l.opcode = c.byte()
	case 0x62:
		l.encoding, l.space = evex, vectorSpace(c.byte()&0x0f)
		c.take(2)
		l.opcode = c.byte()
	case opcodeEscape:
		l.space, l.opcode = space0F, c.byte()
		switch l.opcode {
		case 0x38:
			l.space, l.opcode = space0F38, c.byte()
		case 0x3a:
			l.space, l.opcode = space0F3A, c.byte()
		}
	default:
		l.opcode = b
	}
}

// vectorSpace is the opcode space that the number in a VEX or EVEX prefix stands for.
func vectorSpace(n uint8) opcodeSpace {
	if s := opcodeSpace(n); s != spaceOne && s <= space6 {
		return s
	}
	return spaceNone
}

// readMemory reads what of SIB and displacement the ModRM byte asks for.
func (l *layout) readMemory(c *cursor) {
	if l.mod() == 3 {
		return
	}
	base := l.rm()
	if base == 4 {
		l.sib = c.byte()
		base = l.sib & 7
	}
	switch {
	case l.mod() == 1:
		l.dispLen = 1
	case l.mod() == 2, base == 5:
		l.dispLen = 4
	default:
		return
	}
	l.dispAt = uint8(c.at)
	l.disp = int32(c.signed(int(l.dispLen)))
}

// readImmediate reads what the letter says follows the operands.
func (l *layout) readImmediate(c *cursor, letter byte) {
	operandSize := 4
	if l.has(prefixOperand) && !l.wide() {
		operandSize = 2
	}
	size := 0
	switch letter {
	case 'b', 'B':
		size = 1
	case 'w':
		size = 2
	case 'e':
		l.imm = c.signed(2)
		c.byte()
		return
	case 'j':
		size = 4
	case 'z', 'Z':
		size = operandSize
	case 'q':
		if size = operandSize; l.wide() {
			size = 8
		}
	case 'a':
		if size = 8; l.has(prefixAddress) {
			size = 4
		}
	case 'G', 'H':
		if l.reg() > 1 {
			return
		}
		if size = 1; letter == 'H' {
			size = operandSize
		}
	}
	if size != 0 {
		l.imm = c.signed(size)
	}
}
