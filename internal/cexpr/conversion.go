package cexpr

import "tracewell/symbol/ctype"

// Promoted is the type in which an integer takes part in arithmetic (C17, 6.3.1.1): int if it is narrower, or else its own without
// its name. A pointer counts as an unsigned integer of its size.
func Promoted(t *ctype.Type) *ctype.Type {
	switch {
	case t.Kind == ctype.Pointer:
		return ctype.Int(t.Size, false)
	case t.Size < 4 || t.Kind == ctype.Bool:
		return ctype.Int(4, true)
	}
	return ctype.Int(t.Size, t.Signed)
}

// Common is the type of an operation on two integers (C17, 6.3.1.8): the larger of the promoted ones, unsigned if both are as
// large and one of them is. So -1 < 1u is false, and -1 < 1l is true.
func Common(a, b *ctype.Type) *ctype.Type {
	a, b = Promoted(a), Promoted(b)
	switch {
	case a.Size > b.Size:
		return a
	case b.Size > a.Size:
		return b
	}
	return ctype.Int(a.Size, a.Signed && b.Signed)
}
