package twin

import "strconv"

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
	for i, b := range p {
		if i > 0 && i%4 == 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
	}
	return dst
}

// hexWidth is the length of n bytes as appendHex writes them.
func hexWidth(n int) int { return 2*n + max(n-1, 0)/4 }

// appendNumber appends 0x and a number without leading zeros.
func appendNumber(dst []byte, n uint64) []byte {
	dst = append(dst, '0', 'x')
	shift := 60
	for shift > 0 && n>>shift == 0 {
		shift -= 4
	}
	for ; shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[n>>shift&15])
	}
	return dst
}

// appendOffset appends an offset, with digits enough that those of small things line up.
func appendOffset(dst []byte, n int64) []byte {
	dst = append(dst, "+0x"...)
	for limit := int64(0x1000); limit > max(n, 1); limit >>= 4 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, n, 16)
}

// appendShown appends a comment with p as characters of ASCII, and a dot for each byte that is none.
func appendShown(dst, p []byte) []byte {
	dst = append(dst, "  # "...)
	for _, b := range p {
		if b < ' ' || b > '~' {
			b = '.'
		}
		dst = append(dst, b)
	}
	return dst
}

// bytes appends to dst what the words up to the end of the line stand for: pairs of hexadecimal digits, string literals.
func (c *cursor) bytes(dst []byte) []byte {
	for {
		word := c.next()
		if len(word) == 0 {
			return dst
		}
		if word[0] == '"' {
			text, ok := unquote(word)
			if !ok {
				c.fail("a string in double quotes, escaped as in Go")
			}
			dst = append(dst, text...)
			continue
		}
		if len(word)%2 != 0 {
			c.fail("bytes, each as two hexadecimal digits, or a string in double quotes")
			return dst
		}
		for i := 0; i < len(word); i += 2 {
			high, low := digitValues[word[i]], digitValues[word[i+1]]
			if high|low > 15 {
				c.fail("bytes, each as two hexadecimal digits, or a string in double quotes")
				return dst
			}
			dst = append(dst, high<<4|low)
		}
	}
}
