package xmltext

import (
	"strings"
	"unicode/utf8"
)

// Properties of an ASCII character.
const (
	inName    = 1 << iota // may stand in a name
	beginName             // may begin a name
	forbidden             // may not stand in a document
)

var ascii = func() (table [utf8.RuneSelf]uint8) {
	for c := range table {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':':
			table[c] = inName | beginName
		case c >= '0' && c <= '9' || c == '-' || c == '.':
			table[c] = inName
		case c < ' ' && !isSpace(rune(c)):
			table[c] = forbidden
		}
	}
	return table
}()

// characters checks that a part of the document is in UTF-8 and has only characters that XML allows.
func (r *Reader) characters(s string, pos int) error {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < utf8.RuneSelf {
			if ascii[c]&forbidden != 0 {
				return r.fail(pos+i, "the control character 0x%02x", c)
			}
			continue
		}
		v, n := utf8.DecodeRuneInString(s[i:])
		if v == utf8.RuneError && n == 1 {
			return r.fail(pos+i, "the byte 0x%02x is not part of a character in UTF-8", c)
		}
		if !isCharacter(v) {
			return r.fail(pos+i, "the character U+%04X, which XML does not allow", v)
		}
		i += n - 1
	}
	return nil
}

// isCharacter is Char of the recommendation.
func isCharacter(c rune) bool {
	return c >= 0x20 && c < 0xd800 || isSpace(c) || c >= 0xe000 && c <= 0xfffd || c >= 0x10000 && c <= utf8.MaxRune
}

// IsName tells whether s is a name without a colon, as the value of an attribute of type ID has to be.
func IsName(s string) bool { return isName(s) && strings.IndexByte(s, ':') < 0 }

func isName(s string) bool {
	for _, c := range s {
		if !isNameCharacter(c) {
			return false
		}
	}
	return startsName(s)
}

func startsName(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return isNameStart(c)
}

func isNameStart(c rune) bool {
	if c < utf8.RuneSelf {
		return ascii[c]&beginName != 0
	}
	for _, r := range nameStarts {
		if r[0] <= c && c <= r[1] {
			return true
		}
	}
	return false
}

func isNameCharacter(c rune) bool {
	if c < utf8.RuneSelf {
		return ascii[c]&inName != 0
	}
	return isNameStart(c) || c == 0xb7 || c >= 0x300 && c <= 0x36f || c >= 0x203f && c <= 0x2040
}

// nameStarts is what may begin a name beyond ASCII: NameStartChar of the recommendation's fifth edition.
var nameStarts = [][2]rune{
	{0xc0, 0xd6}, {0xd8, 0xf6}, {0xf8, 0x2ff}, {0x370, 0x37d}, {0x37f, 0x1fff}, {0x200c, 0x200d}, {0x2070, 0x218f},
	{0x2c00, 0x2fef}, {0x3001, 0xd7ff}, {0xf900, 0xfdcf}, {0xfdf0, 0xfffc}, {0x10000, 0xeffff},
}
