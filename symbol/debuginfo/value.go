package debuginfo

import (
	"tracewell/arch"
)

// Class is what kind of value an attribute has.
type Class uint8

// The classes of values.
const (
	ClassAddress   Class = iota + 1
	ClassConstant        // of which the attribute alone knows whether it is signed
	ClassUnsigned        // a constant
	ClassSigned          // a constant
	ClassString          // text
	ClassReference       // to another DIE
	ClassExpr            // a DWARF expression
	ClassBlock           // bytes; in DWARF 2 and 3 also an expression
	ClassFlag            // yes or no
	ClassSection         // an offset into another section: of a list of locations or ranges, of line numbers
	ClassListIndex       // the number of a list of locations or ranges
)

// Value is the value of an attribute. Its bytes are those of the file: they are not to be written to, and go with it.
type Value struct {
	Class Class

	num   uint64
	bytes []byte
	size  uint8 // in bytes, of ClassConstant
}

// Uint is the value of a constant, flag, section offset or list index, without a sign.
func (v Value) Uint() uint64 { return v.num }

// Int is the value of a constant with a sign; one that is written in 1, 2 or 4 bytes is extended.
func (v Value) Int() int64 {
	if v.Class != ClassConstant || v.size == 0 {
		return int64(v.num)
	}
	shift := 64 - 8*uint(v.size)
	return int64(v.num<<shift) >> shift
}

// Addr is an address.
func (v Value) Addr() arch.Addr { return arch.Addr(v.num) }

// Offset is the DIE that is referred to.
func (v Value) Offset() Offset { return Offset(v.num) }

// Bytes are those of an expression, a block or a string.
func (v Value) Bytes() []byte { return v.bytes }

// String is the text of a string.
func (v Value) String() string { return string(v.bytes) }

// value reads an attribute. What refers outside its section is no value.
func (u *Unit) value(c *cursor, s attrSpec) (Value, bool) {
	how := s.form
	if how == formIndirect {
		if how = form(c.uleb()); how == formIndirect || how == formImplicit {
			c.fail()
		}
	}
	sh := how.shape()
	v := Value{Class: sh.class}
	switch size := u.format.size(sh.size); size {
	case sizeText:
		v.bytes = c.text()
	case sizeBlock:
		v.bytes = c.take(c.uleb())
	case sizeBlock1:
		v.bytes = c.take(uint64(c.u8()))
	case sizeBlock2:
		v.bytes = c.take(uint64(c.u16()))
	case sizeBlock4:
		v.bytes = c.take(uint64(c.u32()))
	case 16:
		v.bytes = c.take(16)
	case sizeLeb:
		if how == formSdata {
			v.num = uint64(c.sleb())
		} else {
			v.num = c.uleb()
		}
	case 0:
		v.num = 1
		if how == formImplicit {
			v.num = uint64(s.implicit)
		}
	case sizeUnknown, sizeIndirect:
		c.fail()
	default:
		v.num = c.uint(size)
		v.size = uint8(size)
	}
	return v, !c.bad && u.resolve(&v, how)
}

// resolve turns indexes and offsets into what they stand for.
func (u *Unit) resolve(v *Value, how form) bool {
	ok := true
	switch v.Class {
	case ClassString:
		if how != formString {
			v.bytes, ok = u.text(how, v.num)
		}
	case ClassReference:
		var off Offset
		off, ok = u.reference(how, v.num)
		v.num = uint64(off)
	case ClassAddress:
		if how != formAddr {
			var addr arch.Addr
			addr, ok = u.address(v.num)
			v.num = uint64(addr)
		}
	}
	return ok
}

// text is the string that a form means by a number.
func (u *Unit) text(how form, n uint64) ([]byte, bool) {
	section := u.space.str
	switch how {
	case formLineStrp:
		section = u.space.lineStr
	case formStrpSup, formGNUStrpAlt:
		if u.space.alt == nil {
			return nil, false
		}
		section = u.space.alt.str
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStrx:
		c := u.cursorAt(u.space.strOffsets, indexed(u.strOffsetsBase, n, u.format.offsetSize()))
		n = c.offset(u.format.dwarf64)
		if c.bad {
			return nil, false
		}
	}
	b := textAt(section, n)
	return b, b != nil
}

// indexed is where an element of a table lies; past everything when that cannot be said in 64 bits.
func indexed(base, index uint64, size int) uint64 {
	if index > 1<<40 || base > 1<<60 {
		return 1 << 62
	}
	return base + index*uint64(size)
}

// address is an entry of the table of addresses, which is always in the file that was linked.
func (u *Unit) address(index uint64) (arch.Addr, bool) {
	owner := u
	if u.skeleton != nil {
		owner = u.skeleton
	}
	c := owner.cursorAt(owner.space.addr, indexed(owner.addrBase, index, owner.AddrSize))
	addr := c.addr()
	return addr, !c.bad
}

// reference is the DIE that a form means by a number.
func (u *Unit) reference(how form, n uint64) (Offset, bool) {
	switch how {
	case formRefAddr:
		return u.space.refBase + Offset(n), n < spaceSize
	case formRefSig8:
		off, ok := u.space.file.signatures[n]
		return off, ok
	case formRefSup4, formRefSup8, formGNURefAlt:
		if u.space.alt == nil || n >= spaceSize {
			return 0, false
		}
		return u.space.alt.base + Offset(n), true
	}
	return u.space.base + Offset(u.start+n), n < u.end-u.start
}
