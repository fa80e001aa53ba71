package flags

import (
	"errors"
	"fmt"
	"strings"
)

// Stacks are the options that have the stacks of frames counted. show and record have the same. --by and --folded imply
// --stacks, as they mean nothing without it.
type Stacks struct {
	Stacks bool     `group:"What is printed:" help:"Print how often each stack of calls occurred, the most frequent first, in place of the frames. record prints them when the run ends."`
	By     Callers  `group:"What is printed:" placeholder:"caller[=N]" help:"Count the functions that called the one in which the frame was collected, by the innermost N calls. Implies --stacks."`
	Folded bool     `group:"What is printed:" help:"Print folded stacks, the input of flame graph programs: a line 'main;push COUNT' for each stack. Implies --stacks."`
	Top    Positive `group:"What is printed:" placeholder:"N" help:"Print only the N most frequent stacks, or keys of figures. Without it text has the first 20, of stacks --folded and --json all."`
}

// Counted reports whether stacks are counted.
func (s *Stacks) Counted() bool { return s.Stacks || s.Folded || s.By > 0 }

// Check returns an error of the command line about options that contradict each other. Figures have a --top, too.
func (s *Stacks) Check(json, figures bool) error {
	switch {
	case s.Top > 0 && !s.Counted() && !figures:
		return errors.New("--top is for --stacks, --folded, --by, --count-by and other figures")
	case s.Folded && json:
		return errors.New("--folded and --json can't be used together")
	}
	return nil
}

// Callers is how many callers make a stack, 0 for all.
type Callers Positive

// UnmarshalText implements encoding.TextUnmarshaler. The word says what is counted by, so that there can be others.
func (c *Callers) UnmarshalText(text []byte) error {
	what, number, given := strings.Cut(string(text), "=")
	if what != "caller" {
		return fmt.Errorf("%q is neither caller nor caller=N", text)
	}
	*c = 1 // the caller itself
	if !given {
		return nil
	}
	return (*Positive)(c).UnmarshalText([]byte(number))
}
