package twin

import "fmt"

// Error says where a text is wrong.
type Error struct {
	Line, Column int // from 1; the column counts bytes
	Found        string
	Expected     string
}

// Error gives place, what was found and what was expected, in one line.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: found %s, expected %s", e.Line, e.Column, e.Found, e.Expected)
}
