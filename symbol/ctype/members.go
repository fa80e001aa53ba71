package ctype

import (
	"sync"

	"tracewell/arch"
)

// Field is a member of a Record. One without a name is a structure or union whose members count as the outer one's; so do those
// of a base class.
type Field struct {
	Name   string
	Offset int // bytes
	Type   *Type
	Bits   int  // of a bit field, 0 otherwise
	Shift  int  // of a bit field: from the lowest bit of the integer of Span bytes at Offset
	Base   bool // a base class, of which Name is the name
	// Virtual says that the field is or lies in a virtual base class, whose Offset is not known, as it is another in each class
	// that derives from it. It stands in the virtual table, VTable bytes from where the first word of the object points to.
	Virtual    bool
	VTable     int
	Artificial bool // made by the compiler, as the pointer to the virtual table
	Static     bool // a member of the class and not of its objects
	// Addr is where a static member is, 0 where that is not known; Value is that of one that is nowhere.
	Addr  arch.Addr
	Value []byte
}

// Variants are the alternatives of a Record of which one is there at a time.
type Variants struct {
	Discriminant *Field // which of them; nil where there is but one
	List         []Variant
}

// Variant is an alternative. One without Values is there if no other is.
type Variant struct {
	Values []uint64
	Field  Field
}

// members are what a Record is made of. They are found when they are first asked for: a program has more types than anyone
// looks into.
type members struct {
	once     sync.Once
	find     func() ([]Field, *Variants)
	fields   []Field
	variants *Variants
}

func (m *members) get() ([]Field, *Variants) {
	if m == nil {
		return nil, nil
	}
	m.once.Do(func() {
		if m.find != nil {
			m.fields, m.variants = m.find()
			m.find = nil
		}
	})
	return m.fields, m.variants
}

// RecordOf returns the type of structures with these members.
func RecordOf(name string, size int, fields ...Field) *Type {
	return &Type{Kind: Record, Name: name, Size: size, members: &members{fields: fields}}
}

// LateRecord returns the type of structures whose members are found when they are first asked for.
func LateRecord(name string, size int, find func() ([]Field, *Variants)) *Type {
	return &Type{Kind: Record, Name: name, Size: size, members: &members{find: find}}
}

// Fields returns the members of a Record in the order of their declaration, base classes first.
func (t *Type) Fields() []Field {
	fields, _ := t.members.get()
	return fields
}

// Variants returns the alternatives of a Record, nil if it has none.
func (t *Type) Variants() *Variants {
	_, variants := t.members.get()
	return variants
}

// Field finds a member by name, also within members that have no name and within base classes; one of the class itself comes
// before those. The Offset is from the start of t; the field is Virtual if it lies in a base class that is.
func (t *Type) Field(name string) (Field, bool) { return t.field(name, 0) }

// deepestNameless is how far members without names, and base classes, may be within one another.
const deepestNameless = 16

func (t *Type) field(name string, depth int) (Field, bool) {
	fields := t.Fields()
	for _, f := range fields {
		if f.Name == name {
			return f, true
		}
	}
	for _, f := range fields {
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
