package ctype

import (
	"slices"
	"strconv"
)

// Kind is a kind of type.
type Kind uint8

// The kinds.
const (
	Opaque  Kind = iota // of a size at most: functions, vectors, what nobody knows more of
	Integer             // also enumerations
	Bool
	Float
	Pointer
	Array
	Record   // a structure, union or class
	Function // code
)

// Type is a type of C.
type Type struct {
	Kind   Kind
	Name   string // as C writes it; "" is made up by String
	Size   int    // bytes; 0 if not known
	Signed bool   // Integer
	Char   bool   // Integer: a character, which is shown as one
	Elem   *Type  // Pointer, Array; Function: of the result
	// Reference says of a Pointer that it is a reference of C++, which stands for what it refers to.
	Reference bool
	Count     int // Array
	Fields    []Field
	Values    []Enumerator // Integer: of an enumeration, in the order of its declaration
}

// Enumerator is a value of an enumeration.
type Enumerator struct {
	Name  string
	Value int64
}

// Field is a member of a Record. One without a name is a structure or union whose members count as the outer one's, and so do
// those of a base class.
type Field struct {
	Name    string
	Offset  int // bytes
	Type    *Type
	Bits    int  // of a bit field, 0 otherwise
	Shift   int  // of a bit field: from the lowest bit of the Type's integer at Offset
	Base    bool // a base class, of which Name is the name
	Virtual bool // a virtual base class: the Offset is not known, as it is another in each class that derives from it
}

// Extract takes a bit field out of the integer of the Type that it is a part of, extended to 64 bits by its sign.
func (f Field) Extract(whole uint64) uint64 {
	up, down := uint(64-f.Shift-f.Bits), uint(64-f.Bits)
	if f.Type.Signed {
		return uint64(int64(whole<<up) >> down)
	}
	return whole << up >> down
}

// Void is the type without values. GDB takes its size for 1 in arithmetic on pointers, and so do we.
var Void = &Type{Name: "void", Size: 1}

// Int returns an integer type of a size in bytes that has no name of its own.
func Int(size int, signed bool) *Type {
	for i, n := range sizes {
		if n == size && signed {
			return signedTypes[i]
		} else if n == size {
			return unsignedTypes[i]
		}
	}
	return &Type{Name: "integer of " + strconv.Itoa(size) + " bytes", Size: size}
}

var (
	sizes         = [...]int{1, 2, 4, 8}
	signedTypes   = integers([...]string{"signed char", "short", "int", "long"}, true)
	unsignedTypes = integers([...]string{"unsigned char", "unsigned short", "unsigned int", "unsigned long"}, false)
)

func integers(names [len(sizes)]string, signed bool) (types [len(sizes)]*Type) {
	for i, name := range names {
		types[i] = &Type{Kind: Integer, Name: name, Size: sizes[i], Signed: signed}
	}
	return types
}

// Bytes returns the type of n bytes that nobody knows more of: a signed integer if there is one of that size, else an array
// of bytes.
func Bytes(n int) *Type {
	switch n {
	case 1, 2, 4, 8:
		return Int(n, true)
	}
	return ArrayOf(Int(1, false), n)
}

// PointerTo returns the type of pointers to elem, of size bytes.
func PointerTo(elem *Type, size int) *Type { return &Type{Kind: Pointer, Size: size, Elem: elem} }

// ArrayOf returns the type of arrays of count elements.
func ArrayOf(elem *Type, count int) *Type {
	return &Type{Kind: Array, Size: count * elem.Size, Elem: elem, Count: count}
}

// Scalar reports whether a value of the type is one integer of 1, 2, 4 or 8 bytes: an integer, a truth value or a pointer.
func (t *Type) Scalar() bool {
	integral := t.Kind == Integer || t.Kind == Bool || t.Kind == Pointer
	return integral && slices.Contains(sizes[:], t.Size)
}

// String gives the type as C writes it, "struct job *".
func (t *Type) String() string { return t.text(0) }

// text is String of a type that lies so deep within another. Damaged debugging information has types without end.
func (t *Type) text(depth int) string {
	switch {
	case t.Name != "":
		return t.Name
	case depth == deepest:
		return "…"
	case t.Kind == Pointer && t.Reference:
		return t.Elem.text(depth+1) + " &"
	case t.Kind == Pointer:
		return t.Elem.text(depth+1) + " *"
	case t.Kind == Array:
		lengths := ""
		for ; t.Kind == Array && t.Name == "" && depth < deepest; t = t.Elem {
			lengths += "[" + strconv.Itoa(t.Count) + "]"
			depth++
		}
		return t.text(depth) + " " + lengths
	}
	return "unknown type"
}

// Field finds a member by name, also within members that have no name and within base classes; one of the class itself comes
// before those. The Offset is from the start of t; the field is Virtual if it lies in a base class that is.
func (t *Type) Field(name string) (Field, bool) { return t.field(name, 0) }

// deepestNameless is how far members without names and base classes may be within one another.
const deepestNameless = 16

func (t *Type) field(name string, depth int) (Field, bool) {
	for _, f := range t.Fields {
		if f.Name == name {
			return f, true
		}
	}
	for _, f := range t.Fields {
		if f.Name != "" && !f.Base || f.Type.Kind != Record || depth == deepestNameless {
			continue
		}
		if inner, ok := f.Type.field(name, depth+1); ok {
			inner.Offset += f.Offset
			inner.Virtual = inner.Virtual || f.Virtual
			return inner, true
		}
	}
	return Field{}, false
}

// Extend widens an integer of the type, in the lowest Size bytes of bits, to 64 bits by its sign.
func (t *Type) Extend(bits uint64) uint64 {
	out := uint(64 - 8*min(max(t.Size, 0), 8))
	switch {
	case t.Kind == Bool:
		if bits<<out != 0 {
			return 1
		}
		return 0
	case t.Signed:
		return uint64(int64(bits<<out) >> out)
	}
	return bits << out >> out
}

// ABI is what C leaves to a machine.
type ABI struct {
	Pointer      int // bytes
	Long         int // bytes
	UnsignedChar bool
}
