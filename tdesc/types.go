package tdesc

// Type is a type that a feature defines: a Vector, Struct, Union, Flags or Enum. Types refer to each other by name, within
// their feature only.
type Type interface {
	// TypeID is the name that registers, fields and vectors refer to.
	TypeID() string
}

// Vector is Count elements of type Elem.
type Vector struct {
	ID    string
	Elem  string
	Count int

	Unknown *Unknown // what the format does not know, nil without; so in all types and their parts
}

// Struct is a structure in one of two forms. With Size 0 it has Fields, which follow each other without padding. With a
// Size, in bytes, it has Bits, which lie anywhere in it.
type Struct struct {
	ID     string
	Fields []Field
	Size   int
	Bits   []BitField

	Unknown *Unknown
}

// Union is several views of the same bytes; its size is that of the largest.
type Union struct {
	ID     string
	Fields []Field

	Unknown *Unknown
}

// Flags is a register of Size bytes whose bits have names.
type Flags struct {
	ID   string
	Size int
	Bits []BitField

	Unknown *Unknown
}

// Enum is an unsigned number of Size bytes whose values have names.
type Enum struct {
	ID     string
	Size   int
	Values []EnumValue

	Unknown *Unknown
}

// Field is a member of a Struct or Union.
type Field struct {
	Name, Type string

	Unknown *Unknown
}

// BitField is the bits from Start to End, both included, of a sized type; bit 0 is the least significant in either byte
// order. Fields may overlap, and one without a name is a filler. Type is never empty in what Parse returns.
type BitField struct {
	Name       string
	Start, End int
	Type       string

	Unknown *Unknown
}

// EnumValue is a value with a name.
type EnumValue struct {
	Name  string
	Value int

	Unknown *Unknown
}

// TypeID implements Type.
func (t Vector) TypeID() string { return t.ID }

// TypeID implements Type.
func (t Struct) TypeID() string { return t.ID }

// TypeID implements Type.
func (t Union) TypeID() string { return t.ID }

// TypeID implements Type.
func (t Flags) TypeID() string { return t.ID }

// TypeID implements Type.
func (t Enum) TypeID() string { return t.ID }

// Limits that GDB sets.
const (
	maxCount     = 65536     // elements of a vector, bytes of a sized type
	maxBit       = 63        // last bit that a bit field can reach
	maxEnumValue = 1<<31 - 1 // of an evalue
)

// The types that a register gets by its bitsize rather than by a definition.
const (
	typeInt   = "int"
	typeFloat = "float"
)

// defaultBitType is the type of a bit field that names none, or none that exists. GDB 13 takes an unknown name for none.
func defaultBitType(size, start, end int) string {
	switch {
	case start == end:
		return "bool"
	case size <= 4:
		return "uint32"
	default:
		return "uint64"
	}
}
