package scope

import "tracewell/arch"

// cursor takes an expression apart. What is beyond its end is zero, and makes it short.
type cursor struct {
	code  []byte
	at    int
	order arch.ByteOrder
	short bool
}

func (c *cursor) more() bool { return c.at < len(c.code) && !c.short }

func (c *cursor) take(n uint64) []byte {
	if c.short || n > uint64(len(c.code)-c.at) {
		c.short = true
		return nil
	}
	c.at += int(n)
	return c.code[c.at-int(n) : c.at]
}

func (c *cursor) byte() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

// integer takes a number of size bytes, with a sign if size is negative.
func (c *cursor) integer(size int) int64 {
	if size >= 0 {
		return int64(arch.Uint(c.take(uint64(size)), c.order))
	}
	up := 64 + 8*size
	return int64(arch.Uint(c.take(uint64(-size)), c.order)<<up) >> up
}

func (c *cursor) unsigned() (n uint64) {
	for shift := 0; ; shift += 7 {
		b := c.byte()
		if shift < 64 {
			n |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 {
			return n
		}
	}
}

func (c *cursor) signed() (n int64) {
	for shift := 0; ; shift += 7 {
		b := c.byte()
		if shift < 64 {
			n |= int64(b&0x7f) << shift
		}
		if b&0x80 == 0 {
			if b&0x40 != 0 && shift+7 < 64 {
				n |= -1 << (shift + 7)
			}
			return n
		}
	}
}
