package tfile

import (
	"errors"
	"fmt"

	"tracewell/internal/text"
)

// The kinds of *FormatError.
var (
	// ErrNotTraceFile: the bytes do not begin with the magic line of a trace file of version 0.
	ErrNotTraceFile = errors.New("not a trace file")
	// ErrTruncated: the file ends before its end marker. A length that damage made too large looks the same.
	ErrTruncated = errors.New("premature end of the trace file")
	// ErrTooLong: the definitions are longer than any that could be meant.
	ErrTooLong = errors.New("definitions without end")
	// ErrDamaged: a frame holds something that is no block, or a block that reaches past its end.
	ErrDamaged = errors.New("damaged frame")
)

// FormatError says where a file or a frame stops being readable.
type FormatError struct {
	Kind     error // one of the variables above, for errors.Is
	Offset   int64 // in bytes from the start of the file; for a frame that is in no file, from its header
	Found    string
	Expected string
}

// Error gives the kind, the offset, what was found and what was expected, in one line.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%v: offset %d: found %s, expected %s", e.Kind, e.Offset, e.Found, e.Expected)
}

// Unwrap returns the kind.
func (e *FormatError) Unwrap() error { return e.Kind }

// Finding is something that is not as it should be in a file that can be read nevertheless.
type Finding struct {
	Offset int64 // in the file
	Rule   *Rule // that it breaks
	Text   string
}

// String gives offset, rule and text.
func (f Finding) String() string {
	return fmt.Sprintf("offset %d: %s: %s", f.Offset, f.Rule.Name, f.Text)
}

// quoted is a text that is quoted when it is formatted.
type quoted string

func (q quoted) String() string { return text.Quote(string(q)) }
