package ctype

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"tracewell/arch"
)

// appendFloat has as many digits as tell each number from all others: C's %g with DBL_DECIMAL_DIG and the like, as GDB has it. strconv
// and math/big write 'g' without zeros at the end, as C does.
func appendFloat(dst, b []byte, t *Type, order arch.ByteOrder) []byte {
	switch {
	case t.Size == 4:
		n := arch.Uint(b, order)
		return appendDouble(dst, float64(math.Float32frombits(uint32(n))), n&(1<<23-1), n>>31 != 0, 9)
	case t.Size == 8:
		n := arch.Uint(b, order)
		return appendDouble(dst, math.Float64frombits(n), n&(1<<52-1), n>>63 != 0, 17)
	}
	name := t.Strip().Name
	switch {
	case t.Size == 2 && strings.HasPrefix(name, "__bf16"):
		return appendIEEE(dst, b, order, 7, 4)
	case t.Size == 2:
		return appendIEEE(dst, b, order, 10, 5)
	case t.Size == 16 && (name == "_Float128" || name == "__float128"):
		return appendIEEE(dst, b, order, 112, 36)
	case len(b) >= 10 && littleEndian(order):
		return appendExtended(dst, arch.Uint(b[:8], order), arch.Uint(b[8:10], order))
	}
	return appendHex(dst, b)
}

// appendIEEE writes a number of IEEE 754 that has so many bits behind the point, and the exponent in those between these and the
// sign.
func appendIEEE(dst, b []byte, order arch.ByteOrder, fraction uint, digits int) []byte {
	raw := bigInt(b, order)
	mantissa := new(big.Int).And(raw, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), fraction), big.NewInt(1)))
	width := uint(8*len(b)) - 1 - fraction
	exponent := int(new(big.Int).Rsh(raw, fraction).Uint64() & (1<<width - 1))
	negative := raw.Bit(8*len(b)-1) != 0
	if negative {
		dst = append(dst, '-')
	}
	switch {
	case exponent == 1<<width-1 && mantissa.Sign() != 0:
		return append(mantissa.Append(append(dst, "nan(0x"...), 16), ')')
	case exponent == 1<<width-1:
		return append(dst, "inf"...)
	case exponent != 0:
		mantissa.SetBit(mantissa, int(fraction), 1)
	}
	f := new(big.Float).SetPrec(fraction + 1).SetInt(mantissa)
	f.SetMantExp(f, max(exponent, 1)-(1<<(width-1)-1)-int(fraction))
	return f.Append(dst, 'g', digits)
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
	return strconv.AppendFloat(dst, f, 'g', digits, 64)
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
	case (exponent == 0) != (mantissa>>63 == 0):
		return append(dst, "<invalid float value>"...)
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
	return f.Append(dst, 'g', 21)
}
