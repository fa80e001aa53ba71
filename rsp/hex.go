package rsp

import (
	"slices"
	"strconv"
)

const hexDigits = "0123456789abcdef"

// notHex stands in nibbles for a byte that is no hexadecimal digit.
const notHex = 0xff

// nibbles gives the value of a hexadecimal digit of either case.
var nibbles = func() (t [256]byte) {
	for c := range t {
		t[c] = notHex
	}
	for v := range byte(16) {
		t[hexDigits[v]] = v
		t["0123456789ABCDEF"[v]] = v
	}
	return t
}()

// AppendHex appends v in lower-case hexadecimal without leading zeros, the protocol's usual form of a number.
func AppendHex(dst []byte, v uint64) []byte { return strconv.AppendUint(dst, v, 16) }

// AppendHexPadded appends v in lower-case hexadecimal, with leading zeros up to width digits.
func AppendHexPadded(dst []byte, v uint64, width int) []byte {
	digits := 1
	for rest := v >> 4; rest != 0; rest >>= 4 {
		digits++
	}
	for ; digits < width; digits++ {
		dst = append(dst, '0')
	}
	return AppendHex(dst, v)
}

// AppendHexBytes appends two lower-case digits for each byte of b. Lower case is not a matter of taste: GDB takes a reply
// that begins with a capital E for an error.
func AppendHexBytes[T ~string | ~[]byte](dst []byte, b T) []byte {
	at := len(dst)
	dst = slices.Grow(dst, 2*len(b))[:at+2*len(b)]
	out := dst[at:]
	for i := range len(b) {
		c := b[i]
		out[0], out[1] = hexDigits[c>>4], hexDigits[c&15]
		out = out[2:]
	}
	return dst
}

// ParseHexBytes reads text as pairs of hexadecimal digits and nothing else. Its error is a *SyntaxError.
func ParseHexBytes(text string) ([]byte, error) { return AppendFromHex(nil, text) }

// AppendFromHex appends the bytes that text gives as pairs of hexadecimal digits and nothing else. On a *SyntaxError
// the bytes before the bad pair have been appended.
func AppendFromHex(dst []byte, text string) ([]byte, error) {
	dst = slices.Grow(dst, len(text)/2)
	for at := 0; at < len(text); at += 2 {
		v, ok := hexPair(text[at:])
		if !ok {
			return dst, &SyntaxError{Text: text, Offset: at, Expected: "two hexadecimal digits"}
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// hexPair returns the byte that the first two digits of text give.
func hexPair(text string) (byte, bool) {
	if len(text) < 2 {
		return 0, false
	}
	high, low := nibbles[text[0]], nibbles[text[1]]
	return high<<4 | low, high|low != notHex
}
