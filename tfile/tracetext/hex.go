package tracetext

import (
	"bytes"
	"slices"
	"strconv"
)

// rowBytes is how many bytes stand on a line.
const rowBytes = 16

const hexDigits = "0123456789abcdef"

// digitValues has the value of each hexadecimal digit, and notDigit for all other characters.
var digitValues = func() (values [256]byte) {
	for i := range values {
		values[i] = notDigit
	}
	for i := range byte(16) {
		values[hexDigits[i]] = i
		values["0123456789ABCDEF"[i]] = i
	}
	return values
}()

const notDigit = 0xff

// appendHex appends bytes as pairs of digits, in groups of four bytes.
func appendHex(dst, p []byte) []byte {
	at := len(dst)
	dst = slices.Grow(dst, hexWidth(len(p)))[:at+hexWidth(len(p))]
	for i, b := range p {
		if i > 0 && i%4 == 0 {
			dst[at] = ' '
			at++
		}
		dst[at], dst[at+1] = hexDigits[b>>4], hexDigits[b&15]
		at += 2
	}
	return dst
}

// hexWidth is the length of n bytes as appendHex writes them.
func hexWidth(n int) int { return 2*n + max(n-1, 0)/4 }

// appendNumber appends 0x and a number without leading zeros.
func appendNumber(dst []byte, n uint64) []byte {
	return strconv.AppendUint(append(dst, '0', 'x'), n, 16)
}

// appendOffset appends an offset, with digits enough that those of small things line up.
func appendOffset(dst []byte, n int64) []byte {
	dst = append(dst, "+0x"...)
	for limit := int64(0x1000); limit > max(n, 1); limit >>= 4 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, n, 16)
}

// shown has the character that stands for each byte: itself if it is one of ASCII, else a dot.
var shown = func() (characters [256]byte) {
	for i := range characters {
		if characters[i] = '.'; ' ' <= i && i <= '~' {
			characters[i] = byte(i)
		}
	}
	return characters
}()

// appendShown appends a comment with p as characters, but for blanks at the end.
func appendShown(dst, p []byte) []byte {
	dst = append(dst, "  # "...)
	at := len(dst)
	dst = append(dst, p...)
	for i, b := range dst[at:] {
		dst[at+i] = shown[b]
	}
	return bytes.TrimRight(dst, " ")
}

// bytes appends to dst what the words up to the end of the line stand for: pairs of hexadecimal digits, string literals.
func (c *cursor) bytes(dst []byte) []byte {
	for {
		word := c.next()
		if len(word) == 0 {
			return dst
		}
		var ok bool
		if dst, ok = appendBytes(dst, word); !ok {
			c.fail("bytes, each of two hexadecimal digits, or a string in double quotes")
		}
	}
}

// appendBytes appends what a word of pairs of hexadecimal digits stands for, or a string literal.
func appendBytes(dst, word []byte) ([]byte, bool) {
	if word[0] == '"' {
		text, ok := unquote(word)
		return append(dst, text...), ok
	}
	if len(word)%2 != 0 {
		return dst, false
	}
	at := len(dst)
	dst = slices.Grow(dst, len(word)/2)[:at+len(word)/2]
	var wrong byte
	for i := range dst[at:] {
		high, low := digitValues[word[2*i]], digitValues[word[2*i+1]]
		dst[at+i] = high<<4 | low
		wrong |= high | low
	}
	return dst, wrong < 16
}
