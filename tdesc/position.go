package tdesc

import (
	"fmt"
	"strings"
)

// Position is a place in a document.
type Position struct {
	Annex        string    // name of the included document, "" for the one given to Parse
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
	Pos  Position
	Text string
	Err  error // what the caller's include function said, if that is the reason
}

// Error gives position, text and cause.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("target description: %v: %s: %v", e.Pos, e.Text, e.Err)
	}
	return fmt.Sprintf("target description: %v: %s", e.Pos, e.Text)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Warning is something in a document that has no effect, or one that its author will not have meant.
type Warning struct {
	Pos  Position
	Text string
}

// String gives position and text.
func (w Warning) String() string { return fmt.Sprintf("%v: %s", w.Pos, w.Text) }

func errorAt(pos Position, format string, args ...any) *Error {
	return &Error{Pos: pos, Text: fmt.Sprintf(format, args...)}
}
