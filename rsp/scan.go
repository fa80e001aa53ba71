package rsp

import (
	"fmt"
	"math"
	"strings"
)

// SyntaxError says where a text departs from its grammar.
type SyntaxError struct {
	Text     string // all of the text that was read
	Offset   int    // in Text, of the first byte that does not fit
	Expected string // what should have been there, such as "a hexadecimal number"
}

// excerpt is how much of the text an error quotes.
const excerpt = 24

// Error gives the offset, the text found there and what was expected.
func (e *SyntaxError) Error() string {
	found := "the end"
	if rest := e.Text[e.Offset:]; len(rest) > excerpt {
		found = fmt.Sprintf("%q…", rest[:excerpt])
	} else if rest != "" {
		found = fmt.Sprintf("%q", rest)
	}
	return fmt.Sprintf("offset %d: found %s, expected %s", e.Offset, found, e.Expected)
}

// Scanner reads the fields of a packet, or of a trace file's definition line, from left to right.
//
// Methods whose comment says "expects" are strict: they record a *SyntaxError when the text does not fit. The others take
// what they find. The first error stays: after it the scanner stands at the end of the text, where every method returns
// its zero value, so a parser reads all its fields and asks Err or End once, and a loop guarded by Done ends.
//
//	s := rsp.NewScanner("401131,4")
//	addr := s.HexField()
//	s.Literal(',')
//	length := s.HexField()
//	if err := s.End(); err != nil { … }
type Scanner struct {
	text string
	pos  int
	err  *SyntaxError
}

// NewScanner returns a scanner at the start of text. Offsets in errors count from there.
func NewScanner(text string) *Scanner { return &Scanner{text: text} }

// Err returns the first error, a *SyntaxError, or nil.
func (s *Scanner) Err() error {
	if s.err == nil {
		return nil
	}
	return s.err
}

// End expects the end of the text and returns Err.
func (s *Scanner) End() error {
	if !s.Done() {
		s.Fail("the end")
	}
	return s.Err()
}

// Fail records that what stands at the scanner is not what the grammar wants there, for rules beyond this package.
func (s *Scanner) Fail(expected string) { s.failAt(s.pos, expected) }

func (s *Scanner) failAt(pos int, expected string) {
	if s.err == nil {
		s.err = &SyntaxError{Text: s.text, Offset: pos, Expected: expected}
	}
	s.pos = len(s.text)
}

// Done reports whether the text is used up or an error was recorded.
func (s *Scanner) Done() bool { return s.pos == len(s.text) }

// Pos returns the offset of the scanner in the text.
func (s *Scanner) Pos() int { return s.pos }

// Peek returns the next byte without reading it, 0 at the end.
func (s *Scanner) Peek() byte {
	if s.Done() {
		return 0
	}
	return s.text[s.pos]
}

// Accept reads c if it is next, and reports whether it was.
func (s *Scanner) Accept(c byte) bool {
	ok := !s.Done() && s.text[s.pos] == c
	if ok {
		s.pos++
	}
	return ok
}

// AcceptText reads prefix if it is next, and reports whether it was.
func (s *Scanner) AcceptText(prefix string) bool {
	ok := strings.HasPrefix(s.text[s.pos:], prefix)
	if ok {
		s.pos += len(prefix)
	}
	return ok
}

// Literal expects c.
func (s *Scanner) Literal(c byte) {
	if !s.Accept(c) {
		s.Fail(fmt.Sprintf("%q", c))
	}
}

// Until reads up to the next sep, which is left, or up to the end.
func (s *Scanner) Until(sep byte) string {
	n := strings.IndexByte(s.text[s.pos:], sep)
	if n < 0 {
		return s.Rest()
	}
	return s.Take(n)
}

// Rest reads all that is left.
func (s *Scanner) Rest() string { return s.Take(len(s.text) - s.pos) }

// Take expects n more bytes and reads them.
func (s *Scanner) Take(n int) string {
	if left := len(s.text) - s.pos; n < 0 || n > left {
		s.Fail(fmt.Sprintf("%d bytes", n))
		return ""
	}
	s.pos += n
	return s.text[s.pos-n : s.pos]
}

// Hex reads a number as GDB and gdbserver do, which never fails: digits of either case up to the first other byte, none
// of them giving zero, and only the lower 64 bits of too many.
func (s *Scanner) Hex() uint64 {
	var v uint64
	for ; !s.Done(); s.pos++ {
		d := nibbles[s.text[s.pos]]
		if d == notHex {
			break
		}
		v = v<<4 | uint64(d)
	}
	return v
}

// HexField expects a number of at least one digit that fits 64 bits; leading zeros are free.
func (s *Scanner) HexField() uint64 { return s.HexUpTo(math.MaxUint64) }

// HexUpTo expects a number of at least one digit that is not greater than limit.
func (s *Scanner) HexUpTo(limit uint64) uint64 {
	start := s.pos
	var v uint64
	for ; !s.Done(); s.pos++ {
		d := nibbles[s.text[s.pos]]
		if d == notHex {
			break
		}
		if v > limit>>4 || v<<4|uint64(d) > limit {
			s.failAt(start, "a hexadecimal number up to "+string(AppendHex(nil, limit)))
			return 0
		}
		v = v<<4 | uint64(d)
	}
	if s.pos == start {
		s.Fail("a hexadecimal number")
	}
	return v
}

// SignedHex expects a number with a sign before it if negative, such as the -1 that stands for "all" or "default" in
// some fields. Where the protocol sends negative numbers as two's complement instead, read a HexField and convert it.
func (s *Scanner) SignedHex() int64 {
	if s.Accept('-') {
		return -int64(s.HexUpTo(-math.MinInt64))
	}
	return int64(s.HexUpTo(math.MaxInt64))
}

// HexDigits reads digits of either case up to the first other byte. There may be none.
func (s *Scanner) HexDigits() string { return s.Take(s.digits(math.MaxUint64)) }

// HexBytes reads pairs of digits up to the first byte that is no digit, and expects an even number of them. It returns
// nil if there are none.
func (s *Scanner) HexBytes() []byte {
	n := s.digits(math.MaxUint64)
	if n%2 != 0 {
		s.failAt(s.pos+n, "a hexadecimal digit")
		return nil
	}
	return s.pairs(n)
}

// HexBytesN expects n pairs of digits and reads no more. It allocates only when they are there.
func (s *Scanner) HexBytesN(n uint64) []byte {
	found := s.digits(2 * min(n, math.MaxUint64/2))
	if uint64(found/2) < n {
		s.failAt(s.pos+found, fmt.Sprintf("%d bytes in hexadecimal", n))
		return nil
	}
	return s.pairs(found)
}

// digits counts the hexadecimal digits at the scanner, up to limit.
func (s *Scanner) digits(limit uint64) int {
	rest := s.text[s.pos:]
	for i := range len(rest) {
		if nibbles[rest[i]] == notHex || uint64(i) == limit {
			return i
		}
	}
	return len(rest)
}

// pairs reads n digits that are known to be there.
func (s *Scanner) pairs(n int) []byte {
	if n == 0 {
		return nil
	}
	b, _ := ParseHexBytes(s.Take(n))
	return b
}
