package jsonl

import (
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"tracewell/itrace"
)

// arenaSize is how much memory is taken at once for strings that had escapes.
const arenaSize = 1 << 12

// escapes are the characters that stand for others behind a backslash, but for u.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape returns the inside of a string without its escapes, which stays valid as long as it is used. It is not ok if an
// escape is wrong, or a line feed, which no line has.
func (p *parser) unescape(s []byte) (text []byte, ok bool) {
	if cap(p.arena)-len(p.arena) < len(s) { // no escape stands for more bytes than it has
		p.arena = make([]byte, 0, max(arenaSize, len(s)))
	}
	out := p.arena[len(p.arena):]
	for len(s) > 0 {
		if s[0] != '\\' {
			out, s = append(out, s[0]), s[1:]
			continue
		}
		if len(s) < 2 {
			return nil, false
		}
		if s[1] != 'u' {
			c := escapes[s[1]]
			if c == 0 || c == '\n' {
				return nil, false
			}
			out, s = append(out, c), s[2:]
			continue
		}
		if out, s, ok = appendUnicode(out, s); !ok {
			return nil, false
		}
	}
	p.arena = p.arena[:len(p.arena)+len(out)]
	return slices.Clip(out), true
}

// appendUnicode appends what the escape \u at the beginning of s, or two of a surrogate pair, stand for.
func appendUnicode(dst, s []byte) (out, rest []byte, ok bool) {
	r, ok := codeUnit(s)
	if !ok || r == '\n' {
		return dst, s, false
	}
	s = s[6:]
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r), s, true
	}
	if low, both := codeUnit(s); both {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return utf8.AppendRune(dst, pair), s[6:], true
		}
	}
	if c := r - rawBytes; c >= utf8.RuneSelf && c <= 0xff {
		return append(dst, byte(c)), s, true
	}
	return utf8.AppendRune(dst, utf8.RuneError), s, true
}

// codeUnit returns the value of the escape \u that s begins with.
func codeUnit(s []byte) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	value, ok := itrace.ParseHex(s[2:6])
	return rune(value), ok
}
