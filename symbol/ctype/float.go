package ctype

import (
	"bytes"
	"math"
	"math/big"
	"strconv"

	"tracewell/arch"
)

// appendFloat has as many digits as tell each number from all others.
func appendFloat(dst, b []byte, t *Type, order arch.ByteOrder) []byte {
	switch {
	case t.Size == 4:
		n := arch.Uint(b, order)
		return appendDouble(dst, float64(math.Float32frombits(uint32(n))), n&(1<<23-1), n>>31 != 0, 9)
	case t.Size == 8:
		n := arch.Uint(b, order)
		return appendDouble(dst, math.Float64frombits(n), n&(1<<52-1), n>>63 != 0, 17)
	case len(b) >= 10 && littleEndian(order) && t.Name != "_Float128" && t.Name != "__float128":
		return appendExtended(dst, arch.Uint(b[:8], order), arch.Uint(b[8:10], order))
	}
	return appendHex(dst, b)
}

func appendDouble(dst []byte, f float64, mantissa uint64, negative bool, digits int) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case math.IsNaN(f):
		return appendNaN(dst, mantissa, negative)
	}
	return appendGeneral(dst, strconv.AppendFloat(nil, f, 'g', digits, 64))
}

func appendNaN(dst []byte, mantissa uint64, negative bool) []byte {
	if negative {
		dst = append(dst, '-')
	}
	return append(strconv.AppendUint(append(dst, "nan(0x"...), mantissa, 16), ')')
}

// appendExtended writes a number of the x87: the mantissa with its leading bit, then sign and exponent.
func appendExtended(dst []byte, mantissa, head uint64) []byte {
	const infinite = 0x7fff
	exponent, negative := int(head&infinite), head>>15 != 0
	switch {
	case exponent == infinite && mantissa<<1 != 0:
		return appendNaN(dst, mantissa, negative)
	case exponent == infinite && negative:
		return append(dst, "-inf"...)
	case exponent == infinite:
		return append(dst, "inf"...)
	}
	if negative {
		dst = append(dst, '-')
	}
	f := new(big.Float).SetPrec(64).SetUint64(mantissa)
	f.SetMantExp(f, max(exponent, 1)-16383-63)
	return appendGeneral(dst, f.Append(nil, 'g', 18))
}

// appendGeneral writes a number as C's %g does, without zeros at the end of a fraction.
func appendGeneral(dst, text []byte) []byte {
	mantissa, exponent, scientific := bytes.Cut(text, []byte{'e'})
	if bytes.IndexByte(mantissa, '.') >= 0 {
		mantissa = bytes.TrimRight(bytes.TrimRight(mantissa, "0"), ".")
	}
	dst = append(dst, mantissa...)
	if scientific {
		dst = append(append(dst, 'e'), exponent...)
	}
	return dst
}
