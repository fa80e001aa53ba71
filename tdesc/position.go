package tdesc

import (
	"fmt"
	"strings"
)

// Position is a place in a document.
type Position struct {
	Annex        string    // name of the included document, "" for the one given to Parse
	Offset       int       // in bytes from the start of that document
	Line, Column int       // from 1; columns are bytes
	From         *Position // of the xi:include that brought the document in, nil for the one given to Parse
}

// String names the place and, for an included document, the chain of annexes that leads there.
func (p Position) String() string {
	var b strings.Builder
	p.append(&b)
	for from := p.From; from != nil; from = from.From {
		b.WriteString(", included from ")
		from.append(&b)
	}
	return b.String()
}

func (p Position) append(b *strings.Builder) {
	if p.Annex != "" {
		fmt.Fprintf(b, "%q:", p.Annex)
	}
	fmt.Fprintf(b, "%d:%d", p.Line, p.Column)
}

// Error is why a document is no target description.
type Error struct {
	Rule *Rule
	Pos  Position
	Text string
	Err  error // what the caller's include function said, if that is the reason
}

// Error gives position, text and cause.
func (e *Error) Error() string { return "target description: " + e.finding().String() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) finding() Finding {
	text := e.Text
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return Finding{Rule: e.Rule, Pos: e.Pos, Text: text}
}

// Finding is something in a document that is wrong, has no effect, or is not what its author will have meant.
type Finding struct {
	Rule *Rule
	Pos  Position
	Text string
}

// String gives position and text.
func (f Finding) String() string { return fmt.Sprintf("%v: %s", f.Pos, f.Text) }

func errorAt(rule *Rule, pos Position, format string, args ...any) *Error {
	return &Error{Rule: rule, Pos: pos, Text: fmt.Sprintf(format, args...)}
}
