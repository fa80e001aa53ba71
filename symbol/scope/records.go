package scope

import (
	"debug/dwarf"
	"encoding/binary"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/internal/demangle"
	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
)

// record makes a structure, class or union. Its members are read when they are asked for.
func (s *types) record(t *ctype.Type, e *debuginfo.Entry, keyword string) {
	*t = *ctype.LateRecord(s.tagged(e, keyword), t.Size, func() ([]ctype.Field, *ctype.Variants) {
		return s.members(e)
	})
	t.Union = e.Tag == dwarf.TagUnionType
	t.Method = func(place int) string { return s.method(e, place) }
	t.Arguments = func() []*ctype.Type { return s.arguments(e, nil) }
	if languageOf(e.Unit) == ctype.CPlusPlus {
		t.ByReference = func() (bool, error) { return s.byReference(e, t, deepest) }
	}
}

// tagParameterPack is GNU's DW_TAG_GNU_template_parameter_pack: its children are the arguments of a variadic template.
const tagParameterPack dwarf.Tag = 0x4107

// arguments appends the types that a template was given.
func (s *types) arguments(e *debuginfo.Entry, to []*ctype.Type) []*ctype.Type {
	for child := range s.file.Children(e) {
		switch {
		case child.Tag == dwarf.TagTemplateTypeParameter:
			to = append(to, s.of(child))
		case child.Tag == tagParameterPack && e.Tag != tagParameterPack: // packs do not nest
			to = s.arguments(child, to)
		}
	}
	return to
}

// method names the virtual method of a class that has a place in the virtual table.
func (s *types) method(class *debuginfo.Entry, place int) string {
	for child := range s.file.Children(class) {
		at, ok := child.Expr(dwarf.AttrVtableElemLoc)
		if child.Tag != dwarf.TagSubprogram || !ok {
			continue
		}
		c := cursor{code: at, order: s.file.Order()}
		if c.byte() == opConstu && c.unsigned() == uint64(place) && !c.short {
			// GDB prints what a pointer to a virtual method points to by the demangled name.
			if name, ok := demangle.Source(s.image.linkName(child)); ok {
				return name
			}
			return s.signature(class, child)
		}
	}
	return ""
}

// signature is a method as its linkage name would say it. Strict DWARF 2 and 3 have no attribute for that name
// (DW_AT_linkage_name is of DWARF 4, GNU's DW_AT_MIPS_linkage_name no part of the standard).
func (s *types) signature(class, method *debuginfo.Entry) string {
	t := s.at(method.Offset)
	end := ""
	if len(t.Params) > 0 && t.Params[0].Elem != nil && t.Params[0].Elem.Const { // this
		end = " const"
	}
	var params []string
	for _, p := range t.Params[min(1, len(t.Params)):] {
		params = append(params, p.String())
	}
	return s.qualified(class) + "::" + method.Name() + "(" + strings.Join(params, ", ") + ")" + end
}

// members reads what a record is made of. Base classes come first, as they are declared. A static member is a DW_TAG_variable in
// DWARF 5 and a DW_TAG_member with DW_AT_declaration or DW_AT_external before. DW_TAG_variant_part is how rustc describes enums.
func (s *types) members(e *debuginfo.Entry) (fields []ctype.Field, variants *ctype.Variants) {
	for child := range s.file.Children(e) {
		switch child.Tag {
		case dwarf.TagMember, dwarf.TagInheritance:
			if f, ok := s.field(child, e); ok {
				fields = append(fields, f)
			}
		case dwarf.TagVariable: // of DWARF 5
			fields = append(fields, s.static(child, e))
		case dwarf.TagVariantPart:
			variants = s.variants(child, e)
		}
	}
	return fields, variants
}

// field reads a member. It is false if it lies nowhere in the record.
func (s *types) field(e, record *debuginfo.Entry) (ctype.Field, bool) {
	if e.Tag == dwarf.TagMember && (e.Bool(dwarf.AttrExternal) || e.Bool(dwarf.AttrDeclaration)) {
		return s.static(e, record), true
	}
	f := ctype.Field{Name: e.Name(), Type: s.of(e), Base: e.Tag == dwarf.TagInheritance, Artificial: e.Bool(dwarf.AttrArtificial)}
	if f.Base { // DW_TAG_inheritance has no name; GDB calls the part of an object by the class
		f.Name = f.Type.Strip().Name
	}
	s.offset(&f, e)
	if bits, ok := e.Unsigned(dwarf.AttrBitSize); ok && bits > 0 {
		return f, s.bits(&f, e, int(min(bits, 1<<16)))
	}
	return f, true
}

// offset reads where in the record a member lies, in bytes: a constant since DWARF 3, an expression in DWARF 2 and for virtual
// base classes (DW_AT_data_member_location, 5.7.6). An expression finds the object's address on the stack.
func (s *types) offset(f *ctype.Field, e *debuginfo.Entry) {
	v, ok := e.Value(dwarf.AttrDataMemberLoc)
	if !ok {
		return
	}
	if n, constant := v.Signed(); constant {
		f.Offset = int(n)
		return
	}
	c := cursor{code: v.Bytes(), order: s.file.Order()}
	switch op := c.byte(); {
	case op == opPlusUconst || op == opConstu:
		f.Offset = int(c.unsigned())
	case op == opDup && c.byte() == opDeref:
		// What GCC and Clang write for a virtual base class: dup, deref, constant, minus, deref, plus. The object begins with the
		// pointer to its virtual table; the constant is how far in front of that the distance to the base class lies.
		f.Virtual = true
		if op := c.byte(); op >= opLit0 && op <= opLit31 {
			f.VTable = -int(op - opLit0)
		} else if op == opConstu {
			f.VTable = -int(c.unsigned())
		} else if size, ok := fixed[op]; ok {
			f.VTable = -int(c.integer(size))
		}
	}
}

// bits computes where in the record a bit-field is; false if that is impossible, or if its type has fewer bits.
// DW_AT_data_bit_offset, since DWARF 4, counts from the start of the record, from the lowest bit on little-endian machines and
// from the highest on others. DW_AT_bit_offset, before, counts from the highest bit of a storage unit of DW_AT_byte_size bytes,
// or of the size of its type. GCC 12 writes the former in DWARF 5 only, Clang 14 the latter even there when it tunes for GDB,
// which is the default on Linux.
func (s *types) bits(f *ctype.Field, e *debuginfo.Entry, bits int) bool {
	first, big := int64(8*f.Offset), s.bigEndian() != f.Type.Swapped
	if n, ok := e.Signed(dwarf.AttrDataBitOffset); ok {
		first += n
	} else if old, ok := e.Signed(dwarf.AttrBitOffset); ok {
		// Before DWARF 4 (5.5.6 of DWARF 3): the distance from the highest bit of an integer in the machine's order.
		size := uint64(f.Type.Size)
		if n, ok := e.Unsigned(dwarf.AttrByteSize); ok && n > 0 {
			size = n
		}
		if first += old; !s.bigEndian() { // also where the integer itself is of the other order (scalar_storage_order)
			first += int64(8*min(size, 1<<16)) - 2*old - int64(bits)
		}
	}
	if first < 0 || bits > 8*f.Type.Size {
		return false
	}
	f.Offset, f.Bits, f.Shift = int(first/8), bits, int(first%8)
	if big {
		f.Shift = 8*f.Span() - f.Shift - bits
	}
	return true
}

// bigEndian reports whether the target has the most significant byte first.
func (s *types) bigEndian() bool { return s.file.Order() == arch.ByteOrder(binary.BigEndian) }

// static reads a static member: a constant in the class (constexpr), or the address of its definition. That is searched by the
// linkage name, by DIEs that complete the declaration in any file of the program, and at last by demangling symbols, for
// libraries without debug information.
func (s *types) static(e, record *debuginfo.Entry) ctype.Field {
	f := ctype.Field{Name: e.Name(), Static: true, Type: s.of(e)}
	if v, ok := e.Value(dwarf.AttrConstValue); ok {
		f.Value = s.constantBytes(v, f.Type)
		return f
	}
	f.Addr, _ = s.linkedAddress(e)
	name := "::" + s.qualified(record) + "::" + f.Name
	for _, image := range s.image.all() {
		if f.Addr != 0 {
			break
		}
		for _, off := range image.file.Variables(name) {
			if definition, err := image.file.Entry(off); err == nil && f.Addr == 0 {
				f.Addr, _ = image.types.linkedAddress(definition)
			}
		}
	}
	if f.Addr == 0 {
		f.Addr, _ = s.image.undescribed(name[len("::"):], f.Name)
	}
	return f
}

// linkedAddress is that of a variable which the linker knows, or else of one whose location is nothing but an address.
func (s *types) linkedAddress(e *debuginfo.Entry) (arch.Addr, bool) {
	if link, ok := s.file.Lookup(e, dwarf.AttrLinkageName); ok {
		if addr, ok := s.image.linked(link.String()); ok {
			return addr, true
		}
	}
	return s.staticAddress(e)
}

// staticAddress is that of a variable whose location is nothing but an address: DW_OP_addr, or DW_OP_addrx of DWARF 5 and its
// forerunner in split DWARF 4. It is the running program's.
func (s *types) staticAddress(e *debuginfo.Entry) (arch.Addr, bool) {
	code, ok := e.Expr(dwarf.AttrLocation)
	if !ok || len(code) == 0 {
		return 0, false
	}
	c := cursor{code: code[1:], order: s.file.Order()}
	var addr arch.Addr
	switch code[0] {
	case opAddr:
		addr = arch.Addr(c.integer(s.file.AddrSize()))
	case opAddrx, opGNUAddrIndex:
		addr, ok = e.Unit.Address(c.unsigned())
	default:
		return 0, false
	}
	return addr + s.bias, ok && !c.short && !c.more()
}

// constantBytes is the value of an attribute (DW_AT_const_value) as memory holds it, nil if it is none of that type. A block is
// in the byte order of the target already. A string has the zero byte that ends it in C.
func (s *types) constantBytes(v debuginfo.Value, t *ctype.Type) []byte {
	n, number := v.Signed()
	switch v.Class {
	case debuginfo.ClassString:
		return append([]byte(v.String()), 0)
	case debuginfo.ClassBlock, debuginfo.ClassExpr:
		return padded(v.Bytes(), t.Size)
	// DWARF 2 and 3 have no other way to say that a constant is the address of something: DW_OP_stack_value came with DWARF 4.
	case debuginfo.ClassAddress:
		n, number = int64(v.Addr()+s.bias), true
	}
	if !number || t.Size < 1 || t.Size > 16 {
		return nil
	}
	b := make([]byte, t.Size)
	for i := range b {
		switch {
		case i < 8:
			b[i] = byte(n >> (8 * i))
		case n < 0 && v.Class == debuginfo.ClassSigned:
			b[i] = 0xff
		}
	}
	if s.bigEndian() {
		slices.Reverse(b)
	}
	return b
}

// extended is the size of a floating-point number of the x87; memory has more bytes for it, and Clang writes no others into
// constants.
const extended = 10

// padded adds the bytes without a meaning to such a number.
func padded(b []byte, size int) []byte {
	if len(b) != extended || size <= extended || size > 16 {
		return b
	}
	return append(b[:extended:extended], make([]byte, size-extended)...)
}

// variants reads the alternatives of a Rust enumeration: which member there is for which value of the discriminant. One without
// DW_AT_discr_value is the default, that of niche encodings as in Option<&T>.
func (s *types) variants(part, record *debuginfo.Entry) *ctype.Variants {
	found := &ctype.Variants{}
	if off, ok := part.Ref(dwarf.AttrDiscr); ok {
		if e, err := s.file.Entry(off); err == nil {
			if f, ok := s.field(e, record); ok {
				found.Discriminant = &f
			}
		}
	}
	for child := range s.file.Children(part) {
		if child.Tag != dwarf.TagVariant {
			continue
		}
		var v ctype.Variant
		if value, ok := child.Signed(dwarf.AttrDiscrValue); ok {
			v.Values = []uint64{uint64(value)}
		}
		for member := range s.file.Children(child) {
			if member.Tag == dwarf.TagMember {
				v.Field, _ = s.field(member, record)
			}
		}
		if v.Field.Type != nil {
			found.List = append(found.List, v)
		}
	}
	return found
}

// tagged is the name of a structure, union or enumeration: in C with its keyword.
func (s *types) tagged(e *debuginfo.Entry, keyword string) string {
	switch {
	case e.Name() == "":
		return keyword + "{...}"
	case languageOf(e.Unit) == ctype.C:
		return keyword + e.Name()
	}
	return s.qualified(e)
}

// qualified is the name of a type or variable within its namespaces and classes. Go writes the package into the name itself.
func (s *types) qualified(e *debuginfo.Entry) string {
	if l := languageOf(e.Unit); l == ctype.C || l == ctype.Go {
		return e.Name()
	}
	return s.prefix(e) + e.Name()
}

// prefix is what namespaces and classes put before the names in them.
func (s *types) prefix(e *debuginfo.Entry) string {
	if l := languageOf(e.Unit); l == ctype.C || l == ctype.Go {
		return ""
	}
	var names []string
	for range deepest {
		if e = s.file.Parent(e); e == nil {
			break
		}
		switch e.Tag {
		case dwarf.TagNamespace:
			name := s.file.Name(e)
			if name == "" {
				name = anonymousNamespace
			}
			names = append(names, name+"::")
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagInterfaceType:
			if name := e.Name(); name != "" {
				names = append(names, name+"::")
			}
		}
	}
	var text strings.Builder
	for i := len(names) - 1; i >= 0; i-- {
		text.WriteString(names[i])
	}
	return text.String()
}

// anonymousNamespace is how GDB and demanglers write a namespace without a name.
const anonymousNamespace = "(anonymous namespace)"

// languageOf is the language of a unit, as far as names and values differ by it.
func languageOf(u *debuginfo.Unit) ctype.Language {
	switch {
	case u.Language.IsCPP():
		return ctype.CPlusPlus
	case u.Language == debuginfo.LanguageRust:
		return ctype.Rust
	case u.Language == debuginfo.LanguageGo:
		return ctype.Go
	}
	return ctype.C
}
