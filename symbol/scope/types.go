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

// converting guards what is known of the types of all files, and types while they are being made: those of one file lead to those
// of others. One lock for all cannot deadlock; types are made once, so nobody waits for long.
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

// convert makes the type at an offset, once. It is known before its parts are made, so that a type that refers to itself by a
// pointer finds the unfinished one. Recursion is bounded by deepest; damaged debug information may have a type that is an array
// of itself.
func (s *types) convert(off debuginfo.Offset, depth int) *ctype.Type {
	if known := s.known[off]; known != nil {
		return known
	}
	e, err := s.file.Entry(off)
	if err != nil || depth == deepest {
		return &ctype.Type{}
	}
	// Others may hold the pointer from here on, so the type is filled in by assignment and never replaced.
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
	// A structure that no file defines is opaque: it has a name, and neither size nor members.
	if t.Kind == ctype.Record && e.Bool(dwarf.AttrDeclaration) {
		*t = ctype.Type{Name: t.Name}
	}
	return t
}

// definition finds what a mere declaration declares: in its type unit (DW_AT_signature, -fdebug-types-section), or by its name in
// this file or another. Names are unique by C++'s one-definition rule; in C the first one with a definition is as good as GDB's
// choice.
func (s *types) definition(e *debuginfo.Entry, depth int) *ctype.Type {
	if off, ok := e.Ref(dwarf.AttrSignature); ok && off != e.Offset {
		return s.convert(off, depth+1)
	}
	if !e.Bool(dwarf.AttrDeclaration) || e.Name() == "" {
		return nil
	}
	name := "::" + s.qualified(e)
	for _, image := range s.image.all() {
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

// makers make the types of each tag. They are filled in by init, since they lead back to this table by way of convert, which the
// compiler would reject as an initialization cycle.
var makers map[dwarf.Tag]maker

// Qualifiers make a copy of the type with the qualifier, as ctype has them in the type itself.
func init() {
	makers = map[dwarf.Tag]maker{
		dwarf.TagBaseType:    baseType,
		dwarf.TagPointerType: (*types).pointer,
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
			if t.Elem.Kind == ctype.Function { // the Itanium C++ ABI has an address and an adjustment of this
				t.Size *= 2
			}
		},
		dwarf.TagArrayType:       (*types).array,
		dwarf.TagStructType:      func(s *types, t *ctype.Type, e *debuginfo.Entry, _ int) { s.record(t, e, "struct ") },
		dwarf.TagClassType:       func(s *types, t *ctype.Type, e *debuginfo.Entry, _ int) { s.record(t, e, "class ") },
		dwarf.TagInterfaceType:   func(s *types, t *ctype.Type, e *debuginfo.Entry, _ int) { s.record(t, e, "") },
		dwarf.TagUnionType:       func(s *types, t *ctype.Type, e *debuginfo.Entry, _ int) { s.record(t, e, "union ") },
		dwarf.TagEnumerationType: (*types).enumeration,
		dwarf.TagTypedef:         (*types).alias,
		dwarf.TagTemplateAlias:   (*types).alias,
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
		dwarf.TagAtomicType:      func(s *types, t *ctype.Type, e *debuginfo.Entry, depth int) { *t = *s.elem(e, depth) },
		dwarf.TagSubroutineType:  (*types).functionType,
		dwarf.TagSubprogram:      (*types).function,
		dwarf.TagUnspecifiedType: func(*types, *ctype.Type, *debuginfo.Entry, int) {}, // a name, as decltype(nullptr) has it
	}
}

// The encodings of base types (DW_ATE_*; DWARF 5, 7.8).
const (
	encodingBool         = 0x02 // any bits but zero are true
	encodingComplex      = 0x03 // two numbers, the real part first
	encodingFloat        = 0x04 // IEEE formats, and the x87 format by its size
	encodingSigned       = 0x05
	encodingSignedChar   = 0x06 // GCC and Clang write it for char and signed char alike
	encodingUnsigned     = 0x07
	encodingUnsignedChar = 0x08
	encodingUTF          = 0x10 // char16_t, char32_t and Rust's char
)

// The values of DW_AT_endianity.
const (
	endBig    = 1 // DW_END_big
	endLittle = 2 // DW_END_little; without the attribute, the order of the target
)

// baseType makes a number. What GDB shows as characters beside their numbers is a matter of encoding and name.
func baseType(s *types, t *ctype.Type, e *debuginfo.Entry, _ int) {
	encoding, _ := e.Unsigned(dwarf.AttrEncoding)
	order, _ := e.Unsigned(dwarf.AttrEndianity)
	// GCC's scalar_storage_order attribute: the bytes of this type are in the other order than the machine's (DWARF 3, 5.1).
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

// pointer makes a pointer. rustc gives its pointers names that say what they point to ("&str"), which GDB prints.
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

// function makes the type of a function. A DW_TAG_subprogram has one without a DIE of its own.
func (s *types) function(t *ctype.Type, e *debuginfo.Entry, depth int) {
	// GNU C lets pointers to functions count in bytes: sizeof of a function is 1, in GDB as well.
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

// functionType makes the type of a function that has a DIE of its own. Go has one for each type of func, values of which are
// pointers to a closure.
func (s *types) functionType(t *ctype.Type, e *debuginfo.Entry, depth int) {
	name, size := t.Name, t.Size
	s.function(t, e, depth)
	if languageOf(e.Unit) == ctype.Go && size > 1 {
		*t = ctype.Type{Kind: ctype.Pointer, Name: name, Size: size, Elem: new(*t)}
	}
}

// enumeration makes an enumeration. The values of its enumerators are read when its sign is known: data forms say nothing of it.
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
	// The underlying type says sign and size. In DWARF 2 there is none: then the enumeration has a sign if one of the values has.
	if off, ok := e.Ref(dwarf.AttrType); ok {
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

// array makes arrays of arrays of what has several dimensions: one DW_TAG_subrange_type for each, the outermost first. One
// without any, and one without a bound, is open: extern int a[], or a flexible array member.
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
		// A size that does not fit is damage; the array is shown empty rather than with a size that wrapped around.
		if most := 1 << 40; elem.Size > 0 && array.Count > most/elem.Size {
			array.Count = 0
		}
		array.Size = array.Count * elem.Size
		elem = array
	}
}

// attrGNUVector marks an array that is a vector.
const attrGNUVector dwarf.Attr = 0x2107

// length reads how many elements a dimension has, by DW_AT_count or DW_AT_upper_bound: a number, or a bound that is known when the
// program runs. The type of the index says how large numbers are meant: GCC's is an unsigned long, rustc and Clang 14 write counts.
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
