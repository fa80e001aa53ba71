package ctype

import (
	"encoding/binary"
	"slices"
	"strconv"

	"tracewell/arch"
)

// Kind is a kind of type.
type Kind uint8

// The kinds.
const (
	Opaque  Kind = iota // of a size at most: what nobody knows more of
	Integer             // also enumerations and characters
	Bool
	Float
	Pointer
	Array
	Record // a structure, class, union, tuple or Rust enumeration
	Complex
	Function
	MemberPointer // C++'s pointer to a member, or to a method if Elem is a Function
)

// Type is a type. One that names or qualifies another is like that other in all but Name, Const, Volatile and Alias, so that
// nobody has to look through it who only needs the value.
type Type struct {
	Kind     Kind
	Name     string // as the language writes it; "" is made up by String
	Size     int    // bytes; 0 if not known
	Signed   bool   // Integer
	Char     bool   // Integer: a character, which is shown as one
	Enum     bool   // Integer: an enumeration
	Union    bool   // Record: the members lie over one another
	Vector   bool   // Array: of a vector register
	Variadic bool   // Function
	// Prototyped says of a Function without Params that it takes none, and not that nobody knows which.
	Prototyped bool
	Const      bool
	Volatile   bool
	Restrict   bool
	// Swapped says of a scalar that its bytes are in the other order than those of the machine. It can be printed and not computed
	// with.
	Swapped bool
	// Reference says of a Pointer that it is a reference of C++, which stands for what it refers to; RValue that it is one
	// written with &&.
	Reference, RValue bool
	Elem              *Type   // Pointer, MemberPointer: what it points to; Array, Complex: a part; Function: what it returns
	Class             *Type   // MemberPointer
	Params            []*Type // Function
	Count             int     // Array
	Bound             *Bound  // Array: where its length is only known when the program runs; Count is 0 then
	Open              bool    // Array: nobody says how long it is; Count is 0
	Values            []Enumerator
	// Method names the virtual method of a Record, not of its base classes, at a place of the virtual table; "" if it has none there.
	Method func(place int) string
	// Arguments finds the types that a template of a Record was given, those of a pack one after the other; nil for none.
	Arguments func() []*Type
	// ByReference reports of a Record of C++ whether functions return it in memory whatever its size, because it cannot be copied
	// byte by byte. It is nil for other types, and an error where debug information does not tell.
	ByReference func() (bool, error)
	// Describe writes a value as people know it, "O_RDONLY|O_CLOEXEC", where its type is none of a program's sources; nil for others.
	// It reads what the value points to by the memory of a Printer, which may be nil.
	Describe func(dst, value []byte, memory func(addr arch.Addr, b []byte) int) []byte
	Alias    *Type // what a typedef or qualifier stands before, nil for other types
	members  *members
}

// Bound is the length of an array that is known when the program runs. Upper is a DWARF expression over the frame whose value
// is the last index, unless the length itself was given.
type Bound struct {
	Expr     []byte // nil if a variable has it
	Variable uint64 // offset of the variable's entry
	Length   bool   // the value is the number of elements
	Lower    int64  // the first index
}

// Enumerator is a value of an enumeration.
type Enumerator struct {
	Name  string
	Value int64
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

// Strip returns the type without typedefs and qualifiers.
func (t *Type) Strip() *Type {
	for range deepest {
		if t.Alias == nil {
			break
		}
		t = t.Alias
	}
	return t
}

// Qualify returns the type made const, volatile or both.
func (t *Type) Qualify(isConst, isVolatile bool) *Type {
	qualified := *t
	qualified.Const, qualified.Volatile, qualified.Alias = t.Const || isConst, t.Volatile || isVolatile, t
	return &qualified
}

// Named returns the type as a typedef names it.
func (t *Type) Named(name string) *Type {
	named := *t
	named.Name, named.Alias, named.Const, named.Volatile, named.Restrict = name, t, false, false, false
	return &named
}

// Scalar reports whether a value of the type is one integer of 1, 2, 4 or 8 bytes: an integer, a truth value or a pointer.
func (t *Type) Scalar() bool {
	integral := (t.Kind == Integer || t.Kind == Bool || t.Kind == Pointer) && !t.Swapped
	return integral && slices.Contains(sizes[:], t.Size)
}

// Order is the byte order of a value of the type in a machine of an order.
func (t *Type) Order(machine arch.ByteOrder) arch.ByteOrder {
	switch {
	case !t.Swapped:
		return machine
	case littleEndian(machine):
		return binary.BigEndian
	}
	return binary.LittleEndian
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
