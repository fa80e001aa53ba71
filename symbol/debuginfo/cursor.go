package debuginfo

import (
	"bytes"
	"encoding/binary"
	"math"

	"tracewell/arch"
)

// cursor reads a section from an offset on. Reading past the end returns zeros and sets bad for good; so a run of reads needs one
// check at its end, and no read of a damaged file can fail in any other way.
//
// Invariant: at is never beyond len(data). The subtractions below rely on it.
type cursor struct {
	encoding
	data []byte
	at   uint64
	bad  bool
}

// encoding is how numbers are written. The zero value is of use where there are none but those of LEB128.
type encoding struct {
	big      bool  // the highest byte first
	addrSize uint8 // of an address, in bytes: 2, 4 or 8
}

// cursorAt is a cursor over data that are written so.
func (e encoding) cursorAt(data []byte, at uint64) cursor {
	c := cursorAt(data, at)
	c.encoding = e
	return c
}

func (e encoding) order() arch.ByteOrder {
	if e.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// truncate reduces a sum to the width of an address. In a file of 32 bits base + offset wraps around at 2^32, and the base address
// selector of .debug_loc and .debug_ranges is all ones in that width.
func (e encoding) truncate(sum uint64) arch.Addr {
	return arch.Addr(sum & (math.MaxUint64 >> (64 - 8*uint(e.addrSize))))
}

// cursorAt is a cursor at an offset that comes from a file and may be anything.
func cursorAt(data []byte, at uint64) cursor {
	c := cursor{data: data, at: at}
	if at > uint64(len(data)) {
		c.fail()
	}
	return c
}

// fail marks the cursor as bad and moves it to the end, so that loops over more end as well.
func (c *cursor) fail() {
	c.bad = true
	c.at = uint64(len(c.data))
}

// more reports whether there is anything left to read.
func (c *cursor) more() bool { return c.at < uint64(len(c.data)) }

// bytes returns the next n bytes without copying, nil if there are fewer. Its capacity ends where it does: appending copies.
func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.data))-c.at {
		c.fail()
		return nil
	}
	b := c.data[c.at : c.at+n : c.at+n]
	c.at += n
	return b
}

func (c *cursor) skip(n uint64) {
	if n > uint64(len(c.data))-c.at {
		c.fail()
		return
	}
	c.at += n
}

func (c *cursor) u8() uint8 {
	if c.at >= uint64(len(c.data)) {
		c.fail()
		return 0
	}
	b := c.data[c.at]
	c.at++
	return b
}

func (c *cursor) u16() uint16 { return uint16(c.uint(2)) }
func (c *cursor) u32() uint32 { return uint32(c.uint(4)) }
func (c *cursor) u64() uint64 { return c.uint(8) }

// uint reads an unsigned integer of 1 to 8 bytes; of 3 as well, which DW_FORM_strx3 and addrx3 have. The little-endian sizes that
// every file of x86-64 consists of come first, without a loop over bytes.
func (c *cursor) uint(size int) uint64 {
	b := c.bytes(uint64(size))
	if c.big {
		return arch.Uint(b, binary.BigEndian)
	}
	switch len(b) {
	case 0:
		return 0
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	}
	return arch.Uint(b, binary.LittleEndian)
}

// addr reads an address.
func (c *cursor) addr() arch.Addr { return arch.Addr(c.uint(int(c.addrSize))) }

// offset reads an offset into a section, whose size depends on the format of the unit.
func (c *cursor) offset(dwarf64 bool) uint64 {
	if dwarf64 {
		return c.u64()
	}
	return uint64(c.u32())
}

// length reads the initial length of a unit, table or entry (DWARF 5, 7.4) and whether it selects the 64-bit format: 0xffffffff
// followed by 8 bytes. Values from 0xfffffff0 are reserved.
func (c *cursor) length() (n uint64, dwarf64 bool) {
	n = uint64(c.u32())
	if n == 0xffffffff {
		return c.u64(), true
	}
	if n >= 0xfffffff0 {
		c.fail()
		return 0, false
	}
	return n, false
}

// part is a cursor over the next n bytes, which it passes. When there are fewer, it has what there is.
func (c *cursor) part(n uint64) cursor {
	n = min(n, uint64(len(c.data))-c.at)
	p := cursor{encoding: c.encoding, data: c.data[:c.at+n], at: c.at}
	c.at += n
	return p
}

// uleb reads an unsigned LEB128 number (DWARF 5, 7.6). Nearly all of them, abbreviation codes first of all, are of one byte.
func (c *cursor) uleb() uint64 {
	if c.at < uint64(len(c.data)) {
		if b := c.data[c.at]; b < 0x80 {
			c.at++
			return uint64(b)
		}
	}
	return c.longUleb()
}

// longUleb reads one of any length. Bits beyond 64 are dropped: padding with 0x80 bytes is legal.
func (c *cursor) longUleb() uint64 {
	var n uint64
	for shift := uint(0); ; shift += 7 {
		b := c.u8()
		if shift < 64 {
			n |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			return n
		}
	}
}

// sleb reads a signed LEB128 number: bit 6 of its last byte is the sign.
func (c *cursor) sleb() int64 {
	var n int64
	for shift := uint(0); ; shift += 7 {
		b := c.u8()
		if shift < 64 {
			n |= int64(b&0x7f) << shift
		}
		if b < 0x80 {
			if b&0x40 != 0 && shift+7 < 64 {
				n |= -1 << (shift + 7)
			}
			return n
		}
	}
}

// skipLeb passes a number of either sign.
func (c *cursor) skipLeb() {
	for c.u8() >= 0x80 {
	}
}

// text reads a string that ends in a zero byte, which it passes.
func (c *cursor) text() []byte {
	rest := c.data[c.at:]
	n := bytes.IndexByte(rest, 0)
	if n < 0 {
		c.fail()
		return nil
	}
	c.at += uint64(n) + 1
	return rest[:n:n]
}

// textAt is the string at an offset of a section of strings, nil when that is outside.
func textAt(section []byte, at uint64) []byte {
	c := cursorAt(section, at)
	return c.text()
}
