package tracetext

import "fmt"

// Error says where a text is wrong.
type Error struct {
	Line, Column int    // from 1; the column counts bytes
	Problem      string // what was found and what was expected
}

// Error gives place and problem in one line.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
}
