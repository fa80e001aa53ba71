package tdesc

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"tracewell/arch"
)

// floatFormat is a binary floating-point format: from the most significant bit a sign, unused bits, an exponent, unused bits
// and a mantissa. A value in more bytes than its bits need has them at the lowest addresses.
type floatFormat struct {
	gap      int // unused bits between sign and exponent
	exponent int // bits
	space    int // unused bits between exponent and mantissa
	mantissa int // bits, the integer bit included where it is explicit
	explicit bool
	checked  bool // patterns whose integer bit contradicts the exponent are invalid
	words    bool // in little-endian targets, 32-bit words most significant first and each little-endian
	pair     bool // two numbers of this format, of which the sum is meant; the first is the sum rounded to the format
}

var (
	ieeeHalf   = floatFormat{exponent: 5, mantissa: 10}
	ieeeSingle = floatFormat{exponent: 8, mantissa: 23}
	ieeeDouble = floatFormat{exponent: 11, mantissa: 52}
	ieeeQuad   = floatFormat{exponent: 15, mantissa: 112}
	bfloat16   = floatFormat{exponent: 8, mantissa: 7}
	i387Ext    = floatFormat{exponent: 15, mantissa: 64, explicit: true, checked: true}
	ibmPair    = floatFormat{exponent: 11, mantissa: 52, pair: true}
	m68881Ext  = floatFormat{exponent: 15, space: 16, mantissa: 64, explicit: true}
	armFPAExt  = floatFormat{gap: 16, exponent: 15, mantissa: 64, explicit: true, words: true}
)

// float is a value taken apart.
type float struct {
	format   *floatFormat
	negative bool
	exponent int      // as stored
	mantissa *big.Int // as stored
	rest     *float   // the second number of a pair
}

// bytes is the size of a number.
func (f *floatFormat) bytes() int { return (1 + f.gap + f.exponent + f.space + f.mantissa) / 8 }

// read takes apart the value at the start of b.
func (f *floatFormat) read(b []byte, order arch.ByteOrder) float {
	size := f.bytes()
	v := f.decode(f.number(b[:size], order))
	if f.pair {
		rest := f.decode(f.number(b[size:2*size], order))
		v.rest = &rest
	}
	return v
}

// number gives the bits of a value as one number.
func (f *floatFormat) number(b []byte, order arch.ByteOrder) *big.Int {
	if f.words && !isBig(order) {
		return new(big.Int).SetBytes(swapWords(b))
	}
	return unsigned(b, order)
}

// decode takes apart the value whose bytes are given as one number.
func (f *floatFormat) decode(bits *big.Int) float {
	field := func(start, n int) *big.Int {
		mask := new(big.Int).Lsh(big.NewInt(1), uint(n))
		mask.Sub(mask, big.NewInt(1))
		v := new(big.Int).Rsh(bits, uint(start))
		return v.And(v, mask)
	}
	return float{
		format:   f,
		negative: bits.Bit(f.mantissa+f.space+f.exponent+f.gap) != 0,
		exponent: int(field(f.mantissa+f.space, f.exponent).Int64()),
		mantissa: field(0, f.mantissa),
	}
}

// fraction is the number of mantissa bits behind the binary point.
func (f *floatFormat) fraction() int {
	if f.explicit {
		return f.mantissa - 1
	}
	return f.mantissa
}

// digits is the number of decimal digits that GDB prints: as many as tell all values apart.
func (f *floatFormat) digits() int { return 2 + f.precision()*30103/100000 }

// precision is the number of bits of a mantissa with its integer bit, of both mantissas in a pair.
func (f *floatFormat) precision() int {
	if f.pair {
		return 2 * (f.fraction() + 1)
	}
	return f.fraction() + 1
}

// String prints the value as GDB 13 does: as C's %g with enough digits, inf, and nan with its mantissa.
func (v float) String() string {
	if v.invalid() {
		return "<invalid float value>"
	}
	if v.exponent == v.format.top() {
		return v.sign() + v.special()
	}
	return v.sign() + formatG(v.magnitude(), v.format.digits())
}

func (v float) sign() string {
	if v.negative {
		return "-"
	}
	return ""
}

// invalid recognizes the patterns that the x87 refuses, an integer bit of 0 in a number that is not denormal or of 1 in one
// that is; and pairs whose first number is not what the sum rounds to.
func (v float) invalid() bool {
	if v.rest != nil {
		return v.invalidPair()
	}
	return v.format.checked && (v.exponent != 0) != (v.mantissa.Bit(v.format.fraction()) != 0)
}

// invalidPair holds the first number against the exact sum, which has no more bits than there are exponents.
func (v float) invalidPair() bool {
	first := v
	first.rest = nil
	top := v.format.top()
	switch {
	case v.exponent == top && first.special() != "inf":
		return false
	case v.exponent == top || v.rest.exponent == top:
		return v.rest.exponent != 0 || v.rest.mantissa.Sign() != 0
	}
	const exact = 1<<11 + 64
	sum := first.magnitude().SetPrec(exact)
	rest := v.rest.magnitude()
	if v.rest.negative != v.negative {
		rest.Neg(rest)
	}
	if sum.Add(sum, rest); sum.Sign() < 0 {
		return true
	}
	rounded := v.format.round(sum)
	return rounded.exponent != v.exponent || rounded.mantissa.Cmp(v.mantissa) != 0
}

// special prints infinity, or a NaN with its mantissa in groups of 32 bits from the right, of which the first has no
// leading zeros.
func (v float) special() string {
	if v.mantissa.TrailingZeroBits() >= uint(v.format.fraction()) || v.mantissa.Sign() == 0 {
		return "inf"
	}
	rest := (v.format.mantissa - 1) / 32 * 32
	first := new(big.Int).Rsh(v.mantissa, uint(rest))
	low := new(big.Int).Sub(v.mantissa, new(big.Int).Lsh(first, uint(rest)))
	if rest == 0 {
		return fmt.Sprintf("nan(0x%x)", first)
	}
	return fmt.Sprintf("nan(0x%x%0*x)", first, rest/4, low)
}

func (v float) magnitude() *big.Float {
	m := new(big.Int).Set(v.mantissa)
	exponent := v.exponent
	switch {
	case exponent == 0:
		exponent = 1
	case !v.format.explicit:
		m.SetBit(m, v.format.mantissa, 1)
	}
	bias := 1<<(v.format.exponent-1) - 1
	x := new(big.Float).SetPrec(uint(max(v.format.precision(), v.format.mantissa))).SetInt(m)
	x.SetMantExp(x, exponent-bias-v.format.fraction())
	switch {
	case v.rest == nil:
		return x
	case v.rest.negative != v.negative:
		return x.Sub(x, v.rest.magnitude())
	}
	return x.Add(x, v.rest.magnitude())
}

// formatG prints a number that is not negative as C's %.*g does. The exponent decides the style after rounding, trailing
// zeros go, and an exponent has two digits or more.
func formatG(x *big.Float, digits int) string {
	text := x.Text('e', digits-1)
	point := strings.IndexByte(text, 'e')
	exponent, _ := strconv.Atoi(text[point+1:]) // big.Float wrote it
	mantissa := strings.TrimRight(strings.Replace(text[:point], ".", "", 1), "0")
	switch {
	case mantissa == "":
		return "0"
	case exponent < -4 || exponent >= digits:
		return pointAt(mantissa, 1) + fmt.Sprintf("e%+03d", exponent)
	case exponent < 0:
		return "0." + strings.Repeat("0", -exponent-1) + mantissa
	}
	return pointAt(mantissa, exponent+1)
}

// pointAt puts the decimal point behind n digits, padding with zeros as needed.
func pointAt(digits string, n int) string {
	if len(digits) <= n {
		return digits + strings.Repeat("0", n-len(digits))
	}
	return digits[:n] + "." + digits[n:]
}
