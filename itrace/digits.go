package itrace

import (
	"encoding/binary"
	"math"
	"math/bits"

	"tracewell/itrace/internal/swar"
)

// digitValues has the value of each hexadecimal digit, wild for what stands for an unknown one, and notDigit.
var digitValues = func() (values [256]uint8) {
	for i := range values {
		values[i] = notDigit
	}
	for i, c := range "0123456789abcdef" {
		values[c] = uint8(i)
	}
	for i, c := range "ABCDEF" {
		values[c] = uint8(10 + i)
	}
	for _, c := range "xX-.#" {
		values[c] = wild
	}
	return values
}()

const (
	notDigit = 0xff
	wild     = 0x80
)

// WordEnd returns where the word at line[at:] ends: at the next blank or control character, or with the line.
func WordEnd(line []byte, at int) int {
	// Eight bytes at once, as long as there is memory behind them, the line's or not: the lowest byte below 0x21 is the first.
	for room := line[:cap(line)]; at+8 <= len(room); at += 8 {
		x := binary.LittleEndian.Uint64(room[at : at+8])
		if low := (x - 0x21*swar.Ones) &^ x & (0x80 * swar.Ones); low != 0 {
			return min(at+bits.TrailingZeros64(low)/8, len(line))
		}
	}
	for at < len(line) && line[at] > ' ' {
		at++
	}
	return min(at, len(line))
}

// ParseDecimal returns the value of decimal digits, of which one at least is there and which 64 bits hold.
func ParseDecimal(digits []byte) (value uint64, ok bool) {
	for _, c := range digits {
		d := uint64(c - '0')
		if d > 9 || value > (math.MaxUint64-d)/10 {
			return 0, false
		}
		value = value*10 + d
	}
	return value, len(digits) > 0
}

// ParseHex returns the value of hexadecimal digits in either case, of which 16 at most are significant and one at least is
// there.
func ParseHex(digits []byte) (value uint64, ok bool) {
	for _, c := range digits {
		v := digitValues[c]
		if v > 15 || value>>60 != 0 {
			return 0, false
		}
		value = value<<4 | uint64(v)
	}
	return value, len(digits) > 0
}

// ParseDigits returns the value of hexadecimal digits of which some may not be known: x, X, -, . and # stand for one, which
// counts as 0. Of more than 16 significant digits it is that of the last 16.
func ParseDigits(digits []byte) (value uint64, anyWild, ok bool) {
	if v, known := ParseHex(digits); known {
		return v, false, true
	}
	for _, c := range digits {
		v := digitValues[c]
		switch {
		case v == wild:
			anyWild = true
			v = 0
		case v > 15:
			return 0, false, false
		}
		value = value<<4 | uint64(v)
	}
	return value, anyWild, len(digits) > 0
}

// DigitsFit reports whether digits can be those of so many bytes: what is in front of them is zeros, or not known.
func DigitsFit(digits []byte, size uint32) bool {
	surplus := int64(len(digits)) - 2*int64(size)
	for i := range surplus {
		if v := digitValues[digits[i]]; v != 0 && v != wild {
			return false
		}
	}
	return true
}

// DigitsMatch reports whether two rows of digits can be the same number: digit by digit from the last, where one that is not
// known matches every digit, and the shorter row stands for one with zeros before it.
func DigitsMatch(a, b []byte) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	surplus := len(a) - len(b)
	for _, c := range a[:surplus] {
		if v := digitValues[c]; v != 0 && v != wild {
			return false
		}
	}
	for i, c := range a[surplus:] {
		v, w := digitValues[c], digitValues[b[i]]
		if v != w && v != wild && w != wild {
			return false
		}
	}
	return true
}

// DecimalEnd returns the end of the decimal digits at the beginning of a text, behind blanks, if a certain byte is behind them and
// they are a number of 64 bits whatever they are: up to 19. Otherwise it returns 0.
func DecimalEnd(text []byte, behind byte) int {
	start := 0
	for start < len(text) && text[start] == ' ' {
		start++
	}
	n := start
	for n < len(text) && text[n]-'0' <= 9 {
		n++
	}
	if n == start || n-start > 19 || n == len(text) || text[n] != behind {
		return 0
	}
	return n
}
