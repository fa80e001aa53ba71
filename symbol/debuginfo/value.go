package debuginfo

import (
	"tracewell/arch"
)

// Class is what kind of value an attribute has.
type Class uint8

// The classes of values.
const (
	ClassAddress   Class = iota + 1
	ClassConstant        // a number of 1, 2, 4 or 8 bytes, which says nothing of a sign
	ClassUnsigned        // a constant without a sign
	ClassSigned          // a constant with a sign
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
}

// Constants are read as compilers write them and GDB reads them. DWARF 5 (7.5.5) leaves the sign of data1 to data8 to the
// attribute, but GCC and Clang write a negative number as sdata or implicit_const always, so that the others have no sign,
// whatever the attribute: data1 200 is 200 even as the value of an int. The converse does not hold: GCC writes the 200 of an
// unsigned char as sdata -56. What a constant means for a variable, an enumerator or a bound depends on its type therefore (As).

// Unsigned returns a constant of an attribute that has no negative values: a size, a count, a code. It is false for a negative
// number, and for what is no constant.
func (v Value) Unsigned() (uint64, bool) {
	return v.num, v.isConstant() && (v.Class != ClassSigned || int64(v.num) >= 0)
}

// Signed returns a constant of an attribute that may have negative values and has no type: an offset. It is false for what is no
// constant.
func (v Value) Signed() (int64, bool) { return int64(v.num), v.isConstant() }

// As returns a constant as an integer of a type of size bytes, 1 to 8, has it: the lowest bytes, extended to 64 bits by the
// sign of the type. It is false for what is no constant.
func (v Value) As(size int, signed bool) (int64, bool) {
	unused := uint(64 - 8*min(max(size, 1), 8))
	if signed {
		return int64(v.num<<unused) >> unused, v.isConstant()
	}
	return int64(v.num << unused >> unused), v.isConstant()
}

func (v Value) isConstant() bool {
	return v.Class == ClassConstant || v.Class == ClassSigned || v.Class == ClassUnsigned
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
		v.bytes = c.bytes(c.uleb())
	case sizeBlock1:
		v.bytes = c.bytes(uint64(c.u8()))
	case sizeBlock2:
		v.bytes = c.bytes(uint64(c.u16()))
	case sizeBlock4:
		v.bytes = c.bytes(uint64(c.u32()))
	case 16:
		v.bytes = c.bytes(16)
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
