// Package scan reads the parts that the lines of many producers are made of: numbers, words, and the blanks between them.
package scan

import (
	"tracewell/itrace"
	"tracewell/itrace/internal/swar"
)

// Line is a line and how far it has been read. After the first problem nothing more is read, so that callers can read a number of
// parts and ask once.
type Line struct {
	Text    []byte
	At      int
	Problem *itrace.SyntaxError
}

// Fail notes that what begins at a place is not what was expected, and ends the line.
func (l *Line) Fail(at int, expected string) {
	if l.Problem == nil {
		l.Problem = itrace.Mismatch(l.Text, at, expected)
	}
	l.At = len(l.Text)
}

// Peek returns the next byte, 0 at the end of the line.
func (l *Line) Peek() byte {
	if l.At < len(l.Text) {
		return l.Text[l.At]
	}
	return 0
}

// Done reports whether the line has ended.
func (l *Line) Done() bool { return l.At >= len(l.Text) }

// Rest is what is still to be read.
func (l *Line) Rest() []byte { return l.Text[l.At:] }

// Accept goes behind a text if that is next.
func (l *Line) Accept(text string) bool {
	if len(l.Text)-l.At < len(text) || string(l.Text[l.At:l.At+len(text)]) != text {
		return false
	}
	l.At += len(text)
	return true
}

// Expect goes behind a text, which is a problem if that is not next.
func (l *Line) Expect(text, expected string) {
	if !l.Accept(text) {
		l.Fail(l.At, expected)
	}
}

// Blanks goes behind blanks and tabs, of which there may be none.
func (l *Line) Blanks() {
	for l.At < len(l.Text) && (l.Text[l.At] == ' ' || l.Text[l.At] == '\t') {
		l.At++
	}
}

// Word reads up to a blank, which is a problem if it is next.
func (l *Line) Word(expected string) []byte {
	start := l.At
	l.At = itrace.WordEnd(l.Text, start)
	if l.At == start {
		l.Fail(start, expected)
	}
	return l.Text[start:l.At]
}

// End makes sure that a blank, a tab or the end of the line is next.
func (l *Line) End() {
	if l.At < len(l.Text) && l.Text[l.At] > ' ' {
		l.Fail(l.At, "a blank or the end of the line")
	}
}

// mostDecimals is how many digits Decimal reads: 64 bits hold them whatever they are.
const mostDecimals = 19

// Decimal reads a decimal number.
func (l *Line) Decimal(expected string) (n uint64) {
	start := l.At
	for l.At < len(l.Text) && l.Text[l.At]-'0' <= 9 && l.At-start < mostDecimals {
		n = n*10 + uint64(l.Text[l.At]-'0')
		l.At++
	}
	if l.At == start {
		l.Fail(start, expected)
	}
	return n
}

// isHex has the hexadecimal digits.
var isHex = func() (is [256]bool) {
	for _, c := range "0123456789abcdefABCDEF" {
		is[c] = true
	}
	return is
}()

// HexEnd returns where the hexadecimal digits end that begin at a place of a line, that place if there are none.
func HexEnd(line []byte, at int) int {
	for at < len(line) && isHex[line[at]] {
		at++
	}
	return at
}

// Value is the value of hexadecimal digits, of more than 16 that of the last. Digits of a line that a Batch has are read eight at
// once.
func Value(digits []byte) uint64 {
	const most = 16 // that 64 bits hold
	digits = digits[max(0, len(digits)-most):]
	if width := len(digits); width > 0 && cap(digits) >= swar.Lookahead {
		value, _ := swar.Hex(digits[:cap(digits)], 0, width)
		return value
	}
	value, _, _ := itrace.ParseDigits(digits)
	return value
}

// HexAt reads the hexadecimal digits that begin at a place of a line, and returns where they end, that place if there are none. Of
// more than 16 the last are the value.
func HexAt(line []byte, at int) (value uint64, end int) {
	end = at
	if cap(line)-at >= swar.Lookahead {
		value, width := swar.HexRun(line[:cap(line)], at)
		switch end = at + width; {
		case end > len(line): // they go on behind it
			end = at
		case width < 16 || end == len(line) || !isHex[line[end]]:
			return value, end
		}
	}
	end = HexEnd(line, end)
	return Value(line[at:end]), end
}

// Hex reads hexadecimal digits. Of more than 16 the last are the value.
func (l *Line) Hex(expected string) (value uint64, digits []byte) {
	start := l.At
	value, end := HexAt(l.Text, start)
	if end == start {
		l.Fail(start, expected)
		return 0, nil
	}
	l.At = end
	return value, l.Text[start:end]
}

// ZeroX reads 0x and hexadecimal digits.
func (l *Line) ZeroX(expected string) (value uint64, digits []byte) {
	start := l.At
	if !l.Accept("0x") {
		l.Fail(start, expected)
		return 0, nil
	}
	return l.Hex(expected)
}

// Address reads a prefix and an address in hexadecimal digits, which has 64 bits at most.
func (l *Line) Address(prefix, expected string) (value uint64, digits []byte) {
	start := l.At
	if !l.Accept(prefix) {
		l.Fail(start, expected)
		return 0, nil
	}
	if value, digits = l.Hex(expected); len(digits) <= 16 {
		return value, digits
	}
	if _, ok := itrace.ParseHex(digits); !ok {
		l.Fail(start, expected+" of 64 bits")
	}
	return value, digits
}
