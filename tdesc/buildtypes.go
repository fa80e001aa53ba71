package tdesc

// fields collects the fields of a struct, union or flags.
type fields struct {
	size  int // of the type in bytes, 0 without
	flags bool
	plain []Field
	bits  []BitField
}

// define adds a finished type to the feature. Of two with one id GDB finds only the first, so the other is dropped.
func (b *builder) define(n *node, t Type) error {
	id := t.TypeID()
	if b.scope.defined[id] {
		b.warn(ruleSameType, n.pos, "<%s> has the id %q of an earlier type and is ignored", n.name, id)
		return nil
	}
	if b.scope.used[id] {
		return errorAt(ruleRedefined, n.pos, "<%s> redefines the type %q, which the feature has used already", n.name, id)
	}
	b.scope.defined[id] = true
	b.scope.feature.Types = append(b.scope.feature.Types, t)
	if b.places != nil {
	}
	return nil
}

func (b *builder) vector(n *node) error {
	v := Vector{ID: n.value("id"), Elem: n.value("type"), Unknown: n.unknown}
	if !b.refer(v.Elem) {
		return b.unknownType(n, "vector %q has elements of the unknown type %q", v.ID, v.Elem)
	}
	var err error
	if v.Count, err = n.number("count", maxCount); err != nil {
		return err
	}
	return b.define(n, v)
}

// beginSized starts a type whose size attribute is given. GDB 13 fails an assertion on size 0.
func (b *builder) beginSized(n *node) error {
	size, err := n.number("size", maxCount)
	if err != nil {
		return err
	}
	if size == 0 {
		return errorAt(ruleZero, n.pos, "<%s> %q of size 0", n.name, n.value("id"))
	}
	b.fields = fields{size: size}
	return nil
}

func (b *builder) beginStruct(n *node) error {
	if _, ok := n.attr("size"); ok {
		return b.beginSized(n)
	}
	b.fields = fields{}
	return nil
}

func (b *builder) endStruct(n *node) error {
	return b.define(n, Struct{
		ID: n.value("id"), Fields: b.fields.plain, Size: b.fields.size, Bits: b.fields.bits, Unknown: n.unknown,
	})
}

func (b *builder) beginUnion(*node) error {
	b.fields = fields{}
	return nil
}

func (b *builder) endUnion(n *node) error {
	return b.define(n, Union{ID: n.value("id"), Fields: b.fields.plain, Unknown: n.unknown})
}

func (b *builder) beginFlags(n *node) error {
	err := b.beginSized(n)
	b.fields.flags = true
	return err
}

func (b *builder) endFlags(n *node) error {
	return b.define(n, Flags{ID: n.value("id"), Size: b.fields.size, Bits: b.fields.bits, Unknown: n.unknown})
}

func (b *builder) beginEnum(n *node) error {
	b.values = nil
	return b.beginSized(n)
}

func (b *builder) endEnum(n *node) error {
	return b.define(n, Enum{ID: n.value("id"), Size: b.fields.size, Values: b.values, Unknown: n.unknown})
}

func (b *builder) evalue(n *node) error {
	value, err := n.number("value", maxEnumValue)
	if err != nil {
		return err
	}
	b.values = append(b.values, EnumValue{Name: n.value("name"), Value: value, Unknown: n.unknown})
	return nil
}

// field tells the two kinds apart: a bit field has start and end and lives in a sized type, any other has a type and lives
// in one without a size. The manual's own example has a bit field without end, which is one bit.
func (b *builder) field(n *node) error {
	name := n.value("name")
	_, hasStart := n.attr("start")
	_, hasEnd := n.attr("end")
	typeName, hasType := n.attr("type")
	switch {
	case hasStart && !hasEnd && b.source == ByManual && b.fields.size != 0:
		return b.bitField(n)
	case hasStart != hasEnd:
		return errorAt(ruleHalfPosition, n.pos, "field %q has only one of start and end", name)
	case hasStart && b.fields.size == 0:
		return errorAt(ruleNoSizeBits, n.pos, "bit field %q is in a type without a size", name)
	case hasStart:
		return b.bitField(n)
	case !hasType:
		return errorAt(ruleNoType, n.pos, "field %q has neither a type nor a bit position", name)
	case b.fields.size != 0:
		return errorAt(ruleNoPosition, n.pos, "field %q has no bit position, but its type has a size", name)
	case !b.refer(typeName):
		return b.unknownType(n, "field %q has the unknown type %q", name, typeName)
	}
	b.fields.plain = append(b.fields.plain, Field{Name: name, Type: typeName, Unknown: n.unknown})
	return nil
}

func (b *builder) bitField(n *node) error {
	f := BitField{Name: n.value("name"), Unknown: n.unknown}
	var err error
	if f.Start, err = n.number("start", maxBit); err != nil {
		return err
	}
	f.End = f.Start
	if _, ok := n.attr("end"); ok {
		if f.End, err = n.number("end", maxBit); err != nil {
			return err
		}
	}
	if f.Start > f.End {
		return errorAt(ruleBackwards, n.pos, "bit field %q starts at %d, after its end at %d", f.Name, f.Start, f.End)
	}
	if f.End >= 8*b.fields.size {
		return errorAt(ruleBeyond, n.pos, "bit field %q ends at bit %d, but its type has %d bytes", f.Name, f.End, b.fields.size)
	}
	if b.fields.flags && f.Start != f.End && b.source == ByManual { // GDB's own descriptions have such
		b.warn(ruleWideFlag, n.pos, "bit field %q of flags has more than one bit", f.Name)
	}
	f.Type = b.bitType(n, f)
	if f.Type == "bool" && f.Start != f.End && !b.scope.defined["bool"] {
		return errorAt(ruleWideBool, n.pos, "bit field %q is a bool of more than one bit", f.Name)
	}
	b.fields.bits = append(b.fields.bits, f)
	return nil
}

func (b *builder) bitType(n *node, f BitField) string {
	name, ok := n.attr("type")
	if ok && b.refer(name) {
		return name
	}
	def := defaultBitType(b.fields.size, f.Start, f.End)
	if ok {
		b.warn(ruleFieldType, n.pos, "bit field %q has the unknown type %q; %s is used", f.Name, name, def)
	}
	b.scope.used[def] = true
	return def
}
