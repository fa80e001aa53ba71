package thumb

import "math/bits"

// Fields of instructions of 32 bits, as the manual calls them.
func rn(i uint32) uint32 { return i >> 16 & 15 }
func rt(i uint32) uint32 { return i >> 12 & 15 }
func rd(i uint32) uint32 { return i >> 8 & 15 }
func rm(i uint32) uint32 { return i & 15 }

// extended extends the sign of a number of so many bits.
func extended(v uint32, size int) uint32 { return uint32(int32(v<<(32-size)) >> (32 - size)) }

// isSpecial reports whether a register is one that most instructions must not name.
func isSpecial(r uint32) bool { return r == sp || r == pc }

// long executes an instruction of 32 bits, its first halfword in the upper half.
func (c *core) long(i uint32) {
	branches, plain := i>>15&1 != 0, i>>25&1 != 0
	switch i >> 25 {
	case 0x74: // 1110100
		if i>>22&1 != 0 {
			c.pair(i)
		} else {
			c.list(i)
		}
	case 0x75: // 1110101
		if i>>15&1 != 0 || isSpecial(rm(i)) {
			c.Refuse()
		}
		b, carried := c.constant(i>>4&3, c.read(rm(i)), i>>12&7<<2|i>>6&3)
		c.process(i, b, carried, rd(i) == sp)
	case 0x78, 0x79, 0x7a, 0x7b: // 11110
		switch {
		case branches:
			c.branch(i)
		case plain:
			c.plain(i)
		default:
			b, carried := c.modified(i>>26&1<<11 | i>>12&7<<8 | i&255)
			c.process(i, b, carried, false)
		}
	case 0x7c: // 1111100
		c.single(i)
	case 0x7d: // 1111101
		c.others(i)
	default:
		c.Refuse()
	}
}

// modified is the number that stands for one of twelve bits, and its carry.
func (c *core) modified(imm uint32) (v, carried uint32) {
	low := imm & 255
	if pattern := imm >> 8; low == 0 && pattern >= 1 && pattern <= 3 {
		c.Refuse() // unpredictable
	}
	switch imm >> 8 {
	case 0:
		return low, c.carried()
	case 1:
		return low<<16 | low, c.carried()
	case 2:
		return low<<24 | low<<8, c.carried()
	case 3:
		return low * 0x01010101, c.carried()
	}
	v = bits.RotateLeft32(imm&127|128, -int(imm>>7))
	return v, v >> 31
}

// process is an operation of a register with a second operand, or with that alone. Sums and differences may be of the stack
// pointer, unless they never are.
func (c *core) process(i, b, carried uint32, never bool) {
	kind, n, d := i>>21&15, rn(i), rd(i)
	c.keeps = i>>20&1 == 0
	adds := kind == 8 || kind == 13
	moves := n == pc && (kind == 2 || kind == 3)
	compares := d == pc && !c.keeps && (adds || kind == 0 || kind == 4)
	if never || n == sp && !adds || n == pc && !moves || d == sp && (n != sp || !adds) || d == pc && !compares {
		c.Refuse()
		return
	}
	a := c.read(n)
	if moves {
		a = 0
	}
	var v uint32
	switch kind {
	case 0: // and, tst
		v = c.logical(a&b, carried)
	case 1: // bic
		v = c.logical(a&^b, carried)
	case 2: // orr, mov
		v = c.logical(a|b, carried)
	case 3: // orn, mvn
		v = c.logical(a|^b, carried)
	case 4: // eor, teq
		v = c.logical(a^b, carried)
	case 8: // add, cmn
		v = c.sum(a, b, 0)
	case 10: // adc
		v = c.sum(a, b, c.carried())
	case 11: // sbc
		v = c.sum(a, ^b, c.carried())
	case 13: // sub, cmp
		v = c.sum(a, ^b, 1)
	case 14: // rsb
		v = c.sum(^a, b, 1)
	default:
		c.Refuse()
	}
	if !compares {
		c.write(d, v)
	}
}

// plain has constants of twelve and of sixteen bits, and fields of bits.
func (c *core) plain(i uint32) {
	imm, n, d := i>>26&1<<11|i>>12&7<<8|i&255, rn(i), rd(i)
	base := c.read(n)
	if n == pc {
		base &^= 3
	}
	low, wide := i>>12&7<<2|i>>6&3, i&31+1
	kind := i >> 20 & 31
	if d == pc || d == sp && (n != sp || kind != 0 && kind != 10) || kind > 12 && isSpecial(n) {
		c.Refuse()
		return
	}
	switch kind {
	case 0: // add, adr
		c.write(d, base+imm)
	case 10: // sub, adr
		c.write(d, base-imm)
	case 4: // movw
		c.write(d, n<<12|imm)
	case 12: // movt
		c.write(d, n<<28|imm<<16|c.read(d)&0xffff)
	case 20, 28: // sbfx, ubfx
		if low+wide > 32 || i>>26&1 != 0 || i>>5&1 != 0 {
			c.Refuse()
			return
		}
		v := base << (32 - low - wide)
		if kind == 20 {
			c.write(d, uint32(int32(v)>>(32-wide)))
		} else {
			c.write(d, v>>(32-wide))
		}
	default:
		c.Refuse()
	}
}

// branch has branches and calls, and nop.
func (c *core) branch(i uint32) {
	s, j1, j2 := i>>26&1, i>>13&1, i>>11&1
	far := extended(s<<24|(^(j1^s)&1)<<23|(^(j2^s)&1)<<22|i>>16&1023<<12|i&2047<<1, 25)
	switch i >> 12 & 5 {
	case 0:
		condition := i >> 22 & 15
		if condition >= 14 {
			if i != 0xf3af8000 { // nop, but no other hint
				c.Refuse()
			}
			return
		}
		if c.holds(condition) {
			c.jump(c.read(pc) + extended(s<<20|j2<<19|j1<<18|i>>16&63<<12|i&2047<<1, 21))
		}
	case 5: // bl
		c.link()
		c.jump(c.read(pc) + far)
	case 1:
		c.jump(c.read(pc) + far)
	default:
		c.Refuse()
	}
}

// list loads or stores a list of registers.
func (c *core) list(i uint32) {
	base, list, loads, writes := rn(i), i&0xffff, i>>20&1 != 0, i>>21&1 != 0
	down := i>>23&3 == 2
	if i>>23&3 == 0 || i>>23&3 == 3 || base == pc || list>>sp&1 != 0 || !loads && list>>pc&1 != 0 || list>>lr&3 == 3 ||
		bits.OnesCount32(list) < 2 {
		c.Refuse()
		return
	}
	c.multiple(base, list, loads, down, writes)
}

// pair loads or stores two registers.
func (c *core) pair(i uint32) {
	first, writes, t, t2 := i>>24&1 != 0, i>>21&1 != 0, rt(i), rd(i)
	loads, n := i>>20&1 != 0, rn(i)
	base := c.read(n)
	near := n == sp || n == pc
	if !first && !writes || isSpecial(t) || isSpecial(t2) || loads && t == t2 || writes && (n == t || n == t2) ||
		n == pc && !loads || isSpecial(n) && writes { // of the stack pointer, decoders doubt that
		c.Refuse()
		return
	}
	if n == pc {
		base &^= 3
	}
	addr := c.indexed(base, n, i&255<<2, i>>23&1 != 0, first, writes)
	for k, r := range [2]uint32{t, t2} {
		if at := addr + 4*uint32(k); loads {
			c.load(r, at, 4, false, near)
		} else {
			c.store(r, at, 4, near)
		}
	}
}

// indexed is the address of an access with an offset that counts first or afterwards, and that may be written to the base.
func (c *core) indexed(base, n, offset uint32, up, first, writes bool) uint32 {
	moved := base - offset
	if up {
		moved = base + offset
	}
	if writes {
		c.write(n, moved)
	}
	if first {
		return moved
	}
	return base
}

// single loads or stores one register.
func (c *core) single(i uint32) {
	n, t, size := rn(i), rt(i), i>>21&3
	loads, signed, up := i>>20&1 != 0, i>>24&1 != 0, i>>23&1 != 0
	if isSpecial(t) || size == 3 || signed && (!loads || size == 2) || n == pc && !loads {
		c.Refuse()
		return
	}
	var addr uint32
	first, raised, writes := i>>10&1 != 0, i>>9&1 != 0, i>>8&1 != 0
	switch {
	case n == pc:
		addr = c.indexed(c.read(pc)&^3, n, i&4095, up, true, false)
	case up:
		addr = c.read(n) + i&4095
	case i>>11&1 != 0:
		if !first && !writes || first && raised && !writes || writes && n == t {
			c.Refuse()
			return
		}
		addr = c.indexed(c.read(n), n, i&255, raised, first, writes)
	case i>>6&31 == 0 && !isSpecial(rm(i)):
		addr = c.read(n) + c.read(rm(i))<<(i>>4&3)
	default:
		c.Refuse()
		return
	}
	// An offset from a register may lead anywhere.
	near := isSpecial(n) && (up || n == pc || i>>11&1 != 0)
	if loads {
		c.load(t, addr, 1<<size, signed, near)
	} else {
		c.store(t, addr, 1<<size, near)
	}
}

// others has shifts by registers, extensions and products.
func (c *core) others(i uint32) {
	n, d, m := rn(i), rd(i), rm(i)
	if isSpecial(d) || isSpecial(m) || n == sp {
		c.Refuse()
		return
	}
	c.keeps = i>>20&1 == 0
	rotated, _ := c.shift(rotation, c.read(m), i>>4&3<<3)
	switch kind := i >> 20 & 31; {
	case kind < 8 && i>>4&0xf0f == 0xf00 && n != pc:
		c.write(d, c.logical(c.shift(i>>21&3, c.read(n), c.read(m)&255)))
	case i>>4&0xf0c != 0xf08 || n != pc:
		c.product(i)
	case kind == 0: // sxth
		c.write(d, uint32(int16(rotated)))
	case kind == 1: // uxth
		c.write(d, uint32(uint16(rotated)))
	case kind == 4: // sxtb
		c.write(d, uint32(int8(rotated)))
	case kind == 5: // uxtb
		c.write(d, uint32(uint8(rotated)))
	default:
		c.Refuse()
	}
}

// product has mul, mla and mls.
func (c *core) product(i uint32) {
	a, product := rt(i), c.read(rn(i))*c.read(rm(i))
	if i>>20&31 != 16 || i>>5&7 != 0 || rn(i) == pc || a == sp || a == pc && i>>4&1 != 0 {
		c.Refuse()
		return
	}
	switch {
	case a == pc:
		c.write(rd(i), product)
	case i>>4&1 != 0:
		c.write(rd(i), c.read(a)-product)
	default:
		c.write(rd(i), c.read(a)+product)
	}
}
