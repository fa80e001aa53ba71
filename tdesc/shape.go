package tdesc

import "fmt"

// kind says how the bytes of a value are to be read.
type kind uint8

const (
	kindUnsigned kind = iota
	kindSigned
	kindChar // signed, of one byte, shown as a character too: what GDB makes of type int with 8 bits
	kindUnsignedChar
	kindBool
	kindPointer
	kindFloat
	kindVector
	kindStruct
	kindUnion
	kindFlags
	kindEnum
)

// kindNames is how errors call what they expect.
var kindNames = [...]string{
	kindUnsigned: "unsigned number", kindSigned: "number", kindChar: "character", kindUnsignedChar: "character",
	kindBool: "bool", kindPointer: "pointer", kindFloat: "floating-point number", kindVector: "vector",
	kindStruct: "structure", kindUnion: "union", kindFlags: "set of flags", kindEnum: "enum",
}

// String gives the name of a kind.
func (k kind) String() string { return kindNames[k] }

// shape is a type with every name looked up and every size known. Shapes are shared and never change once made.
type shape struct {
	kind    kind
	name    string       // of the type, by which features share it in GDB; "" for those that they do not share
	size    int          // bytes
	float   *floatFormat // kindFloat
	elem    *shape       // kindVector
	count   int          // kindVector
	members []member     // kindStruct, kindUnion, kindFlags
	values  []EnumValue  // kindEnum
	vector  bool         // a vector, or a union with one in it: GDB shows such a register in hexadecimal only
	leaves  int          // values that showing it can take, at least 1
}

// member is a field of a shape, either at a byte offset or, if bits is set, from bit start to end of the whole.
type member struct {
	name       string
	shape      *shape
	offset     int
	bits       bool
	start, end int
}

// maxShape bounds the size of a type in bytes and the number of values in it. Vectors of vectors and structs of structs
// grow exponentially with the document, while no register block comes near it.
const maxShape = 1 << 20

// resolver makes shapes of the types of one feature.
type resolver struct {
	model   model
	defined map[string]*shape
}

// newResolver resolves the types of a feature in order. As in GDB, a type refers to those before it and to predefined
// ones, and of two with one id the first counts.
func newResolver(m model, f *Feature) (*resolver, error) {
	r := &resolver{model: m, defined: make(map[string]*shape)}
	for _, t := range f.Types {
		s, err := r.resolve(t)
		if err != nil {
			return nil, fmt.Errorf("feature %q: type %q: %w", f.Name, t.TypeID(), err)
		}
		if _, ok := r.defined[t.TypeID()]; !ok {
			r.defined[t.TypeID()] = s
		}
	}
	return r, nil
}

func (r *resolver) lookup(name string) (*shape, error) {
	if s, ok := r.defined[name]; ok {
		return s, nil
	}
	s, ok := predefined[name]
	if !ok {
		return nil, fmt.Errorf("unknown type %q", name)
	}
	if s.kind == kindPointer {
		return &shape{kind: kindPointer, size: r.model.pointer}, nil
	}
	return s, nil
}

func (r *resolver) resolve(t Type) (*shape, error) {
	s, err := r.build(t)
	if err != nil {
		return nil, err
	}
	s.name = t.TypeID()
	s.leaves = s.countLeaves()
	if s.size > maxShape || s.leaves > maxShape {
		return nil, fmt.Errorf("it has %d bytes in %d values, more than %d", s.size, s.leaves, maxShape)
	}
	return s, nil
}

func (r *resolver) build(t Type) (*shape, error) {
	switch t := t.(type) {
	case Vector:
		return r.vector(t)
	case Struct:
		if t.Size != 0 {
			return r.sized(kindStruct, t.Size, t.Bits)
		}
		return r.structure(t.Fields)
	case Union:
		return r.union(t.Fields)
	case Flags:
		return r.sized(kindFlags, t.Size, t.Bits)
	case Enum:
		return &shape{kind: kindEnum, size: t.Size, values: t.Values}, checkSize(t.Size)
	}
	return nil, fmt.Errorf("%T is no kind of type", t)
}

func (r *resolver) vector(t Vector) (*shape, error) {
	if t.Count < 0 || t.Count > maxCount {
		return nil, fmt.Errorf("%d elements, want 0 to %d", t.Count, maxCount)
	}
	elem, err := r.lookup(t.Elem)
	if err != nil {
		return nil, err
	}
	return &shape{kind: kindVector, size: elem.size * t.Count, elem: elem, count: t.Count, vector: true}, nil
}

func (r *resolver) structure(fields []Field) (*shape, error) {
	s := &shape{kind: kindStruct}
	for _, f := range fields {
		m, err := r.lookup(f.Type)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		s.members = append(s.members, member{name: f.Name, shape: m, offset: s.size})
		s.size += m.size
	}
	return s, nil
}

func (r *resolver) union(fields []Field) (*shape, error) {
	s := &shape{kind: kindUnion}
	for _, f := range fields {
		m, err := r.lookup(f.Type)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		s.members = append(s.members, member{name: f.Name, shape: m})
		s.size = max(s.size, m.size)
		s.vector = s.vector || m.vector
	}
	return s, nil
}

func (r *resolver) sized(k kind, size int, bits []BitField) (*shape, error) {
	if err := checkSize(size); err != nil {
		return nil, err
	}
	s := &shape{kind: k, size: size}
	for _, f := range bits {
		if f.Start < 0 || f.Start > f.End || f.End > maxBit || f.End >= 8*size {
			return nil, fmt.Errorf("field %q: bits %d to %d do not fit %d bytes", f.Name, f.Start, f.End, size)
		}
		name := f.Type
		if name == "" {
			name = defaultBitType(size, f.Start, f.End)
		}
		m, err := r.lookup(name)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		s.members = append(s.members, member{name: f.Name, shape: m, bits: true, start: f.Start, end: f.End})
	}
	return s, nil
}

func checkSize(size int) error {
	if size < 1 || size > maxCount {
		return fmt.Errorf("size %d, want 1 to %d bytes", size, maxCount)
	}
	return nil
}

func (s *shape) countLeaves() int {
	n := 1
	if s.kind == kindVector {
		n += s.count * s.elem.weight()
	}
	for _, m := range s.members {
		n += m.shape.weight()
	}
	return n
}

// weight is the number of leaves of a shape, also of one that needed no resolving.
func (s *shape) weight() int { return max(s.leaves, 1) }

// register gives the shape of a register, and whether that goes by the bitsize, as the types int and float do. Where C has no such
// type GDB warns and takes long or double, whose size then differs from the register's.
func (r *resolver) register(reg *Register) (s *shape, bySize bool, err error) {
	if _, ok := r.defined[reg.Type]; !ok {
		switch reg.Type {
		case typeInt:
			return r.model.integer(reg.Bits), true, nil
		case typeFloat:
			return r.model.floating(reg.Bits), true, nil
		}
	}
	s, err = r.lookup(reg.Type)
	return s, false, err
}

func (m model) integer(bits int) *shape {
	switch {
	case bits == 8 && m.unsignedChar:
		return &shape{kind: kindUnsignedChar, size: 1}
	case bits == 8:
		return &shape{kind: kindChar, size: 1}
	case bits == 16 || bits == 32 || bits == 64:
		return &shape{kind: kindSigned, size: bits / 8}
	}
	return &shape{kind: kindSigned, size: m.long}
}

func (m model) floating(bits int) *shape {
	switch bits {
	case 32:
		return predefined["ieee_single"]
	case 64:
		return predefined["ieee_double"]
	case 8 * m.longDouble.size:
		return m.longDouble
	}
	return predefined["ieee_double"]
}
