package flags

import (
	"fmt"
	"strconv"
)

// Count is a number of 0 or more. kong's own errors about numbers speak of bit sizes, so these types have their own.
type Count int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Count) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 63)
	if err != nil {
		return fmt.Errorf("%q is no number of 0 or more", text)
	}
	*c = Count(n)
	return nil
}

// Positive is a number of things of which there is at least one. Where an option has no default, 0 is the value without the
// option, which nobody can give: so a command can tell the two apart.
type Positive int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Positive) UnmarshalText(text []byte) error {
	// 31 bits, so that the number fits into an int on every platform.
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil || n == 0 {
		return fmt.Errorf("%q is no number of 1 or more", text)
	}
	*p = Positive(n)
	return nil
}
