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

// ParseDecimal returns the value of decimal digits, of which one at least is there and which 64 bits hold.
func ParseDecimal(digits []byte) (value uint64, ok bool) {
	if n := len(digits); n-1 < 8 && cap(digits) >= 8 {
		return decimalFew(binary.LittleEndian.Uint64(digits[:8]), n)
	}
	for _, c := range digits {
		d := uint64(c - '0')
		if d > 9 || value > (math.MaxUint64-d)/10 {
			return 0, false
		}
		value = value*10 + d
	}
	return value, len(digits) > 0
}

// decimalFew is ParseDecimal for the first n bytes of x, from 1 to 8. It works on all of them at once, made eight by zeros in
// front: pairs of digits become numbers below 100, pairs of these below 10000, and those the value.
func decimalFew(x uint64, n int) (value uint64, ok bool) {
	shift := 64 - 8*n
	x = x<<shift | '0'*ones&(1<<shift-1)
	high := x & (0xf0 * ones)
	ok = high == 0x30*ones && (x+6*ones)&(0xf0*ones) == high
	x &= 0x0f * ones
	x = (x*10 + x>>8) & 0x00ff00ff00ff00ff
	x = (x*100 + x>>16) & 0x0000ffff0000ffff
	return (x*10000 + x>>32) & 0xffffffff, ok
}

// ParseHex returns the value of hexadecimal digits in either case, of which 16 at most are significant and one at least is
// there.
func ParseHex(digits []byte) (value uint64, ok bool) {
	for len(digits) > 16 {
		if digits[0] != '0' {
			return 0, false
		}
		digits = digits[1:]
	}
	if n := len(digits); n > 8 {
		low, lowOK := hexFew(digits[n-8:])
		high, highOK := hexFew(digits[:n-8])
		return high<<32 | low, lowOK && highOK
	}
	return hexFew(digits)
}

// ones has a 1 in each of 8 bytes.
const ones = 0x0101010101010101

// hexFew is ParseHex for up to 8 digits. It works on all of them at once, made eight by zeros in front, each a byte of a word: a
// digit's low four bits are its value, to which a letter, told by bit 6, adds 9. That the bytes were digits is told by
// writing the values out again.
func hexFew(digits []byte) (value uint64, ok bool) {
	n := len(digits)
	if n == 0 {
		return 0, false
	}
	var x uint64
	if cap(digits) >= 8 {
		x = binary.BigEndian.Uint64(digits[:8])
	} else {
		var padded [8]byte
		copy(padded[:], digits)
		x = binary.BigEndian.Uint64(padded[:])
	}
	shift := 64 - 8*n
	x = x>>shift | '0'*ones&^(1<<(8*n)-1)
	letters := x >> 6 & ones
	v := x&(0x0f*ones) + 9*letters
	isLetter := (v + 6*ones) >> 4 & ones
	written := v + '0'*ones + isLetter*('a'-'0'-10)
	ok = v&(0xf0*ones) == 0 && written == x|letters<<5
	v = (v | v>>4) & 0x00ff00ff00ff00ff
	v = (v | v>>8) & 0x0000ffff0000ffff
	return (v | v>>16) & 0xffffffff, ok
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
