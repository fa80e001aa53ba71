package fakestub

// expand gives the instruction of 32 bits that a compressed one of RV64C stands for. Those of floating point, and what is reserved,
// are none.
func expand(c uint16) (uint32, bool) {
	switch c & 3 {
	case 0:
		return expandMemory(c)
	case 1:
		return expandConstant(c)
	}
	return expandStack(c)
}

// Registers of compressed instructions: in full, and the eight that three bits name.
func fullRegister(c uint16) uint32          { return uint32(c >> 7 & 31) }
func otherRegister(c uint16) uint32         { return uint32(c >> 2 & 31) }
func shortRegister(c uint16, at int) uint32 { return uint32(c>>at&7) + 8 }

// signed6 is the constant of most instructions, as the upper twelve bits of an I-type.
func signed6(c uint16) uint32 {
	v := picked(c, 12, 5, 2, 0, 3, 1, 4, 2, 5, 3, 6, 4)
	return uint32(int32(v<<26)>>26) & 0xfff
}

// expandMemory is quadrant 0.
func expandMemory(c uint16) (uint32, bool) {
	near, far := shortRegister(c, 7), shortRegister(c, 2)
	word := picked(c, 10, 3, 11, 4, 12, 5, 6, 2, 5, 6)
	double := picked(c, 10, 3, 11, 4, 12, 5, 5, 6, 6, 7)
	switch c >> 13 {
	case 0:
		n := picked(c, 11, 4, 12, 5, 7, 6, 8, 7, 9, 8, 10, 9, 6, 2, 5, 3)
		return encodeI(0x13, 0, far, 2, n), n != 0 // c.addi4spn
	case 2:
		return encodeI(0x03, 2, far, near, word), true
	case 3:
		return encodeI(0x03, 3, far, near, double), true
	case 6:
		return encodeS(2, near, far, word), true
	case 7:
		return encodeS(3, near, far, double), true
	}
	return 0, false
}

// expandConstant is quadrant 1.
func expandConstant(c uint16) (uint32, bool) {
	r, n := fullRegister(c), signed6(c)
	switch c >> 13 {
	case 0:
		return encodeI(0x13, 0, r, r, n), true // c.addi, c.nop
	case 1:
		return encodeI(0x1b, 0, r, r, n), r != 0 // c.addiw
	case 2:
		return encodeI(0x13, 0, r, 0, n), true // c.li
	case 3:
		if r == 2 {
			n = picked(c, 6, 4, 2, 5, 5, 6, 3, 7, 4, 8, 12, 9)
			return encodeI(0x13, 0, 2, 2, uint32(int32(n<<22)>>22)&0xfff), n != 0 // c.addi16sp
		}
		return uint32(int32(n<<20)>>20)<<12 | r<<7 | 0x37, n != 0 // c.lui
	case 4:
		return expandArithmetic(c)
	case 5:
		n = picked(c, 3, 1, 4, 2, 5, 3, 11, 4, 2, 5, 7, 6, 6, 7, 9, 8, 10, 9, 8, 10, 12, 11)
		return encodeJ(0, uint32(int32(n<<20)>>20)), true // c.j
	}
	n = picked(c, 3, 1, 4, 2, 10, 3, 11, 4, 2, 5, 5, 6, 6, 7, 12, 8)
	return encodeB(int(c>>13&1), shortRegister(c, 7), 0, uint32(int32(n<<23)>>23)), true // c.beqz, c.bnez
}

// expandArithmetic is the part of quadrant 1 on registers that three bits name.
func expandArithmetic(c uint16) (uint32, bool) {
	r, other, n := shortRegister(c, 7), shortRegister(c, 2), signed6(c)
	switch c >> 10 & 3 {
	case 0:
		return encodeI(0x13, 5, r, r, n&63), true
	case 1:
		return encodeI(0x13, 5, r, r, n&63|0x400), true
	case 2:
		return encodeI(0x13, 7, r, r, n), true
	}
	switch c>>12&1<<2 | c>>5&3 {
	case 0:
		return encodeR(0x33, 0, 0x20, r, r, other), true
	case 1:
		return encodeR(0x33, 4, 0, r, r, other), true
	case 2:
		return encodeR(0x33, 6, 0, r, r, other), true
	case 3:
		return encodeR(0x33, 7, 0, r, r, other), true
	case 4:
		return encodeR(0x3b, 0, 0x20, r, r, other), true
	case 5:
		return encodeR(0x3b, 0, 0, r, r, other), true
	}
	return 0, false
}

// expandStack is quadrant 2.
func expandStack(c uint16) (uint32, bool) {
	r, other := fullRegister(c), otherRegister(c)
	switch c >> 13 {
	case 0:
		return encodeI(0x13, 1, r, r, signed6(c)&63), true // c.slli
	case 2:
		return encodeI(0x03, 2, r, 2, picked(c, 4, 2, 5, 3, 6, 4, 12, 5, 2, 6, 3, 7)), r != 0
	case 3:
		return encodeI(0x03, 3, r, 2, picked(c, 5, 3, 6, 4, 12, 5, 2, 6, 3, 7, 4, 8)), r != 0
	case 4:
		link := uint32(c >> 12 & 1)
		switch {
		case other != 0:
			return encodeR(0x33, 0, 0, r, r*link, other), true // c.mv, c.add
		case r != 0:
			return encodeI(0x67, 0, link, r, 0), true // c.jr, c.jalr
		}
		return 0x00100073, link == 1 // c.ebreak
	case 6:
		return encodeS(2, 2, other, picked(c, 9, 2, 10, 3, 11, 4, 12, 5, 7, 6, 8, 7)), true
	case 7:
		return encodeS(3, 2, other, picked(c, 10, 3, 11, 4, 12, 5, 7, 6, 8, 7, 9, 8)), true
	}
	return 0, false
}
