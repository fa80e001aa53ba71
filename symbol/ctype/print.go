package ctype

import (
	"encoding/hex"
	"slices"

	"tracewell/arch"
)

// Printer writes values as GDB's print command does with its settings as they are at first:
//
//	7   97 'a'   URGENT   0.25   0x404080 <q>   "job-1\000\000"   {head = 0x4052a0, count = 1}   {1, 2, 0 <repeats 14 times>}
//
// Bytes of an unknown type are written in hexadecimal.
type Printer struct {
	Order    arch.ByteOrder
	Language Language
	Symbol   func(arch.Addr) string // "q" or "push+95" of an address, "" if it has none
	// Memory reads what pointers to characters, and others that GDB follows, point to: as much as is there from the address on.
	// Without it they are written as other pointers.
	Memory func(addr arch.Addr, b []byte) int
	// Brief leaves out the text that a pointer points to where it cannot be read, which otherwise is said.
	Brief bool
	// UTF8 writes text in UTF-8 as it is, as GDB does in such a locale; otherwise bytes that are no ASCII are escaped.
	UTF8 bool

	// Unfold writes a record or pointer of which more is known than its members, such as a container, or any value of Go, as it
	// stands so deep within others. It is false for any other.
	Unfold func(p Printer, dst []byte, v Value, depth int) ([]byte, bool)

	// Untyped says that the type of a value of Go stands elsewhere, for Unfold.
	Untyped bool

	// written are the virtual base classes of an object that have been printed: GDB prints each where it comes first.
	written map[string]bool
}

// Value is a value and where it is.
type Value struct {
	Type     *Type
	Bytes    []byte // of Type.Size
	InMemory bool
	Addr     arch.Addr // InMemory, and of a function
	Holes    []Hole    // of Bytes, in order

	whole *Value // the object of a class that it is, or is a base class of; nil for what was not reached through its object
	at    int    // of a base class: its offset in the object
}

// base is a base class at an offset in the same object. By its type it may be larger than what is left of the object: what it has
// at its end are virtual base classes, which lie elsewhere here.
func (v Value) base(t *Type, at int) Value {
	inner := v.whole.Part(t, at)
	if missing := t.Size - len(inner.Bytes); missing > 0 && missing <= mostRead {
		inner.Bytes = append(slices.Clip(inner.Bytes), make([]byte, missing)...)
	}
	inner.whole, inner.at = v.whole, at
	return inner
}

// Hole is a part of a value that is not known: the bytes from From up to To.
type Hole struct {
	From, To int
	Why      string // Unavailable or OptimizedOut
}

// Why parts of a value are not known, as GDB writes it.
const (
	Unavailable  = "<unavailable>"
	OptimizedOut = "<optimized out>"
)

// The limits of GDB: "print elements", "print repeats" and "print max-depth".
const (
	mostElements = 200
	fewestEqual  = 10
	mostDepth    = 20
)

// deepest is how far types may contain one another; debugging information that is damaged knows no end.
const deepest = 32

// Append appends the value of a type that memory holds, as it stands within others. What memory is too short for is "...".
func (p Printer) Append(dst []byte, t *Type, b []byte) []byte {
	return p.append(dst, Value{Type: t, Bytes: b}, 0)
}

// short stands for a value of which memory has too few bytes, or that of a type without a size.
const short = "..."

// AppendField appends the value of a member of a record that memory holds.
func (p Printer) AppendField(dst []byte, f Field, record []byte) []byte {
	return p.field(dst, f, Value{Bytes: record}, 0)
}

// AppendValue appends a value as it stands within others, "0x404080 <q>".
func (p Printer) AppendValue(dst []byte, v Value) []byte { return p.append(dst, v, 0) }

// AppendWithin appends a value that lies so deep within others.
func (p Printer) AppendWithin(dst []byte, v Value, depth int) []byte { return p.append(dst, v, depth) }

// AppendText appends characters between quotes. What is cut is known to go on.
func (p Printer) AppendText(dst []byte, elem *Type, b []byte, cut bool) []byte {
	return p.text(dst, elem, b, cut)
}

// Print appends a value as it stands alone, where pointers and references have their type: "(struct queue *) 0x404080 <q>".
func (p Printer) Print(dst []byte, v Value) []byte {
	if len(v.Bytes) < v.Type.Size || v.missing(0) != "" {
		return p.append(dst, v, 0)
	}
	switch t := v.Type; {
	case p.Language == Rust && t.Kind == Pointer:
		dst = append(append(append(dst, '('), rustType(t, 0)...), ") "...)
	case p.Language == Go && p.Unfold != nil: // which writes types
	case t.Kind == Pointer && !t.nameless() && t.Describe == nil:
		dst = append(append(append(dst, '('), t.String()...), ") "...)
	}
	if v.Type.Reference {
		return p.referenced(p.append(dst, v, 0), v)
	}
	return p.append(dst, v, 0)
}

// nameless reports whether GDB leaves the type of a pointer away, since the text says enough.
func (t *Type) nameless() bool {
	return t.Name == "" && !t.Reference && t.Elem.Char && (t.Elem.Name == "char" || t.Elem.Size > 1)
}

// referenced writes what a reference refers to.
func (p Printer) referenced(dst []byte, v Value) []byte {
	if p.Memory == nil {
		return dst
	}
	v.Bytes = v.Bytes[:v.Type.Size]
	target, ok := p.target(v)
	dst = append(dst, ": "...)
	if !ok {
		return p.unreadable(dst, target.Addr)
	}
	return p.append(dst, target, 0)
}

// read reads a value from memory. It is false if nothing of it is there.
func (p Printer) read(t *Type, addr arch.Addr) (Value, bool) {
	v := Value{Type: t, InMemory: true, Addr: addr}
	if p.Memory == nil || t.Size > mostRead {
		return v, false
	}
	v.Bytes = make([]byte, t.Size)
	n := p.Memory(addr, v.Bytes)
	if n < t.Size {
		v.Holes = []Hole{{n, t.Size, Unavailable}}
	}
	return v, n > 0 || t.Size == 0
}

// mostRead bounds what is read for one value.
const mostRead = 1 << 20

func (p Printer) unreadable(dst []byte, addr arch.Addr) []byte {
	return append(append(append(dst, "<error: Cannot access memory at address "...), addr.String()...), '>')
}

// missing tells why a value that lies so deep within another is not there: if it is a scalar and a part of it is not, or if
// nothing of it is. The latter GDB does not notice where there are several reasons, or of a part that was optimised out.
func (v Value) missing(depth int) string {
	if len(v.Holes) == 0 {
		return ""
	}
	first := v.Holes[0]
	whole := len(v.Holes) == 1 && first.From == 0 && first.To == v.Type.Size && (depth == 0 || first.Why != OptimizedOut)
	if t := v.Type; (t.Kind == Record || t.Kind == Array) && !whole {
		return ""
	}
	return first.Why
}

// Part is the value of a type at an offset within another, which is not negative. It has fewer bytes than its type if
// the other ends before it.
func (v Value) Part(t *Type, offset int) Value {
	inner := Value{Type: t, InMemory: v.InMemory, Addr: v.Addr + arch.Addr(offset), Holes: v.holes(offset, t.Size)}
	if offset < len(v.Bytes) {
		inner.Bytes = v.Bytes[offset:min(len(v.Bytes), offset+max(t.Size, 0))]
	}
	return inner
}

// holes are those of a part of size bytes.
func (v Value) holes(offset, size int) (holes []Hole) {
	for _, h := range v.Holes {
		h.From, h.To = max(h.From-offset, 0), min(h.To-offset, size)
		if h.From < h.To {
			holes = append(holes, h)
		}
	}
	return holes
}

func (p Printer) append(dst []byte, v Value, depth int) []byte {
	t := v.Type
	switch {
	case t.Kind == Function:
		return p.function(dst, v)
	case t.Kind == Opaque && t.Size == 0 && t.Name != "":
		return append(dst, "<incomplete type>"...)
	case t.Size < 0 || len(v.Bytes) < t.Size || t.Size == 0 && t.Kind != Record && t.Kind != Array:
		return append(dst, short...)
	}
	v.Bytes = v.Bytes[:t.Size]
	if why := v.missing(depth); why != "" {
		return append(dst, why...)
	}
	if t.Describe != nil {
		return t.Describe(dst, v.Bytes, p.Memory)
	}
	if (t.Kind == Record || t.Kind == Pointer || p.Language == Go) && p.Unfold != nil && depth < mostDepth {
		if unfolded, ok := p.Unfold(p, dst, v, depth); ok {
			return unfolded
		}
	}
	switch {
	case t.Kind == Record:
		return p.record(dst, v, depth)
	case t.Kind == Array:
		return p.array(dst, v, depth)
	}
	return p.scalar(dst, v)
}

// function writes the type and the place of a function.
func (p Printer) function(dst []byte, v Value) []byte {
	text := v.Type.String()
	if p.Language == Rust {
		text = rustType(v.Type, 0)
	}
	return p.pointer(append(append(append(dst, '{'), text...), "} "...), v.Addr)
}

func appendHex(dst, b []byte) []byte { return hex.AppendEncode(append(dst, "0x"...), b) }

// appendName writes a name of the program, which can be anything, so that it does nothing to a terminal.
func appendName(dst []byte, name string) []byte {
	for _, c := range []byte(name) {
		if c < ' ' || c == 0x7f {
			c = '?'
		}
		dst = append(dst, c)
	}
	return dst
}
