package tdesc

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// floatFormat is a binary floating-point format: from the most significant bit a sign, unused bits, an exponent and a
// mantissa. A value in more bytes than its bits need has them at the least significant end.
type floatFormat struct {
	gap      int // unused bits between sign and exponent
	exponent int // bits
	mantissa int // bits, the integer bit included where it is explicit
	explicit bool
	checked  bool // patterns whose integer bit contradicts the exponent are invalid
	words    bool // in little-endian targets, 32-bit words most significant first and each little-endian
}

var (
	ieeeHalf   = floatFormat{exponent: 5, mantissa: 10}
	ieeeSingle = floatFormat{exponent: 8, mantissa: 23}
	ieeeDouble = floatFormat{exponent: 11, mantissa: 52}
	ieeeQuad   = floatFormat{exponent: 15, mantissa: 112}
	bfloat16   = floatFormat{exponent: 8, mantissa: 7}
	i387Ext    = floatFormat{exponent: 15, mantissa: 64, explicit: true, checked: true}
	armFPAExt  = floatFormat{gap: 16, exponent: 15, mantissa: 64, explicit: true, words: true}
)

// float is a value taken apart.
type float struct {
	format   *floatFormat
	negative bool
	exponent int      // as stored
	mantissa *big.Int // as stored
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
		negative: bits.Bit(f.mantissa+f.exponent+f.gap) != 0,
		exponent: int(field(f.mantissa, f.exponent).Int64()),
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
func (f *floatFormat) digits() int { return 2 + (f.fraction()+1)*30103/100000 }

// String prints the value as GDB 13 does: as C's %g with enough digits, inf, and nan with its mantissa.
func (v float) String() string {
	if v.invalid() {
		return "<invalid float value>"
	}
	if v.exponent == 1<<v.format.exponent-1 {
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

// invalid recognizes the patterns that the x87 refuses: an integer bit of 0 in a number that is not denormal, or of 1 in
// one that is.
func (v float) invalid() bool {
	return v.format.checked && (v.exponent != 0) != (v.mantissa.Bit(v.format.fraction()) != 0)
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
	x := new(big.Float).SetPrec(uint(v.format.mantissa) + 1).SetInt(m)
	return x.SetMantExp(x, exponent-bias-v.format.fraction())
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
