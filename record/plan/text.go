package plan

import (
	"errors"
	"fmt"
	"strings"

	"tracewell/symbol/expr"
)

// Text is a piece of what a user typed, and where it stands.
type Text struct {
	Value  string
	Origin string // the option, "--collect", or the script and its line, "points.gdb:12"
	Line   string // the whole value of the option, or the whole line
	Column int    // of Value in Line, in bytes
}

// String returns the text itself.
func (t Text) String() string { return t.Value }

// blanks is what may stand around a text without being of it.
const blanks = " \t\r\v\f"

// whole is a text that is all of its line.
func whole(origin, line string) Text { return Text{line, origin, line, 0} }

// part returns t[start:end] without the blanks around it.
func (t Text) part(start, end int) Text {
	value := strings.TrimRight(t.Value[start:end], blanks)
	trimmed := strings.TrimLeft(value, blanks)
	t.Column += start + len(value) - len(trimmed)
	t.Value = trimmed
	return t
}

// cut splits a text at the first blank after its first word.
func (t Text) cut() (word, rest Text) {
	end := strings.IndexAny(t.Value, blanks)
	if end < 0 {
		end = len(t.Value)
	}
	return t.part(0, end), t.part(end, len(t.Value))
}

// Fault is an error about t.Value[start:end] that shows it where the user typed it. The hint says what could be meant; it may
// be empty.
func (t Text) Fault(start, end int, problem, hint string) *expr.Error {
	return &expr.Error{Text: t.Line, Start: t.Column + start, End: t.Column + end, Problem: t.Origin + ": " + problem, Hint: hint}
}

// fault is an error about all of a text.
func (t Text) fault(format string, args ...any) *expr.Error {
	return t.Fault(0, len(t.Value), fmt.Sprintf(format, args...), "")
}

// Explain puts an error about Value where the user typed it: one that marks a part of Value marks it in the line; any other is
// about all of it.
func (t Text) Explain(err error) error {
	var marked *expr.Error
	if errors.As(err, &marked) && marked.Text == t.Value {
		moved := t.Fault(marked.Start, marked.End, marked.Problem, marked.Hint)
		moved.Unknown = marked.Unknown
		return moved
	}
	return t.fault("%v", err)
}

// brackets are what opens and closes a part in which a comma or a word ends nothing.
const opening, closing = "([{", ")]}"

// scan calls visit for each byte of an expression that stands outside of quotes and brackets, and between the angle brackets
// of no template's arguments, until it returns false.
func (t Text) scan(visit func(i int) bool) {
	depth := 0
	for i := 0; i < len(t.Value); i++ {
		switch c := t.Value[i]; {
		case c == '\'' || c == '"':
			i = t.quoteEnd(i)
		case strings.IndexByte(opening, c) >= 0:
			depth++
		case strings.IndexByte(closing, c) >= 0:
			depth = max(depth-1, 0)
		case c == '<' && t.argumentsEnd(i) > i:
			i = t.argumentsEnd(i)
		case depth == 0 && !visit(i):
			return
		}
	}
}

// quoteEnd returns where the quote that begins at i ends. One that never does is no quote: a Rust lifetime, say.
func (t Text) quoteEnd(i int) int {
	for end := i + 1; end < len(t.Value); end++ {
		switch t.Value[end] {
		case '\\':
			end++
		case t.Value[i]:
			return end
		}
	}
	return i
}

// argumentsEnd returns where the arguments of a template end that begin at i, and i if nothing says that they are such: they
// do that if :: or ( follows.
func (t Text) argumentsEnd(i int) int {
	depth := 0
	for end := i; end < len(t.Value); end++ {
		switch t.Value[end] {
		case '<':
			depth++
		case '>':
			if depth--; depth > 0 {
				continue
			}
			if rest := t.Value[end+1:]; strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, "(") {
				return end
			}
			return i
		case '=', '&', '|', '"', '\'', ';':
			if t.Value[end] != '&' || strings.HasPrefix(t.Value[end:], "&&") {
				return i
			}
		}
	}
	return i
}

// List takes the value of an option apart that is a list of expressions. An error is of type *expr.Error.
func List(option, value string) ([]Text, error) { return whole(option, value).list() }

// list takes a list of expressions apart, which have commas between them.
func (t Text) list() ([]Text, error) {
	var found []Text
	start := 0
	add := func(end int) error {
		e := t.part(start, end)
		switch {
		case e.Value == "":
			return e.Fault(0, 0, "there is no expression here", "")
		case strings.HasPrefix(e.Value, "/s"):
			return e.Fault(0, 2, "this holds for all expressions and stands in front of them", "for others there is a second collect")
		case e.Value[0] == '/':
			return e.Fault(0, 1, "no expression begins with this", "")
		}
		found = append(found, e)
		start = end + 1
		return nil
	}
	var err error
	t.scan(func(i int) bool {
		if t.Value[i] == ',' {
			err = add(i)
		}
		return err == nil
	})
	if err == nil {
		err = add(len(t.Value))
	}
	return found, err
}
