package ctype

import "strconv"

// Number is an integer, a truth value or a pointer with its type.
type Number struct {
	Bits uint64 // extended to 64 bits by the sign of the type
	Type *Type
}

// Signed reports whether the number is of a signed type.
func (n Number) Signed() bool { return n.Type.Signed }

// Float returns the number as a floating-point number, which is exact up to 2^53.
func (n Number) Float() float64 {
	if n.Signed() {
		return float64(int64(n.Bits))
	}
	return float64(n.Bits)
}

// Less reports whether n is less than other, which is of the same type.
func (n Number) Less(other Number) bool {
	if n.Signed() {
		return int64(n.Bits) < int64(other.Bits)
	}
	return n.Bits < other.Bits
}

// Append appends the number: a pointer in hexadecimal after 0x, other numbers in decimal.
func (n Number) Append(dst []byte) []byte {
	switch {
	case n.Type.Kind == Pointer:
		return strconv.AppendUint(append(dst, "0x"...), n.Bits, 16)
	case n.Signed():
		return strconv.AppendInt(dst, int64(n.Bits), 10)
	}
	return strconv.AppendUint(dst, n.Bits, 10)
}

// String returns what Append appends.
func (n Number) String() string { return string(n.Append(nil)) }
