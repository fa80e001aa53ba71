package scan

import (
	"strings"
	"testing"
)

// TestParts reads the parts of a line, with and without memory behind it.
func TestParts(t *testing.T) {
	text := "core \t 12: 0x80000080123456789abcdef0 word,1  end"
	for _, room := range []int{0, 32} {
		l := Line{Text: append(make([]byte, 0, len(text)+room), text...)}
		if l.Accept("corn") || !l.Accept("core") {
			t.Error("a text that is next, or is not")
		}
		l.Blanks()
		if n := l.Decimal("a number"); n != 12 || l.Peek() != ':' {
			t.Errorf("the number is %d", n)
		}
		l.Expect(": ", "a colon")
		value, digits := l.ZeroX("a value")
		if value != 0x123456789abcdef0 || string(digits) != "80000080123456789abcdef0" {
			t.Errorf("the value is %#x, %s", value, digits)
		}
		l.Blanks()
		at := l.At
		if low, _ := l.Hex("digits"); l.Problem == nil || low != 0 || l.Problem.Error() != `column 39: found "word,1", expected digits` {
			t.Errorf("digits that there are not: %d, %v", low, l.Problem)
		}
		if l.Fail(0, "something else"); !l.Done() || strings.Contains(l.Problem.Error(), "else") {
			t.Errorf("the first problem is not kept: %v", l.Problem)
		}
		l.Problem, l.At = nil, at
		if word := l.Word("a word"); string(word) != "word,1" {
			t.Errorf("the word is %q", word)
		}
		l.End()
		if l.Word("a word"); l.Problem == nil || len(l.Rest()) != 0 {
			t.Error("a blank is a word")
		}
	}
}

// TestAddress has addresses of 64 bits, with zeros in front, and of more.
func TestAddress(t *testing.T) {
	for text, want := range map[string]uint64{
		"0xffffffffffffffff": 1<<64 - 1, "0x00000ffffffffffffffff": 1<<64 - 1, "0x80": 0x80, "0x10000000000000000": 0, "80": 0, "0x": 0,
	} {
		l := Line{Text: append(make([]byte, 0, 64), text...)}
		if got, _ := l.Address("0x", "an address"); want == 0 && l.Problem == nil || want != 0 && (got != want || l.Problem != nil) {
			t.Errorf("%s is %#x, %v", text, got, l.Problem)
		}
	}
}

// TestEnds: at the end of a line there is nothing, and numbers do not go on behind it.
func TestEnds(t *testing.T) {
	for text, read := range map[string]func(*Line){
		"":     func(l *Line) { l.Word("a word") },
		"0":    func(l *Line) { l.ZeroX("0x") },
		"0x":   func(l *Line) { l.ZeroX("digits") },
		"x":    func(l *Line) { l.Decimal("a number") },
		"a":    func(l *Line) { l.Expect("ab", "ab") },
		"x y":  func(l *Line) { l.End() },
		"\tx ": func(l *Line) { l.Decimal("a number") },
	} {
		l := Line{Text: append(make([]byte, 0, 64), text...)}
		if read(&l); l.Problem == nil || !l.Done() {
			t.Errorf("%q is read: %v", text, l.Problem)
		}
	}
	l := Line{Text: append(make([]byte, 0, 64), "12345"...)[:2]}
	if n := l.Decimal("a number"); n != 12 || !l.Done() {
		t.Errorf("the number is %d", n)
	}
	l = Line{Text: append(make([]byte, 0, 64), "0x12345"...)[:4]}
	if n, digits := l.ZeroX("a number"); n != 0x12 || len(digits) != 2 {
		t.Errorf("the number is %#x", n)
	}
}
