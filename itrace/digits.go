package itrace

import (
	"encoding/binary"
	"math"
	"math/bits"
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
		if low := (x - 0x21*ones) &^ x & (0x80 * ones); low != 0 {
			return min(at+bits.TrailingZeros64(low)/8, len(line))
		}
	}
	for at < len(line) && line[at] > ' ' {
		at++
	}
	return min(at, len(line))
}

// Room is how many bytes behind a place DecimalAt and HexAt may look at, those of the number included.
const Room = 16

// DecimalAt returns the value of the decimal digits text[at:at+width], of which there are 1 to 16, and 0 for wrong if that is what
// they are. It looks at up to Room bytes from at on. It works on eight digits at once, made so many by zeros in front: pairs
// of them become numbers below 100, pairs of these below 10000, and those the value.
func DecimalAt(text []byte, at, width int) (value, wrong uint64) {
	if width > 8 {
		return decimalMany(text, at, width)
	}
	shift := (64 - 8*width) & 63
	x := binary.LittleEndian.Uint64(text[at:at+8])<<shift | '0'*ones&(1<<shift-1)
	high := x & (0xf0 * ones)
	wrong = (high ^ 0x30*ones) | ((x+6*ones)&(0xf0*ones) ^ high)
	x &= 0x0f * ones
	x = (x*10 + x>>8) & 0x00ff00ff00ff00ff
	x = (x*100 + x>>16) & 0x0000ffff0000ffff
	return (x*10000 + x>>32) & 0xffffffff, wrong
}

// decimalMany is DecimalAt for 9 to 16 digits.
func decimalMany(text []byte, at, width int) (value, wrong uint64) {
	high, wrong := DecimalAt(text, at, width-8)
	low, wrongLow := DecimalAt(text, at+width-8, 8)
	return high*1e8 + low, wrong | wrongLow
}

// HexAt is DecimalAt for hexadecimal digits in either case. It works on eight of them at once, made so many by zeros in front. The
// low four bits of a digit are its value, to which a letter, told by bit 6, adds 9. A digit has the high half 3, a letter 4 or 6,
// and the values of letters, and no others, are from 10 to 15.
func HexAt(text []byte, at, width int) (value, wrong uint64) {
	if width > 8 {
		return hexMany(text, at, width)
	}
	shift := (64 - 8*width) & 63
	x := binary.LittleEndian.Uint64(text[at:at+8])<<shift | '0'*ones&(1<<shift-1)
	letters := x >> 6 & ones
	v := x&(0x0f*ones) + 9*letters
	wrong = (x|letters<<5)&(0xf0*ones) ^ 0x30*(letters+ones)
	wrong |= (v+6*ones)>>4&ones ^ letters | v&(0x10*ones)
	v = (v<<4 | v>>8) & 0x00ff00ff00ff00ff
	v = (v<<8 | v>>16) & 0x0000ffff0000ffff
	return (v<<16 | v>>32) & 0xffffffff, wrong
}

// hexMany is HexAt for 9 to 16 digits.
func hexMany(text []byte, at, width int) (value, wrong uint64) {
	high, wrong := HexAt(text, at, width-8)
	low, wrongLow := HexAt(text, at+width-8, 8)
	return high<<32 | low, wrong | wrongLow
}

// ones has a 1 in each of 8 bytes.
const ones = 0x0101010101010101

// NotDecimal returns 0 if the lowest bytes of x, so many, from 1 to 8, are decimal digits.
func NotDecimal(x uint64, width int) uint64 {
	shift := (64 - 8*width) & 63
	x = x<<shift | '0'*ones&(1<<shift-1)
	return (x&(0xf0*ones) ^ 0x30*ones) | ((x+6*ones)^x)&(0xf0*ones)
}

// NotHex is NotDecimal for hexadecimal digits.
func NotHex(x uint64, width int) uint64 {
	shift := (64 - 8*width) & 63
	x = x<<shift | '0'*ones&(1<<shift-1)
	letters := x >> 6 & ones
	v := x&(0x0f*ones) + 9*letters
	return ((x|letters<<5)&(0xf0*ones) ^ 0x30*(letters+ones)) | ((v+6*ones)>>4&ones ^ letters) | v&(0x10*ones)
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
