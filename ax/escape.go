package ax

import (
	"fmt"
	"strconv"
)

// escapes are the characters that C writes as a backslash and one character, with \e from GDB.
var escapes = [256]byte{
	'a': '\a', 'b': '\b', 'e': 0x1b, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
	'\\': '\\', '"': '"', '\'': '\'', '?': '?',
}

// decodeEscapes replaces the escapes of a C string literal: those above, one to three octal digits, x and one or two
// hexadecimal digits. As in C it comes before the conversions are looked at, so "\45d" is a conversion.
func decodeEscapes(text string) (string, error) {
	var out []byte
	for pos := 0; pos < len(text); {
		if text[pos] != '\\' {
			out = append(out, text[pos])
			pos++
			continue
		}
		c, size, ok := decodeEscape(text[pos:])
		if !ok {
			return "", fmt.Errorf("bad escape %q at offset %d", text[pos:min(pos+2, len(text))], pos)
		}
		out = append(out, c)
		pos += size
	}
	return string(out), nil
}

// decodeEscape decodes the escape that text begins with, and tells its length.
func decodeEscape(text string) (c byte, size int, ok bool) {
	if len(text) < 2 {
		return 0, 0, false
	}
	if c = escapes[text[1]]; c != 0 {
		return c, 2, true
	}
	if text[1] == 'x' {
		v, n := digitsPrefix(text[2:], 16, 2)
		return v, 2 + n, n > 0
	}
	v, n := digitsPrefix(text[1:], 8, 3)
	return v, 1 + n, n > 0
}

// digitsPrefix is the value, modulo 256, and the number of the digits in base that text begins with, at most limit of them.
func digitsPrefix(text string, base, limit int) (v byte, n int) {
	for n < min(limit, len(text)) {
		digit, err := strconv.ParseUint(text[n:n+1], base, 8)
		if err != nil {
			break
		}
		v = v*byte(base) + byte(digit)
		n++
	}
	return v, n
}
