package ctf

import (
	"strconv"
	"strings"

	"tracewell/internal/text"
)

// tokenKind says what a token of metadata is.
type tokenKind uint8

// The kinds of token.
const (
	tokenEnd tokenKind = iota
	tokenName
	tokenNumber
	tokenString // its text is what the literal means
	tokenMark   // one of the punctuation marks, ":=" among them
)

// token is one word of metadata.
type token struct {
	kind tokenKind
	text string
	line int
}

// String quotes the token for a message.
func (t token) String() string {
	if t.kind == tokenEnd {
		return "the end of the text"
	}
	return text.Quote(t.text)
}

// lexer takes metadata apart into tokens.
type lexer struct {
	rest string
	line int
}

// next returns the next token. A literal or a comment that has no end is an error.
func (l *lexer) next() (token, error) {
	if err := l.skip(); err != nil {
		return token{}, err
	}
	t := token{line: l.line}
	if l.rest == "" {
		return t, nil
	}
	switch c := l.rest[0]; {
	case c == '"':
		return l.literal()
	case c >= '0' && c <= '9':
		t.kind, t.text = tokenNumber, l.take(l.span(isNameByte))
	case isNameByte(c):
		t.kind, t.text = tokenName, l.take(l.span(isNameByte))
	case strings.HasPrefix(l.rest, ":="):
		t.kind, t.text = tokenMark, l.take(2)
	default:
		t.kind, t.text = tokenMark, l.take(1)
	}
	return t, nil
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// span returns how many bytes from here on are such ones.
func (l *lexer) span(is func(byte) bool) int {
	n := 0
	for n < len(l.rest) && is(l.rest[n]) {
		n++
	}
	return n
}

// take returns the next n bytes and passes over them.
func (l *lexer) take(n int) string {
	text := l.rest[:n]
	l.rest = l.rest[n:]
	l.line += strings.Count(text, "\n")
	return text
}

// comments are what may stand between tokens, by what begins and what ends it.
var comments = []struct{ begin, end string }{{"/*", "*/"}, {"//", "\n"}}

// skip passes over white space and comments.
func (l *lexer) skip() error {
	for {
		l.take(l.span(func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }))
		before := len(l.rest)
		for _, c := range comments {
			if !strings.HasPrefix(l.rest, c.begin) {
				continue
			}
			n := strings.Index(l.rest[len(c.begin):], c.end)
			if n < 0 {
				return &MetadataError{l.line, "a comment without end", strconv.Quote(c.end)}
			}
			l.take(len(c.begin) + n + len(c.end))
		}
		if len(l.rest) == before {
			return nil
		}
	}
}

// escapes are the bytes that one letter behind a backslash stands for.
var escapes = map[byte]byte{'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

// literal reads a string.
func (l *lexer) literal() (token, error) {
	t := token{kind: tokenString, line: l.line}
	var text []byte
	rest := l.rest[1:]
	for {
		plain := strings.IndexAny(rest, "\"\\\n")
		if plain < 0 || rest[plain] == '\n' {
			return token{}, &MetadataError{t.line, "a string without end", `"`}
		}
		text = append(text, rest[:plain]...)
		end := rest[plain] == '"'
		if rest = rest[plain+1:]; end {
			l.rest = rest
			t.text = string(text)
			return t, nil
		}
		if rest == "" || rest[0] == '\n' {
			return token{}, &MetadataError{t.line, "a string without end", `"`}
		}
		c, n := escape(rest)
		text = append(text, c)
		rest = rest[n:]
	}
}

// escape returns the byte that a text behind a backslash begins with, and of how many bytes it is made: up to three octal
// digits, x and up to two hexadecimal ones, a letter from escapes, or the byte that is meant.
func escape(text string) (c byte, n int) {
	digits := func(from, most int, set string) int {
		end := from
		for end < min(len(text), from+most) && strings.IndexByte(set, text[end]) >= 0 {
			end++
		}
		return end
	}
	if n = digits(0, 3, "01234567"); n > 0 {
		v, _ := strconv.ParseUint(text[:n], 8, 16)
		return byte(v), n
	}
	if n = digits(1, 2, "0123456789abcdefABCDEF"); text[0] == 'x' && n > 1 {
		v, _ := strconv.ParseUint(text[1:n], 16, 8)
		return byte(v), n
	}
	if c, ok := escapes[text[0]]; ok {
		return c, 1
	}
	return text[0], 1
}
