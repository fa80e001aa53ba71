package scope

import (
	"debug/dwarf"
	"strings"
	"sync"

	"tracewell/arch"
	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
)

// types makes types of the descriptions in a file, each once, so that types may refer to themselves. A structure becomes one
// without its members, which are read when they are asked for: what a variable's type leads to is most of a C++ program.
type types struct {
	image *Image
	file  *debuginfo.File
	bias  arch.Addr
	known map[debuginfo.Offset]*ctype.Type
}

// converting guards what is known of the types of all files, and what is in it until it is done: the types of one file lead to
// those of others.
var converting sync.Mutex

// deepest is how far types may lie within one another; damaged debugging information knows no end.
const deepest = 64

// at returns the type at an offset. What cannot be read is an opaque type without a size.
func (s *types) at(off debuginfo.Offset) *ctype.Type {
	converting.Lock()
	defer converting.Unlock()
	return s.convert(off, 0)
}

// of returns the type that a description refers to, or that of what it completes; void if it refers to none.
func (s *types) of(e *debuginfo.Entry) *ctype.Type {
	v, ok := s.file.Lookup(e, dwarf.AttrType)
	if !ok || v.Class != debuginfo.ClassReference {
		return ctype.Void
	}
	return s.at(v.Offset())
}

// elem converts the type that another is made of.
func (s *types) elem(e *debuginfo.Entry, depth int) *ctype.Type {
	off, ok := e.Ref(dwarf.AttrType)
	if !ok {
		return ctype.Void
	}
	return s.convert(off, depth+1)
}

func (s *types) convert(off debuginfo.Offset, depth int) *ctype.Type {
	if known := s.known[off]; known != nil {
		return known
	}
	e, err := s.file.Entry(off)
	if err != nil || depth == deepest {
		return &ctype.Type{}
	}
	t := &ctype.Type{}
	s.known[off] = t
	if full := s.definition(e, depth); full != nil {
		*t = *full
		return t
	}
	t.Name = e.Name()
	if size, ok := e.Unsigned(dwarf.AttrByteSize); ok && size < 1<<40 {
		t.Size = int(size)
	}
	if make := makers[e.Tag]; make != nil {
		make(s, t, e, depth)
	}
	if t.Kind == ctype.Record && e.Bool(dwarf.AttrDeclaration) {
		*t = ctype.Type{Name: t.Name}
	}
	return t
}

// definition finds what a mere declaration declares, in this file or another.
func (s *types) definition(e *debuginfo.Entry, depth int) *ctype.Type {
	if off, ok := e.Ref(dwarf.AttrSignature); ok && off != e.Offset {
		return s.convert(off, depth+1)
	}
	if !e.Bool(dwarf.AttrDeclaration) || e.Name() == "" {
		return nil
	}
	name := "::" + s.qualified(e)
	for _, image := range append([]*Image{s.image}, s.image.others()...) {
		for _, off := range image.file.Types(name) {
			full, err := image.file.Entry(off)
			if err == nil && hasKeyword(full.Tag) && !full.Bool(dwarf.AttrDeclaration) {
				return image.types.convert(off, depth+1)
			}
		}
	}
	return nil
}

// maker makes a type of a description that lies so deep within others.
type maker = func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int)

// makers make the types of each kind of description. They are filled in later since they need one another.
var makers map[dwarf.Tag]maker

func init() {
	makers = map[dwarf.Tag]maker{
		dwarf.TagBaseType: baseType,
		dwarf.TagPointerType: func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) {
			s.pointer(t, e, depth)
		},
		dwarf.TagReferenceType: func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) {
			s.pointer(t, e, depth)
			t.Reference = true
		},
		dwarf.TagRvalueReferenceType: func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) {
			s.pointer(t, e, depth)
			t.Reference, t.RValue = true, true
		},
		dwarf.TagPtrToMemberType: func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) {
			s.pointer(t, e, depth)
			t.Kind, t.Class = ctype.MemberPointer, ctype.Void
			if off, ok := e.Ref(dwarf.AttrContainingType); ok {
				t.Class = s.convert(off, depth+1)
			}
			if t.Elem.Kind == ctype.Function {
				t.Size *= 2
			}
		},
		dwarf.TagArrayType:       func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) { s.array(t, e, depth) },
		dwarf.TagStructType:      func(s *types, t *ctype.Type, e *debuginfo.Entry, _ int) { s.record(t, e, "struct ") },
		dwarf.TagClassType:       func(s *types, t *ctype.Type, e *debuginfo.Entry, _ int) { s.record(t, e, "class ") },
		dwarf.TagInterfaceType:   func(s *types, t *ctype.Type, e *debuginfo.Entry, _ int) { s.record(t, e, "") },
		dwarf.TagUnionType:       func(s *types, t *ctype.Type, e *debuginfo.Entry, _ int) { s.record(t, e, "union ") },
		dwarf.TagEnumerationType: func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) { s.enumeration(t, e, depth) },
		dwarf.TagTypedef:         func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) { s.alias(t, e, depth) },
		dwarf.TagTemplateAlias:   func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) { s.alias(t, e, depth) },
		dwarf.TagConstType: func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) {
			*t = *s.elem(e, depth).Qualify(true, false)
		},
		dwarf.TagVolatileType: func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) {
			*t = *s.elem(e, depth).Qualify(false, true)
		},
		dwarf.TagRestrictType: func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) {
			*t = *s.elem(e, depth).Qualify(false, false)
			t.Restrict = true
		},
		dwarf.TagAtomicType:     func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) { *t = *s.elem(e, depth) },
		dwarf.TagSubroutineType: func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) { s.function(t, e, depth) },
		dwarf.TagSubprogram:     func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) { s.function(t, e, depth) },
		dwarf.TagUnspecifiedType: func(_ *types, t *ctype.Type, e *debuginfo.Entry, _ int) {
			t.Name = e.Name()
		},
	}
}

// The encodings of base types.
const (
	encodingBool         = 0x02
	encodingComplex      = 0x03
	encodingFloat        = 0x04
	encodingSigned       = 0x05
	encodingSignedChar   = 0x06
	encodingUnsigned     = 0x07
	encodingUnsignedChar = 0x08
	encodingUTF          = 0x10
)

// The values of DW_AT_endianity.
const (
	endBig    = 1
	endLittle = 2
)

func baseType(s *types, t *ctype.Type, e *debuginfo.Entry, _ int) {
	encoding, _ := e.Unsigned(dwarf.AttrEncoding)
	order, _ := e.Unsigned(dwarf.AttrEndianity)
	t.Swapped = order == endBig && !s.bigEndian() || order == endLittle && s.bigEndian()
	language := languageOf(e.Unit)
	if short, ok := shorter[t.Name]; ok && language != ctype.Rust && language != ctype.Go {
		t.Name = short
	}
	switch encoding {
	case encodingBool:
		t.Kind = ctype.Bool
	case encodingComplex:
		t.Kind, t.Count = ctype.Complex, 2
		t.Elem = &ctype.Type{Kind: ctype.Float, Name: "float", Size: t.Size / 2}
		if strings.Contains(t.Name, "loat128") {
			t.Elem.Name = "_Float128"
		}
	case encodingFloat:
		t.Kind = ctype.Float
	case encodingSigned, encodingSignedChar:
		t.Kind, t.Signed, t.Char = ctype.Integer, true, encoding == encodingSignedChar || wide[t.Name]
	case encodingUnsigned, encodingUnsignedChar, encodingUTF:
		t.Kind, t.Char = ctype.Integer, encoding != encodingUnsigned || wide[t.Name]
	}
	if t.Kind == ctype.Integer && t.Size == 0 { // Rust's ()
		t.Kind = ctype.Record
	}
	if t.Kind == ctype.Integer && t.Size == 1 && language != ctype.Rust {
		t.Char = true // C has no other integer of one byte, and GDB takes those of Go for the same
	}
}

// shorter are the names that GDB has for types which GCC calls by more words.
var shorter = map[string]string{
	"long int": "long", "long unsigned int": "unsigned long", "short int": "short", "short unsigned int": "unsigned short",
	"long long int": "long long", "long long unsigned int": "unsigned long long",
}

// wide are the names of types of characters that are integers otherwise.
var wide = map[string]bool{"wchar_t": true, "char16_t": true, "char32_t": true}

func (s *types) pointer(t *ctype.Type, e *debuginfo.Entry, depth int) {
	t.Kind, t.Elem = ctype.Pointer, s.elem(e, depth)
	if e.Unit.Language != debuginfo.LanguageRust {
		t.Name = "" // Go's is "*main.Job"; what GDB writes is that of C
	}
	if t.Size == 0 {
		t.Size = e.Unit.AddrSize
	}
}

// alias makes a type another with a name of its own. The name may be of a type that is still being made, which has none of its
// own before.
func (s *types) alias(t *ctype.Type, e *debuginfo.Entry, depth int) {
	*t = *s.elem(e, depth).Named(s.qualified(e))
	t.Char = t.Char || t.Kind == ctype.Integer && wide[e.Name()]
}

func (s *types) function(t *ctype.Type, e *debuginfo.Entry, depth int) {
	t.Kind, t.Name, t.Size, t.Elem = ctype.Function, "", 1, s.elem(e, depth)
	t.Prototyped = e.Bool(dwarf.AttrPrototyped) || languageOf(e.Unit) != ctype.C
	for child := range s.file.Children(e) {
		switch child.Tag {
		case dwarf.TagFormalParameter:
			param := s.elem(child, depth)
			if child.Bool(dwarf.AttrArtificial) {
				param = param.Qualify(true, false) // this, which GCC only says of its definition
			}
			t.Params = append(t.Params, param)
		case dwarf.TagUnspecifiedParameters:
			t.Variadic = true
		}
	}
}

func (s *types) enumeration(t *ctype.Type, e *debuginfo.Entry, depth int) {
	t.Kind, t.Enum, t.Name = ctype.Integer, true, s.tagged(e, "enum ")
	prefix := s.prefix(e)
	if e.Bool(dwarf.AttrEnumClass) {
		prefix = s.qualified(e) + "::"
	}
	var values []debuginfo.Value
	for child := range s.file.Children(e) {
		if child.Tag != dwarf.TagEnumerator {
			continue
		}
		v, _ := child.Value(dwarf.AttrConstValue)
		n, _ := v.Signed()
		t.Signed = t.Signed || n < 0 && v.Class == debuginfo.ClassSigned // other forms are of unsigned numbers, even of 2^63 and more
		t.Values = append(t.Values, ctype.Enumerator{Name: prefix + child.Name()})
		values = append(values, v)
	}
	if off, ok := e.Ref(dwarf.AttrType); ok { // without it, as in DWARF 2, there is a sign if one of the values has it
		under := s.convert(off, depth+1)
		t.Signed = under.Signed
		if t.Size == 0 {
			t.Size = under.Size
		}
	}
	for i, v := range values {
		t.Values[i].Value, _ = v.As(t.Size, t.Signed)
	}
}

// array makes arrays of arrays of what has several dimensions.
func (s *types) array(t *ctype.Type, e *debuginfo.Entry, depth int) {
	elem := s.elem(e, depth)
	if e.Bool(attrGNUVector) && elem.Char { // its elements are numbers
		number := *elem
		number.Char, elem = false, &number
	}
	var dimensions []*debuginfo.Entry
	for child := range s.file.Children(e) {
		if child.Tag == dwarf.TagSubrangeType {
			dimensions = append(dimensions, child)
		}
	}
	*t = ctype.Type{Kind: ctype.Array, Elem: elem, Vector: e.Bool(attrGNUVector), Open: len(dimensions) == 0}
	for i := len(dimensions) - 1; i >= 0; i-- {
		array := t
		if i > 0 {
			array = &ctype.Type{Kind: ctype.Array}
		}
		array.Elem = elem
		array.Count, array.Bound = s.length(dimensions[i], depth)
		bounded := dimensions[i].Has(dwarf.AttrCount) || dimensions[i].Has(dwarf.AttrUpperBound)
		array.Open = array.Count == 0 && array.Bound == nil && !bounded
		if most := 1 << 40; elem.Size > 0 && array.Count > most/elem.Size {
			array.Count = 0
		}
		array.Size = array.Count * elem.Size
		elem = array
	}
}

// attrGNUVector marks an array that is a vector.
const attrGNUVector dwarf.Attr = 0x2107

// length reads how long an array is. A flexible one has no length.
func (s *types) length(e *debuginfo.Entry, depth int) (int, *ctype.Bound) {
	index := ctype.Int(s.file.AddrSize(), true)
	if off, ok := e.Ref(dwarf.AttrType); ok {
		index = s.convert(off, depth+1)
	}
	first, _ := e.Value(dwarf.AttrLowerBound)
	lower, _ := first.As(index.Size, index.Signed)
	for _, attr := range []dwarf.Attr{dwarf.AttrCount, dwarf.AttrUpperBound} {
		v, ok := e.Value(attr)
		if !ok {
			continue
		}
		bound := &ctype.Bound{Length: attr == dwarf.AttrCount, Lower: lower}
		switch v.Class {
		case debuginfo.ClassReference:
			bound.Variable = uint64(v.Offset())
			return 0, bound
		case debuginfo.ClassExpr, debuginfo.ClassBlock:
			bound.Expr = v.Bytes()
			return 0, bound
		}
		n, _ := v.As(index.Size, index.Signed)
		if attr == dwarf.AttrUpperBound {
			n += 1 - lower
			if index.Size >= 4 && !index.Signed { // older GCC writes -1 for [0], as its index has it
				n = int64(index.Extend(uint64(n)))
			}
		}
		if n < 0 || n > 1<<40 {
			n = 0
		}
		return int(n), nil
	}
	return 0, nil
}
