package definition

import (
	"fmt"

	"tracewell/internal/text"
)

// Problems are what cannot be done at locations of one tracepoint, which is set all the same: at least one, in the order of the
// locations. A tracepoint on many functions may have hundreds that are alike.
type Problems []error

// Error tells the first, and how many there are besides.
func (p Problems) Error() string {
	if len(p) == 1 {
		return p[0].Error()
	}
	return fmt.Sprintf("%v\n%s about this tracepoint", p[0], text.Plural(len(p)-1, "more warning"))
}

// Unwrap returns each of them.
func (p Problems) Unwrap() []error { return p }
