package tdesc

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"tracewell/arch"
)

// parse writes a number given as text over the value at the start of b.
func (f *floatFormat) parse(text string, b []byte, order arch.ByteOrder) error {
	digits, negative := strings.CutPrefix(text, "-")
	v := float{format: f, exponent: f.top()}
	if payload, ok := strings.CutPrefix(digits, "nan("); ok {
		v.mantissa, ok = new(big.Int).SetString(strings.TrimSuffix(payload, ")"), 0)
		if !ok || v.mantissa.Sign() <= 0 || v.mantissa.BitLen() > f.mantissa {
			return fmt.Errorf("found %q, expected nan(0x…) of at most %d bits", text, f.mantissa)
		}
	} else if digits == "inf" {
		v = f.infinity()
	} else {
		x, _, err := big.ParseFloat(digits, 10, parsePrecision, big.ToNearestEven)
		if err != nil || x.Signbit() || x.IsInf() {
			return fmt.Errorf("found %q, expected a floating-point number", text)
		}
		v = f.round(x)
		if f.pair && v.exponent != f.top() {
			rest := f.round(x.Sub(x, v.magnitude()))
			rest.negative = x.Sign() != 0 && x.Signbit() != negative
			v.rest = &rest
		}
	}
	v.negative = negative
	f.write(v, b, order)
	return nil
}

// top is the stored exponent of infinities and NaNs.
func (f *floatFormat) top() int { return 1<<f.exponent - 1 }

// infinity has its integer bit set where its absence would be invalid.
func (f *floatFormat) infinity() float {
	v := float{format: f, exponent: f.top(), mantissa: new(big.Int)}
	if f.checked {
		v.mantissa.SetBit(v.mantissa, f.fraction(), 1)
	}
	return v
}

// parsePrecision is so many more bits than any format has that rounding twice makes no difference to a text that tells the
// values of the format apart.
const parsePrecision = 512

// round gives the value nearest to the size of a number, of two the even one, without a sign.
func (f *floatFormat) round(x *big.Float) float {
	x = new(big.Float).Abs(x)
	bias := 1<<(f.exponent-1) - 1
	exponent := max(x.MantExp(nil)-1+bias, 1)
	if exponent >= f.top() {
		return f.infinity()
	}
	scaled := x.SetMantExp(x, f.fraction()+bias-exponent)
	mantissa, _ := scaled.Int(nil)
	switch rest := scaled.Sub(scaled, new(big.Float).SetInt(mantissa)); rest.Cmp(big.NewFloat(0.5)) {
	case 0:
		mantissa.Add(mantissa, big.NewInt(int64(mantissa.Bit(0))))
	case 1:
		mantissa.Add(mantissa, big.NewInt(1))
	}
	if mantissa.BitLen() > f.fraction()+1 {
		mantissa.Rsh(mantissa, 1)
		exponent++
	}
	switch {
	case exponent == f.top():
		return f.infinity()
	case mantissa.Bit(f.fraction()) == 0:
		exponent = 0
	case !f.explicit:
		mantissa.SetBit(mantissa, f.fraction(), 0)
	}
	return float{format: f, exponent: exponent, mantissa: mantissa}
}

// write is the opposite of read.
func (f *floatFormat) write(v float, b []byte, order arch.ByteOrder) {
	size := f.bytes()
	bits := new(big.Int).Lsh(big.NewInt(int64(v.exponent)), uint(f.mantissa+f.space))
	bits.Or(bits, v.mantissa)
	if v.negative {
		bits.SetBit(bits, f.mantissa+f.space+f.exponent+f.gap, 1)
	}
	bits.FillBytes(b[:size])
	switch {
	case isBig(order):
	case f.words:
		copy(b, swapWords(b[:size]))
	default:
		slices.Reverse(b[:size])
	}
	switch {
	case !f.pair:
	case v.rest == nil:
		clear(b[size:])
	default:
		f.write(*v.rest, b[size:], order)
	}
}
