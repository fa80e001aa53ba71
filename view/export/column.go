package export

import (
	"tracewell/symbol/ctype"
)

// Kind is what the values of a column are.
type Kind uint8

// The kinds.
const (
	Integer Kind = iota
	Unsigned
	Address // an Unsigned that people read in hexadecimal
	Float   // of 4 or 8 bytes
	Truth   // 0 or 1
	Time    // microseconds since 1970, or on the clock of a stub
	Text    // UTF-8; also an enumerator's name, and JSON of what has no other kind
)

// Column is a column of a table. Its name is that of CSV; one that is spelled like a column in front of it is in parentheses.
type Column struct {
	Name string
	Kind Kind
	Size int  // bytes of an Integer, Unsigned or Address (1, 2, 4 or 8) or Float (4 or 8); 0 for others
	Item bool // what a tracepoint collects by name, and no register nor what tells of the frame itself
}

// Cell is the value of a column in a frame.
type Cell struct {
	Known bool   // the frame has it
	Bits  uint64 // of an Integer, extended by its sign; of a Float as math.Float64bits has them; 0 or 1 of a Truth
	Text  []byte // of a Text; valid until the next Read
}

// columnOf is the kind and size of values of a type.
func columnOf(t *ctype.Type) (Kind, int) {
	switch {
	case t.Kind == ctype.Float && (t.Size == 4 || t.Size == 8) && !t.Swapped:
		return Float, t.Size
	case !t.Scalar() || t.Reference || len(t.Values) > 0 || isCharacters(t):
		return Text, 0
	case t.Kind == ctype.Bool:
		return Truth, 0
	case t.Kind == ctype.Pointer:
		return Address, t.Size
	case t.Signed:
		return Integer, t.Size
	}
	return Unsigned, t.Size
}

// isCharacters reports whether a type is that of pointers to characters, which are texts for people where the frame has them.
func isCharacters(t *ctype.Type) bool {
	return t.Scalar() && t.Kind == ctype.Pointer && t.Elem.Char && t.Elem.Size == 1
}

// joined is the column of values of two: tracepoints may collect different things by one name.
func (c Column) joined(kind Kind, size int) Column {
	if c.Kind != kind {
		c.Kind, c.Size = Text, 0
	}
	c.Size = max(c.Size, size)
	if c.Kind == Text {
		c.Size = 0
	}
	return c
}
