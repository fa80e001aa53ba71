package tdesc

import (
	"iter"
	"math"

	"tracewell/arch"
)

// Value is the value of a register, or a part of it: a lane of a vector, a field of a structure, a bit field. It is a view of
// the bytes of the register block and decodes only what it is asked for; Set and SetUint64 write through to the block. Values
// are made by Slot.Value and Block.
type Value struct {
	shape *shape
	bytes []byte // of the value, or for a bit field of the type around it
	order arch.ByteOrder
	bits  *member // the bit field, nil for what has bytes of its own
}

// Value is the value of the register in a register block; false if the block ends before it.
func (s *Slot) Value(block []byte, order arch.ByteOrder) (Value, bool) {
	b, ok := s.Bytes(block)
	return Value{shape: s.shape, bytes: b, order: order}, ok
}

// Raw is the bytes of the value in target byte order: of the block itself, but a copy for a bit field, which is widened to the
// size of its type.
func (v Value) Raw() []byte {
	if v.bits != nil {
		return v.bits.bytes(v.bytes, v.order)
	}
	return v.bytes
}

// Uint64 is the 64 least significant bits of the value as they are, whatever its type.
func (v Value) Uint64() uint64 {
	if v.bits != nil {
		return v.bits.field(v.bytes, v.order)
	}
	return lowWord(v.bytes, v.order)
}

// String is the value as GDB prints it without a format: see Slot.Columns, whose second column it is for most registers.
func (v Value) String() string {
	f := formatter{order: v.order}
	f.value(v.shape, v.Raw())
	return string(f.out)
}

// Any is the value as a Go value:
//
//	bool           a bool that is 0 or 1, a flag
//	int64, uint64  numbers and pointers of up to 64 bits, other bools, enums without a name for the value
//	*big.Int       wider numbers
//	float64        floating point of up to 64 bits, and of any size where it is no finite number
//	*big.Float     wider floating point
//	string         the name of an enum's value
//	[]Value        the elements of a vector
//	[]Member       the fields of a structure, a union or flags
func (v Value) Any() any {
	switch v.shape.kind {
	case kindVector:
		return v.elements()
	case kindStruct, kindUnion, kindFlags:
		return v.members()
	case kindFloat:
		return v.shape.float.read(v.Raw(), v.order).number()
	case kindEnum:
		n := v.Uint64()
		if name, ok := v.shape.nameOf(n); ok {
			return name
		}
		return n
	case kindBool:
		if n := v.Uint64(); n <= 1 {
			return n == 1
		}
	case kindSigned, kindChar:
		if n := signed(v.Raw(), v.order); !n.IsInt64() {
			return n
		}
		return signed(v.Raw(), v.order).Int64()
	}
	if b := v.Raw(); len(b) > 8 {
		return unsigned(b, v.order)
	}
	return v.Uint64()
}

// Member is a field of a structure, a union or flags.
type Member struct {
	Name string // "" for a filler
	Value
}

// Len is the number of elements of a vector or of fields, 0 for what has no parts.
func (v Value) Len() int {
	if v.shape.kind == kindVector {
		return v.shape.count
	}
	return len(v.shape.members)
}

// Elem is an element of a vector, or a field of a structure, union or flags, by its place. It panics as indexing does.
func (v Value) Elem(i int) Value {
	if v.shape.kind == kindVector {
		elem := v.shape.elem
		b := v.Raw()[i*elem.size : (i+1)*elem.size : (i+1)*elem.size]
		return Value{shape: elem, bytes: b, order: v.order}
	}
	m := &v.shape.members[i]
	if m.bits {
		return Value{shape: m.shape, bytes: v.Raw(), order: v.order, bits: m}
	}
	end := m.offset + m.shape.size
	return Value{shape: m.shape, bytes: v.Raw()[m.offset:end:end], order: v.order}
}

// Field is a field of a structure, union or flags by its name; false if there is none.
func (v Value) Field(name string) (Value, bool) {
	for i := range v.shape.members {
		if v.shape.members[i].name == name {
			return v.Elem(i), true
		}
	}
	return Value{}, false
}

func (v Value) elements() []Value {
	all := make([]Value, v.Len())
	for i := range all {
		all[i] = v.Elem(i)
	}
	return all
}

func (v Value) members() []Member {
	all := make([]Member, v.Len())
	for i := range all {
		all[i] = Member{Name: v.shape.members[i].name, Value: v.Elem(i)}
	}
	return all
}

// number is a float64 where that is exact or all there is, else a *big.Float.
func (v float) number() any {
	switch {
	case v.invalid(), v.exponent == v.format.top() && v.special() != "inf":
		return math.NaN()
	case v.exponent == v.format.top() && v.negative:
		return math.Inf(-1)
	case v.exponent == v.format.top():
		return math.Inf(1)
	}
	x := v.magnitude()
	if v.negative {
		x.Neg(x)
	}
	if v.format.precision() > ieeeDouble.precision() {
		return x
	}
	f, _ := x.Float64()
	return f
}

// Block is the registers of a thread at one time: a register block with its layout. Its registers are known or not; what GDB
// calls unavailable is not known.
type Block struct {
	Layout *Layout
	Order  arch.ByteOrder
	Bytes  []byte // in target byte order; shorter than Layout.Size if the last registers are not known

	unknown map[*Slot]bool
}

// Block takes the bytes of a register block, such as an R block of a trace frame, as they are.
func (l *Layout) Block(b []byte, order arch.ByteOrder) *Block {
	return &Block{Layout: l, Order: order, Bytes: b}
}

// Value is the value of a register by its name; false if there is none or it is not known.
func (b *Block) Value(name string) (Value, bool) {
	s := b.Layout.ByName(name)
	if s == nil || b.unknown[s] {
		return Value{}, false
	}
	return s.Value(b.Bytes, b.Order)
}

// Values goes through the registers that are known, by number.
func (b *Block) Values() iter.Seq2[*Slot, Value] {
	return func(yield func(*Slot, Value) bool) {
		for i := range b.Layout.Slots {
			s := &b.Layout.Slots[i]
			v, ok := s.Value(b.Bytes, b.Order)
			if ok && !b.unknown[s] && !yield(s, v) {
				return
			}
		}
	}
}
