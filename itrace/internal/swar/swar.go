// Package swar converts the digits of a number eight at a time: SIMD within a register. Parsers that know from the line before
// where a number stands use it on their fast path; all others use itrace.ParseDecimal and itrace.ParseHex, which stop at the
// first byte that is no digit.
//
// Nothing here branches on the digits. Each function computes its value and, beside it, a word that is 0 only if all bytes were
// digits, so that a caller can convert all numbers of a line and ask once. Bytes are taken from memory in little-endian order:
// the first digit is in the lowest byte, whatever the machine.
package swar

import (
	"encoding/binary"
	"math/bits"
)

// Ones has a 1 in each of 8 bytes.
const Ones = 0x0101010101010101

// Lookahead is how many bytes behind a place Decimal and Hex may look at, those of the number included.
const Lookahead = 16

// Decimal returns the value of the decimal digits text[at:at+width], of which there are 1 to 16, and 0 for wrong if that is what
// they are. It looks at up to Lookahead bytes from at on. It works on eight digits at once, made so many by zeros in front: pairs
// of them become numbers below 100, pairs of these below 10000, and those the value.
func Decimal(text []byte, at, width int) (value, wrong uint64) {
	if width > 8 {
		return decimalMany(text, at, width)
	}
	shift := (64 - 8*width) & 63
	x := binary.LittleEndian.Uint64(text[at:at+8])<<shift | '0'*Ones&(1<<shift-1)
	high := x & (0xf0 * Ones)
	wrong = (high ^ 0x30*Ones) | ((x+6*Ones)&(0xf0*Ones) ^ high)
	x &= 0x0f * Ones
	x = (x*10 + x>>8) & 0x00ff00ff00ff00ff
	x = (x*100 + x>>16) & 0x0000ffff0000ffff
	return (x*10000 + x>>32) & 0xffffffff, wrong
}

// decimalMany is Decimal for 9 to 16 digits.
func decimalMany(text []byte, at, width int) (value, wrong uint64) {
	high, wrong := Decimal(text, at, width-8)
	low, wrongLow := Decimal(text, at+width-8, 8)
	return high*1e8 + low, wrong | wrongLow
}

// Hex is Decimal for hexadecimal digits in either case.
func Hex(text []byte, at, width int) (value, wrong uint64) {
	if width > 8 {
		return hexMany(text, at, width)
	}
	shift := (64 - 8*width) & 63
	v, wrong := hexDigits(binary.LittleEndian.Uint64(text[at:at+8])<<shift | '0'*Ones&(1<<shift-1))
	return packHex(v), wrong
}

// hexDigits returns the values of eight hexadecimal digits, and what is 0 in those bytes that are digits. The low four bits of a
// digit are its value, to which a letter, told by bit 6, adds 9. A digit has the high half 3, a letter 4 or 6, and the values of
// letters, and no others, are from 10 to 15.
func hexDigits(x uint64) (v, wrong uint64) {
	letters := x >> 6 & Ones
	v = x&(0x0f*Ones) + 9*letters
	wrong = (x|letters<<5)&(0xf0*Ones) ^ 0x30*(letters+Ones)
	return v, wrong | (v+6*Ones)>>4&Ones ^ letters | v&(0x10*Ones)
}

// packHex returns the value of digits by those of each, the first lowest.
func packHex(v uint64) uint64 {
	v = (v<<4 | v>>8) & 0x00ff00ff00ff00ff
	v = (v<<8 | v>>16) & 0x0000ffff0000ffff
	return (v<<16 | v>>32) & 0xffffffff
}

// hexMany is Hex for 9 to 16 digits.
func hexMany(text []byte, at, width int) (value, wrong uint64) {
	high, wrong := Hex(text, at, width-8)
	low, wrongLow := Hex(text, at+width-8, 8)
	return high<<32 | low, wrong | wrongLow
}

// HexRun reads the hexadecimal digits that begin at a place of a text, however many they are, but no more than 16. It returns their
// value and how many they are. It looks at up to Lookahead bytes from there on.
func HexRun(text []byte, at int) (value uint64, width int) {
	// The lowest byte that is no digit ends the number, and is shifted out with all above it.
	v, wrong := hexDigits(binary.LittleEndian.Uint64(text[at : at+8]))
	if wrong != 0 {
		width = bits.TrailingZeros64(wrong) / 8
		return packHex(v << (64 - 8*width)), width
	}
	low, wrong := hexDigits(binary.LittleEndian.Uint64(text[at+8 : at+16]))
	width = bits.TrailingZeros64(wrong) / 8
	return packHex(v)<<(4*width) | packHex(low<<(64-8*width)), 8 + width
}

// Equal marks the bytes of x that are c by their highest bits. Those above the lowest mark may be wrong.
func Equal(x uint64, c byte) uint64 {
	x ^= uint64(c) * Ones
	return (x - Ones) &^ x & (0x80 * Ones)
}

// NotDecimal returns 0 if the lowest bytes of x, so many, from 1 to 8, are decimal digits.
func NotDecimal(x uint64, width int) uint64 {
	shift := (64 - 8*width) & 63
	x = x<<shift | '0'*Ones&(1<<shift-1)
	return (x&(0xf0*Ones) ^ 0x30*Ones) | ((x+6*Ones)^x)&(0xf0*Ones)
}

// NotHex is NotDecimal for hexadecimal digits.
func NotHex(x uint64, width int) uint64 {
	shift := (64 - 8*width) & 63
	x = x<<shift | '0'*Ones&(1<<shift-1)
	letters := x >> 6 & Ones
	v := x&(0x0f*Ones) + 9*letters
	return ((x|letters<<5)&(0xf0*Ones) ^ 0x30*(letters+Ones)) | ((v+6*Ones)>>4&Ones ^ letters) | v&(0x10*Ones)
}

// AppendHex appends the hexadecimal digits of a number in lower case: 16, or the last eight if that is the width.
func AppendHex(dst []byte, value uint64, width int) []byte {
	if width > 8 {
		dst = binary.BigEndian.AppendUint64(dst, toHex(value>>32))
	}
	return binary.BigEndian.AppendUint64(dst, toHex(value&(1<<32-1)))
}

// toHex returns the eight digits of a number of 32 bits, the first highest. Each step moves half of what stands together apart;
// then each byte has a value below 16, which from 10 on is made a letter by what is between '9' and 'a'.
func toHex(x uint64) uint64 {
	const between = 'a' - '9' - 1
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	letters := (x + 6*Ones) >> 4 & Ones
	return x + '0'*Ones + between*letters
}
