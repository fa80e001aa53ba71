package trace

import (
	"fmt"

	"tracewell/rsp"
)

// scanner reads one text form. Its first error stays, so a parser reads a whole production and asks once.
//
// It is strict where GDB is not: GDB reads a number without digits as 0 and wraps at 64 bits, and a peer that sends such a
// field means something other than what GDB would make of it.
type scanner struct {
	*rsp.Scanner
	form string // what is being read, such as "QTDP packet"
	text string
}

func newScanner(form, text string) scanner { return scanner{rsp.NewScanner(text), form, text} }

// finish expects the end and returns the first error, with the form ahead of it.
func (s scanner) finish() error {
	if err := s.End(); err != nil {
		return fmt.Errorf("%s: %w", s.form, err)
	}
	return nil
}

// left is how many bytes are unread.
func (s scanner) left() int { return len(s.text) - s.Pos() }

// letter expects one of set.
func (s scanner) letter(set string) byte {
	for i := range len(set) {
		if s.Accept(set[i]) {
			return set[i]
		}
	}
	s.Fail("one of the letters " + set)
	return 0
}

// hexString reads a string in pairs of digits, which may be empty.
func (s scanner) hexString() string { return string(s.HexBytes()) }
