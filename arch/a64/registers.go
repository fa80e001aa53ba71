package a64

import "math/bits"

// holds reports whether a condition holds. Odd ones negate, but for the last, which always holds.
func (c *core) holds(condition uint32) bool {
	is := func(bit uint32) bool { return c.status&bit != 0 }
	h := true
	switch condition >> 1 {
	case 0: // eq
		h = is(zero)
	case 1: // cs
		h = is(carry)
	case 2: // mi
		h = is(negative)
	case 3: // vs
		h = is(overflow)
	case 4: // hi
		h = is(carry) && !is(zero)
	case 5: // ge
		h = is(negative) == is(overflow)
	case 6: // gt
		h = is(negative) == is(overflow) && !is(zero)
	case 7:
		return true
	}
	return h != (condition&1 != 0)
}

// flag is a bit of the status if it is to be set.
func flag(bit uint32, on bool) uint32 {
	if on {
		return bit
	}
	return 0
}

// setFlags sets the flags of a result.
func (c *core) setFlags(v uint64, carries, overflows bool) {
	set := flag(negative, v>>(c.width()-1) != 0) | flag(zero, v == 0) | flag(carry, carries) | flag(overflow, overflows)
	c.Set(Status, uint64(c.status&^(negative|zero|carry|overflow)|set))
}

// add adds or subtracts, by bit 30, with flags, by bit 29. Without flags the result may be for the stack pointer (stack).
func (c *core) add(a, b uint64, stack bool) {
	carried := uint64(0)
	if c.is(30) {
		b, carried = ^b, 1
	}
	c.sum(a, b, carried, stack)
}

func (c *core) sum(a, b, carried uint64, stack bool) {
	a, b = c.narrowed(a), c.narrowed(b)
	v, out := bits.Add64(a, b, carried)
	if c.width() == 32 {
		out = v >> 32
		v = c.narrowed(v)
	}
	if c.is(29) {
		c.setFlags(v, out != 0, (a^v)&(b^v)>>(c.width()-1) != 0)
	}
	c.put(v, stack && !c.is(29))
}

// put writes the result to a register, of which 31 may be the stack pointer.
func (c *core) put(v uint64, stack bool) {
	if stack {
		c.Set(c.d(), c.narrowed(v))
	} else {
		c.write(c.d(), v)
	}
}

// logical is and, orr, eor or ands, by bits 29 and 30.
func (c *core) logical(a, b uint64, stack bool) {
	var v uint64
	switch c.field(29, 2) {
	case 0, 3:
		v = a & b
	case 1:
		v = a | b
	case 2:
		v = a ^ b
	}
	v = c.narrowed(v)
	sets := c.field(29, 2) == 3
	if sets {
		c.setFlags(v, false, false)
	}
	c.put(v, stack && !sets)
}

// registers are operations of registers.
func (c *core) registers() {
	switch c.field(24, 5) {
	case 10: // and and its like, with the second operand negated by bit 21
		b := c.shifted(c.field(22, 2), c.read(c.m()), int(c.field(10, 6)))
		if c.is(21) {
			b = ^b
		}
		c.logical(c.read(c.n()), b, false)
	case 11:
		if c.is(21) {
			c.addExtended()
		} else if c.field(22, 2) == 3 {
			c.Refuse()
		} else {
			c.add(c.read(c.n()), c.shifted(c.field(22, 2), c.read(c.m()), int(c.field(10, 6))), false)
		}
	case 26:
		c.selects()
	case 27:
		c.product()
	default:
		c.Refuse()
	}
}

// shifted is a number shifted left, right, right with its sign, or around.
func (c *core) shifted(kind uint32, v uint64, n int) uint64 {
	width := c.width()
	if n >= width {
		c.Refuse()
		return 0
	}
	switch kind {
	case 0:
		return c.narrowed(v << n)
	case 1:
		return c.narrowed(v) >> n
	case 2:
		return c.narrowed(uint64(int64(extended(v, width)) >> n))
	}
	return c.narrowed(c.narrowed(v)>>n | v<<(width-n))
}

// extend is a register of which some low bits count, with or without a sign, by the number that instructions have for it.
func (c *core) extend(kind uint32, r int) uint64 {
	v, size := uint64(0), 8<<(kind&3)
	if r != sp {
		v = c.Get(r)
	}
	if kind&4 != 0 {
		return extended(v, size)
	}
	return v << (64 - size) >> (64 - size)
}

// addExtended adds or subtracts a register that is extended and shifted.
func (c *core) addExtended() {
	shift := c.field(10, 3)
	if c.field(22, 2) != 0 || shift > 4 {
		c.Refuse()
		return
	}
	c.add(c.pointer(c.n()), c.extend(c.field(13, 3), c.m())<<shift, true)
}

// selects has choices by a condition, sums with carry, shifts by registers and quotients.
func (c *core) selects() {
	a, b := c.read(c.n()), c.read(c.m())
	switch c.field(21, 3) {
	case 0: // adc, sbc
		if c.field(10, 6) != 0 {
			c.Refuse()
		}
		if c.is(30) {
			b = ^b
		}
		c.sum(a, b, uint64(c.status/carry&1), false)
	case 4: // csel and its like
		if c.is(29) || c.is(11) {
			c.Refuse()
		}
		if !c.holds(c.field(12, 4)) {
			if a = b; c.is(30) {
				a = ^a
			}
			if c.is(10) {
				a++
			}
		}
		c.write(c.d(), a)
	case 6:
		c.quotient(a, b)
	default:
		c.Refuse()
	}
}

// quotient has quotients, and shifts by registers.
func (c *core) quotient(a, b uint64) {
	if c.field(29, 2) != 0 {
		c.Refuse()
		return
	}
	switch kind := c.field(10, 6); kind {
	case 2, 3:
		if kind == 3 { // with signs
			a, b = extended(a, c.width()), extended(b, c.width())
		}
		switch {
		case b == 0:
			a = 0
		case kind == 2:
			a /= b
		case b == ^uint64(0): // the one quotient that may overflow
			a = -a
		default:
			a = uint64(int64(a) / int64(b))
		}
		c.write(c.d(), a)
	case 8, 9, 10, 11:
		c.write(c.d(), c.shifted(kind-8, a, int(b)&(c.width()-1)))
	default:
		c.Refuse()
	}
}

// product has madd and msub.
func (c *core) product() {
	product := c.read(c.n()) * c.read(c.m())
	if c.field(21, 3) != 0 || c.field(29, 2) != 0 {
		c.Refuse()
	}
	if c.is(15) {
		product = -product
	}
	c.write(c.d(), c.read(int(c.field(10, 5)))+product)
}
