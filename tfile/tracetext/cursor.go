package tracetext

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"tracewell/internal/text"
)

// A cursor takes a line of the text apart into words: runs of anything but blanks, and string literals of Go. Its first
// error stays, so that a statement is read whole and asked once.
type cursor struct {
	text []byte // without the line end
	line int    // its number, from 1
	pos  int    // behind the word at hand
	at   int    // of the word at hand
	err  *Error
}

// next takes the next word. At the end of the line or at a comment it is empty, and so it is after an error.
func (c *cursor) next() []byte {
	text, at := c.text, c.pos
	for at < len(text) && isBlank(text[at]) {
		at++
	}
	end := at
	switch {
	case c.err != nil || at == len(text) || text[at] == '#':
	case text[at] == '"':
		end += quotedLength(text[at:])
	default:
		for end < len(text) && !isBlank(text[end]) {
			end++
		}
	}
	c.at, c.pos = at, end
	return text[at:end]
}

// peek returns the first byte of the next word, 0 if there is none.
func (c *cursor) peek() byte {
	ahead := *c
	if word := ahead.next(); len(word) > 0 {
		return word[0]
	}
	return 0
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// quotedLength is the length of the string literal that begins text; all of it if the literal does not end.
func quotedLength(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// fail makes an error about the word at hand, unless there is one already.
func (c *cursor) fail(expected string) {
	found := "the end of the line"
	if c.pos > c.at {
		found = text.Quote(c.text[c.at:c.pos])
	}
	c.failure("found " + found + ", expected " + expected)
}

// failure makes an error about the word at hand, unless there is one already.
func (c *cursor) failure(problem string) {
	if c.err == nil {
		c.err = &Error{c.line, c.at + 1, problem}
	}
}

// end expects the end of the line and returns the first error.
func (c *cursor) end() error {
	if c.err == nil && len(c.next()) > 0 {
		c.fail("the end of the line")
	}
	if c.err == nil {
		return nil
	}
	return c.err
}

// accept takes the next word if it is the given one.
func (c *cursor) accept(word string) bool {
	ahead := *c
	if string(ahead.next()) != word {
		return false
	}
	*c = ahead
	return true
}

// literal expects the given words.
func (c *cursor) literal(words ...string) {
	for _, word := range words {
		if string(c.next()) != word {
			c.fail(strconv.Quote(word))
		}
	}
}

// choice expects one of two words and reports whether it is the first.
func (c *cursor) choice(first, second string) bool {
	word := string(c.next())
	if word != first && word != second {
		c.fail(strconv.Quote(first) + " or " + strconv.Quote(second))
	}
	return word == first
}

// unsigned expects a number of at most limit, decimal or hexadecimal behind 0x.
func (c *cursor) unsigned(what string, limit uint64) uint64 {
	n, ok := parseNumber(c.next())
	switch {
	case ok && n <= limit:
	case limit == math.MaxUint64:
		c.fail(what)
	default:
		c.fail(fmt.Sprintf("%s, %d at most", what, limit))
	}
	return n
}

// signed expects a number from low to high.
func (c *cursor) signed(what string, low, high int64) int64 {
	word := c.next()
	n, err := strconv.ParseInt(string(word), 10, 64)
	if err != nil || n < low || n > high {
		c.fail(fmt.Sprintf("%s, from %d to %d", what, low, high))
	}
	return n
}

// quoted expects a string literal.
func (c *cursor) quoted(what string) string {
	text, ok := unquote(c.next())
	if !ok {
		c.fail(what + " in double quotes, escaped as in Go")
	}
	return text
}

func unquote(word []byte) (string, bool) {
	if len(word) == 0 || word[0] != '"' {
		return "", false
	}
	text, err := strconv.Unquote(string(word))
	return text, err == nil
}

// parseNumber reads a number, decimal or hexadecimal behind 0x.
func parseNumber(word []byte) (uint64, bool) {
	base := 10
	if len(word) > 2 && word[0] == '0' && word[1] == 'x' {
		word, base = word[2:], 16
	}
	n, err := strconv.ParseUint(string(word), base, 64)
	return n, err == nil
}

// isPlain reports whether a text can stand on a line as it is: no character in it but what shows as one of its own and
// tabulators, and no blank at the end that an editor might take away.
func isPlain(text string) bool {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return false
			}
		}
		if r != '\t' && !strconv.IsPrint(r) {
			return false
		}
	}
	return text == "" || !isBlank(text[len(text)-1])
}

// isWord reports whether a text is an identifier of C.
func isWord(text string) bool {
	for i := range len(text) {
		switch b := text[i]; {
		case b == '_', 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z':
		case '0' <= b && b <= '9' && i > 0:
		default:
			return false
		}
	}
	return text != ""
}
