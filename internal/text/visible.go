package text

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// VisibleLines is Visible for a text of several lines, whose ends stay.
func VisibleLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Visible(line)
	}
	return strings.Join(lines, "\n")
}

// Visible replaces what a terminal would not show as a character of its own, control characters above all, by Go's escapes,
// so that a text of unknown origin can neither break a line nor command the terminal.
func Visible(s string) string {
	if strings.IndexFunc(s, hidden) < 0 && utf8.ValidString(s) {
		return s
	}
	var b []byte
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(b, `\x`...)
			b = append(b, hexDigits[s[0]>>4], hexDigits[s[0]&15])
		case hidden(r):
			quoted := strconv.AppendQuoteRune(nil, r)
			b = append(b, quoted[1:len(quoted)-1]...)
		default:
			b = append(b, s[:size]...)
		}
		s = s[size:]
	}
	return string(b)
}

const hexDigits = "0123456789abcdef"

func hidden(r rune) bool { return !strconv.IsPrint(r) }
