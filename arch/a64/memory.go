package a64

// accesses are loads and stores.
func (c *core) accesses() {
	switch {
	case c.is(26): // of vectors
		c.Refuse()
	case c.field(27, 3) == 5:
		c.pair()
	case c.field(27, 3) == 3 && !c.is(24):
		c.literal()
	case c.field(27, 3) == 7:
		c.single()
	default:
		c.Refuse()
	}
}

// base is the address in the base register. A stack pointer has to be aligned to be used as one.
func (c *core) base() uint64 {
	base := c.Get(c.n())
	if c.n() == sp && base%16 != 0 {
		c.Refuse()
	}
	return base
}

// load reads size bytes of memory to a register of 64 bits, extended by their sign to so many bits, or by zeros (0).
func (c *core) load(r int, addr uint64, size, signed int, near bool) {
	v := c.Load(addr, size, near)
	if signed > 0 {
		v = extended(v, 8*size) << (64 - signed) >> (64 - signed)
	}
	if r != sp {
		c.Set(r, v)
	}
}

// store writes the low size bytes of a register to memory.
func (c *core) store(r int, addr uint64, size int, near bool) {
	v := uint64(0)
	if r != sp {
		v = c.Get(r)
	}
	c.Store(addr, size, v, near)
}

// literal loads a constant that lies near the code.
func (c *core) literal() {
	addr := c.at + c.signed(5, 19)<<2
	switch c.field(30, 2) {
	case 0:
		c.load(c.d(), addr, 4, 0, true)
	case 1:
		c.load(c.d(), addr, 8, 0, true)
	case 2:
		c.load(c.d(), addr, 4, 64, true)
	default:
		c.Refuse()
	}
}

// pair loads or stores two registers.
func (c *core) pair() {
	t, t2, size := c.d(), int(c.field(10, 5)), 4<<c.field(31, 1)
	loads, mode := c.is(22), c.field(23, 2)
	writes := mode != 2
	if c.is(30) || mode == 0 || loads && t == t2 || writes && c.n() != sp && (c.n() == t || c.n() == t2) {
		c.Refuse()
		return
	}
	addr := c.indexed(c.signed(15, 7)*uint64(size), mode != 1, writes)
	for _, r := range [2]int{t, t2} {
		if loads {
			c.load(r, addr, size, 0, c.n() == sp)
		} else {
			c.store(r, addr, size, c.n() == sp)
		}
		addr += uint64(size)
	}
}

// indexed is the address of an access with an offset that counts first or afterwards, and that may be written to the base.
func (c *core) indexed(offset uint64, first, writes bool) uint64 {
	base := c.base()
	if writes {
		c.Set(c.n(), base+offset)
	}
	if first {
		return base + offset
	}
	return base
}

// single loads or stores one register.
func (c *core) single() {
	t, scale, near := c.d(), c.field(30, 2), c.n() == sp
	size, kind := 1<<scale, c.field(22, 2)
	if kind == 2 && scale == 3 || kind == 3 && scale >= 2 { // a prefetch, or nothing
		c.Refuse()
		return
	}
	var addr uint64
	switch mode := c.field(10, 2); {
	case c.is(24):
		addr = c.indexed(uint64(c.field(10, 12))<<scale, true, false)
	case c.is(21) && mode == 2 && c.is(14):
		addr = c.base() + c.extend(c.field(13, 3), c.m())<<(scale*c.field(12, 1))
		near = false // an offset from a register may lead anywhere
	case c.is(21) || mode == 2 || mode != 0 && t == c.n() && t != sp:
		c.Refuse()
		return
	default:
		addr = c.indexed(c.signed(12, 9), mode != 1, mode != 0)
	}
	switch kind {
	case 0:
		c.store(t, addr, size, near)
	case 1:
		c.load(t, addr, size, 0, near)
	case 2:
		c.load(t, addr, size, 64, near)
	case 3:
		c.load(t, addr, size, 32, near)
	}
}
