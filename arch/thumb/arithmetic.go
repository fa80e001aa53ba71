package thumb

import "math/bits"

// flag is a bit of the status if it is to be set.
func flag(bit uint32, on bool) uint32 {
	if on {
		return bit
	}
	return 0
}

// setFlags gives some flags new values.
func (c *core) setFlags(which, values uint32) {
	if c.keeps {
		return
	}
	c.status = c.status&^which | values&which
	c.Set(Status, uint64(c.status))
}

// logical sets the flags of a result that has no overflow, with a carry from its shift.
func (c *core) logical(v, carried uint32) uint32 {
	c.setFlags(negative|zero|carry, v&negative|flag(zero, v == 0)|flag(carry, carried != 0))
	return v
}

// sum adds two numbers and a carry, and sets all flags by that. A difference is the sum with the complement.
func (c *core) sum(a, b, carryIn uint32) uint32 {
	v, carryOut := bits.Add32(a, b, carryIn)
	c.setFlags(negative|zero|carry|overflow,
		v&negative|flag(zero, v == 0)|flag(carry, carryOut != 0)|flag(overflow, (a^v)&(b^v)>>31 != 0))
	return v
}

// carried is the carry flag as a number.
func (c *core) carried() uint32 { return c.status / carry & 1 }

// holds reports whether a condition holds. Odd ones negate.
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
	}
	return h != (condition&1 != 0)
}

// Kinds of shifts, as instructions number them.
const (
	left       = 0
	right      = 1
	arithmetic = 2
	rotation   = 3
)

// shift shifts a number, and returns what is carried out of it.
func (c *core) shift(kind, v, n uint32) (shifted, carried uint32) {
	if n == 0 {
		return v, c.carried()
	}
	switch kind {
	case left:
		wide := uint64(v) << n
		return uint32(wide), uint32(wide >> 32 & 1)
	case right:
		return uint32(uint64(v) >> n), uint32(uint64(v) >> (n - 1) & 1)
	case arithmetic:
		wide := int64(int32(v))
		return uint32(wide >> n), uint32(wide >> (n - 1) & 1)
	}
	shifted = bits.RotateLeft32(v, -int(n%32))
	return shifted, shifted >> 31
}

// constant shifts by a number in the instruction, of which 0 stands for 32 but for shifts left. rrx is refused.
func (c *core) constant(kind, v, n uint32) (shifted, carried uint32) {
	if n == 0 && kind == rotation {
		c.Refuse()
	}
	if n == 0 && kind != left {
		n = 32
	}
	return c.shift(kind, v, n)
}

// shiftOrAdd has shifts by a constant, and sums and differences of three operands.
func (c *core) shiftOrAdd(i uint32) {
	d, n, m := i&7, c.read(i>>3&7), c.read(i>>6&7)
	if i>>10&1 != 0 {
		m = i >> 6 & 7
	}
	switch i >> 9 & 15 {
	case 12, 14: // add
		c.write(d, c.sum(n, m, 0))
	case 13, 15: // sub
		c.write(d, c.sum(n, ^m, 1))
	default:
		c.write(d, c.logical(c.constant(i>>11&3, n, i>>6&31)))
	}
}

// immediate has mov, cmp, add and sub with a constant of eight bits.
func (c *core) immediate(i uint32) {
	d, imm := i>>8&7, i&255
	switch i >> 11 & 3 {
	case 0:
		c.write(d, c.logical(imm, c.carried()))
	case 1:
		c.sum(c.read(d), ^imm, 1)
	case 2:
		c.write(d, c.sum(c.read(d), imm, 0))
	case 3:
		c.write(d, c.sum(c.read(d), ^imm, 1))
	}
}

// operation is an operation of two of the first eight registers.
func (c *core) operation(kind, d, m uint32) {
	a, b := c.read(d), c.read(m)
	switch kind {
	case 0: // and
		c.write(d, c.logical(a&b, c.carried()))
	case 1: // eor
		c.write(d, c.logical(a^b, c.carried()))
	case 2, 3, 4: // lsl, lsr, asr
		c.write(d, c.logical(c.shift(kind-2, a, b&255)))
	case 5: // adc
		c.write(d, c.sum(a, b, c.carried()))
	case 6: // sbc
		c.write(d, c.sum(a, ^b, c.carried()))
	case 7: // ror
		c.write(d, c.logical(c.shift(rotation, a, b&255)))
	case 8: // tst
		c.logical(a&b, c.carried())
	case 9: // neg
		c.write(d, c.sum(0, ^b, 1))
	case 10: // cmp
		c.sum(a, ^b, 1)
	case 11: // cmn
		c.sum(a, b, 0)
	case 12: // orr
		c.write(d, c.logical(a|b, c.carried()))
	case 13: // mul
		c.write(d, c.logical(a*b, c.carried()))
	case 14: // bic
		c.write(d, c.logical(a&^b, c.carried()))
	case 15: // mvn
		c.write(d, c.logical(^b, c.carried()))
	}
}
