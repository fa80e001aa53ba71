package cexpr

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is a fault in the text of an expression. symbol/expr has it as its own type, with the same fields.
type Error struct {
	Text       string // the whole expression
	Start, End int    // of the part that is wrong, in bytes; End may equal Start
	Problem    string
	Hint       string // what could be meant; "" for nothing to say
	Unknown    string // the name that means nothing, "" if that is not what is wrong
}

// Error gives the problem, the expression with the part marked, and the hint, in several lines.
func (e *Error) Error() string {
	line, mark := underline(e.Text, e.Start, e.End)
	text := fmt.Sprintf("%s\n  %s\n  %s", e.Problem, line, mark)
	if e.Hint != "" {
		text += "\n" + e.Hint
	}
	return text
}

// underline returns a text in one line, and a line that marks a part of it with ^~~~. Characters that do not print become blanks,
// so that a line break or an escape sequence cannot move the mark; columns count characters, not bytes.
func underline(text string, start, end int) (line, mark string) {
	visible := func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}
	start, end = min(start, len(text)), min(end, len(text))
	before := utf8.RuneCountInString(text[:start])
	length := utf8.RuneCountInString(text[start:max(start, end)])
	return strings.Map(visible, text), strings.Repeat(" ", before) + "^" + strings.Repeat("~", max(length-1, 0))
}
