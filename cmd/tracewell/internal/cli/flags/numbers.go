package flags

import (
	"fmt"
	"strconv"
	"time"
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

// Span is a duration of more than 0: "10s", or a number of seconds.
type Span time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Span) UnmarshalText(text []byte) error {
	// A number without a unit is no duration of Go's but for 0, yet it is how timeout(1) and sleep(1) count.
	d, err := time.ParseDuration(string(text))
	if seconds, isNumber := strconv.ParseUint(string(text), 10, 31); isNumber == nil {
		d, err = time.Duration(seconds)*time.Second, nil
	}
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is no time, such as 10s, 2m or 500ms", text)
	}
	*s = Span(d)
	return nil
}
