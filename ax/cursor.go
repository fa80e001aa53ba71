package ax

import (
	"errors"
	"strconv"
	"strings"
)

// cursor takes a line of the text form apart into tokens: runs of anything but blanks, and string literals.
type cursor struct {
	text string
	pos  int
}

// blanks separate tokens. The carriage return lets text with the line ends of other systems in.
const blanks = " \t\r"

// next takes the next token and the column, from 1, that it starts in. At the end of the line or at a comment it is "".
func (c *cursor) next() (token string, column int, err error) {
	rest := strings.TrimLeft(c.text[c.pos:], blanks)
	start := len(c.text) - len(rest)
	if rest == "" || rest[0] == '#' {
		c.pos = len(c.text)
		return "", start + 1, nil
	}
	if rest[0] == '"' || rest[0] == '`' {
		if token, err = strconv.QuotedPrefix(rest); err != nil {
			return "", start + 1, errors.New("string literal without end, or with a bad escape in it")
		}
	} else if end := strings.IndexAny(rest, blanks+"#"); end >= 0 {
		token = rest[:end]
	} else {
		token = rest
	}
	c.pos = start + len(token)
	return token, start + 1, nil
}

// parseNumber reads a number in decimal, or in hexadecimal after 0x.
func parseNumber(word string) (uint64, error) {
	if digits, ok := strings.CutPrefix(word, "0x"); ok {
		return strconv.ParseUint(digits, 16, 64)
	}
	return strconv.ParseUint(word, 10, 64)
}

// isName reports whether word can name a label: letters, digits and underscores of ASCII, no digit first.
func isName(word string) bool {
	for i := range len(word) {
		switch c := word[i]; {
		case c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case '0' <= c && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return word != ""
}
