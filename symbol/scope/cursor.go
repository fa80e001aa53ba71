package scope

import "tracewell/arch"

// cursor reads an expression, an operator and its operands at a time. What is beyond its end is zero, and sets short; the compiler
// looks at that once per operator. The readers of package debuginfo are not exported: they need a unit around them.
type cursor struct {
	code  []byte
	at    int
	order arch.ByteOrder
	short bool
}

func (c *cursor) more() bool { return c.at < len(c.code) && !c.short }

// bytes returns the next n bytes, nil if there are fewer.
func (c *cursor) bytes(n uint64) []byte {
	if c.short || n > uint64(len(c.code)-c.at) {
		c.short = true
		return nil
	}
	c.at += int(n)
	return c.code[c.at-int(n) : c.at]
}

func (c *cursor) byte() byte {
	if b := c.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// integer takes a number of size bytes, with a sign if size is negative.
func (c *cursor) integer(size int) int64 {
	if size >= 0 {
		return int64(arch.Uint(c.bytes(uint64(size)), c.order))
	}
	up := 64 + 8*size // the sign is brought to the top of the cell and back
	return int64(arch.Uint(c.bytes(uint64(-size)), c.order)<<up) >> up
}

// unsigned reads an unsigned LEB128 number, cut to 64 bits.
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

// signed reads a signed LEB128 number, cut to 64 bits.
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
