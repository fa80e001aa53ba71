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

// Positive is a number of things of which there is at least one.
type Positive int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Positive) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil || n == 0 {
		return fmt.Errorf("%q is no number of 1 or more", text)
	}
	*p = Positive(n)
	return nil
}
