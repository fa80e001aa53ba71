package riscv

// expand returns the instruction of 32 bits that a compressed one stands for. It is false for floating point, for what is reserved,
// and for what means another thing on processors with newer extensions.
func expand(c uint16, wide bool) (uint32, bool) {
	switch i := compressed(c); i & 3 {
	case 0:
		return i.quadrant0(wide)
	case 1:
		return i.quadrant1(wide)
	case 2:
		return i.quadrant2(wide)
	}
	return 0, false
}

// compressed is an instruction of 16 bits.
type compressed uint16

// Formats of instructions of 32 bits, as the manual calls them.
func typeI(opcode, funct3, rd, rs1, imm uint32) uint32 {
	return imm<<20 | rs1<<15 | funct3<<12 | rd<<7 | opcode
}
func typeR(opcode, funct3, funct7, rd, rs1, rs2 uint32) uint32 {
	return funct7<<25 | rs2<<20 | rs1<<15 | funct3<<12 | rd<<7 | opcode
}
func typeS(funct3, rs1, rs2, imm uint32) uint32 {
	return imm>>5<<25 | rs2<<20 | rs1<<15 | funct3<<12 | imm&31<<7 | 0x23
}
func typeB(funct3, rs1, imm uint32) uint32 {
	return imm>>12&1<<31 | imm>>5&63<<25 | rs1<<15 | funct3<<12 | imm>>1&15<<8 | imm>>11&1<<7 | 0x63
}
func typeJ(rd, imm uint32) uint32 {
	return imm>>20&1<<31 | imm>>1&1023<<21 | imm>>11&1<<20 | imm>>12&255<<12 | rd<<7 | 0x6f
}

// field is n bits of the instruction from one on, put at another place of a number.
func (c compressed) field(from, n, to int) uint32 { return uint32(c) >> from & (1<<n - 1) << to }

// Registers: in full, and those of which there are eight.
func (c compressed) rd() uint32   { return c.field(7, 5, 0) }
func (c compressed) rs2() uint32  { return c.field(2, 5, 0) }
func (c compressed) rs1s() uint32 { return c.field(7, 3, 0) + 8 }
func (c compressed) rs2s() uint32 { return c.field(2, 3, 0) + 8 }

// imm6 is the constant of most of them, extended from its sixth bit, with more bits than an instruction has room for.
func (c compressed) imm6() uint32 { return extended(c.field(12, 1, 5)|c.field(2, 5, 0), 6) }

// extended extends the sign of a number of so many bits.
func extended(v uint32, bits int) uint32 { return uint32(int32(v<<(32-bits)) >> (32 - bits)) }

// quadrant0 has what uses the registers of which there are eight.
func (c compressed) quadrant0(wide bool) (uint32, bool) {
	word := c.field(10, 3, 3) | c.field(6, 1, 2) | c.field(5, 1, 6)
	double := c.field(10, 3, 3) | c.field(5, 2, 6)
	switch c >> 13 {
	case 0: // addi4spn
		imm := c.field(11, 2, 4) | c.field(7, 4, 6) | c.field(6, 1, 2) | c.field(5, 1, 3)
		return typeI(0x13, 0, c.rs2s(), sp, imm), imm != 0
	case 2: // lw
		return typeI(0x03, 2, c.rs2s(), c.rs1s(), word), true
	case 3: // ld, of 64 bits
		return typeI(0x03, 3, c.rs2s(), c.rs1s(), double), wide
	case 6: // sw
		return typeS(2, c.rs1s(), c.rs2s(), word), true
	case 7: // sd
		return typeS(3, c.rs1s(), c.rs2s(), double), wide
	}
	return 0, false
}

// quadrant1 has constants, jumps and arithmetic.
func (c compressed) quadrant1(wide bool) (uint32, bool) {
	target := extended(c.field(12, 1, 11)|c.field(11, 1, 4)|c.field(9, 2, 8)|c.field(8, 1, 10)|c.field(7, 1, 6)|c.field(6, 1, 7)|
		c.field(3, 3, 1)|c.field(2, 1, 5), 12)
	near := extended(c.field(12, 1, 8)|c.field(10, 2, 3)|c.field(5, 2, 6)|c.field(3, 2, 1)|c.field(2, 1, 5), 9)
	switch c >> 13 {
	case 0: // addi
		return typeI(0x13, 0, c.rd(), c.rd(), c.imm6()), true
	case 1:
		if wide { // addiw
			return typeI(0x1b, 0, c.rd(), c.rd(), c.imm6()), c.rd() != 0
		}
		return typeJ(ra, target), true // jal
	case 2: // li
		return typeI(0x13, 0, c.rd(), 0, c.imm6()), true
	case 3:
		if c.rd() != sp { // lui
			return c.imm6()<<12 | c.rd()<<7 | 0x37, c.imm6() != 0
		}
		imm := extended(c.field(12, 1, 9)|c.field(6, 1, 4)|c.field(5, 1, 6)|c.field(3, 2, 7)|c.field(2, 1, 5), 10)
		return typeI(0x13, 0, sp, sp, imm), imm != 0 // addi16sp
	case 4:
		return c.arithmetic(wide)
	case 5: // j
		return typeJ(0, target), true
	}
	return typeB(uint32(c>>13&1), c.rs1s(), near), true // beqz, bnez
}

// arithmetic has shifts, andi, and operations of two registers.
func (c compressed) arithmetic(wide bool) (uint32, bool) {
	r, amount := c.rs1s(), c.imm6()&63
	shifts := amount != 0 && (wide || amount < 32)
	switch c.field(10, 2, 0) {
	case 0: // srli
		return typeI(0x13, 5, r, r, amount), shifts
	case 1: // srai
		return typeI(0x13, 5, r, r, amount|0x20<<5), shifts
	case 2: // andi
		return typeI(0x13, 7, r, r, c.imm6()), true
	}
	switch operation := c.field(12, 1, 2) | c.field(5, 2, 0); operation {
	case 0: // sub
		return typeR(0x33, 0, 0x20, r, r, c.rs2s()), true
	case 1, 2, 3: // xor, or, and
		return typeR(0x33, [...]uint32{1: 4, 2: 6, 3: 7}[operation], 0, r, r, c.rs2s()), true
	case 4, 5: // subw, addw
		return typeR(0x3b, 0, (5-operation)*0x20, r, r, c.rs2s()), wide
	}
	return 0, false
}

// quadrant2 has what uses the stack, and what uses all registers.
func (c compressed) quadrant2(wide bool) (uint32, bool) {
	amount := c.imm6() & 63
	switch c >> 13 {
	case 0: // slli
		return typeI(0x13, 1, c.rd(), c.rd(), amount), amount != 0 && (wide || amount < 32)
	case 2: // lwsp
		return typeI(0x03, 2, c.rd(), sp, c.field(12, 1, 5)|c.field(4, 3, 2)|c.field(2, 2, 6)), c.rd() != 0
	case 3: // ldsp, of 64 bits
		return typeI(0x03, 3, c.rd(), sp, c.field(12, 1, 5)|c.field(5, 2, 3)|c.field(2, 3, 6)), wide && c.rd() != 0
	case 6: // swsp
		return typeS(2, sp, c.rs2(), c.field(9, 4, 2)|c.field(7, 2, 6)), true
	case 7: // sdsp
		return typeS(3, sp, c.rs2(), c.field(10, 3, 3)|c.field(7, 3, 6)), wide
	case 4:
		switch link := c.field(12, 1, 0); {
		case c.rs2() != 0: // mv, add
			return typeR(0x33, 0, 0, c.rd(), link*c.rd(), c.rs2()), true
		case c.rd() != 0: // jr, jalr
			return typeI(0x67, 0, link*ra, c.rd(), 0), true
		}
	}
	return 0, false
}

// Expand returns the instruction of 32 bits that a compressed one stands for, on a processor of 64 bits or of 32. It is false for
// what is reserved. Those of floating point are laid out as the integer loads and stores of the same width.
func Expand(c uint16, wide bool) (whole uint32, ok bool) {
	if whole, ok = expand(c, wide); ok || c == 0 {
		return whole, ok
	}
	const toDouble, toSingle, one = 2 << 13, 1 << 13, 1 << 7
	switch i := compressed(c); {
	case i == 0x9002:
		return 0x100073, true // ebreak
	case c&3 == 1 && c>>13 == 0 && i.rd() == 0:
		return typeI(0x13, 0, 0, 0, i.imm6()), true // nop
	case c&1 != 0 || c>>13&3 != 1 && c>>13&3 != 3 || c>>13&3 == 3 && wide:
		return 0, false
	case c>>13&3 == 1: // of doubles
		c += toDouble
	default:
		c -= toSingle
	}
	// A load may name register 0, which is one like the others here.
	number := uint32(0)
	if i := compressed(c); c&3 == 2 && c>>15 == 0 {
		number = i.rd()
		c = c&^(31*one) | one
	}
	if whole, ok = expand(c, true); number > 0 || c&3 == 2 && c>>15 == 0 {
		whole = whole&^(31*one) | number*one
	}
	return whole | 4, ok
}
