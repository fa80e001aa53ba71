package ctype

import (
	"debug/dwarf"
	"slices"
)

// typeAt reads the type at an offset. What cannot be read is an opaque type without a size.
func (p *Program) typeAt(offset dwarf.Offset) *Type {
	t, err := p.data.Type(offset)
	if err != nil {
		return &Type{}
	}
	return p.convert(t)
}

// convert makes a Type of one of debug/dwarf's. Each becomes one Type, so that structures may point to themselves.
func (p *Program) convert(from dwarf.Type) *Type {
	if known := p.converted[from]; known != nil {
		return known
	}
	if p.converted == nil {
		p.converted = make(map[dwarf.Type]*Type)
	}
	t := &Type{Name: from.Common().Name, Size: int(max(from.Size(), 0))}
	p.converted[from] = t
	switch from := from.(type) {
	case *dwarf.CharType:
		t.Kind, t.Signed, t.Char = Integer, true, true
	case *dwarf.UcharType:
		t.Kind, t.Char = Integer, true
	case *dwarf.IntType:
		t.Kind, t.Signed = Integer, true
	case *dwarf.UintType:
		t.Kind = Integer
	case *dwarf.BoolType:
		t.Kind = Bool
	case *dwarf.FloatType:
		t.Kind = Float
	case *dwarf.EnumType:
		t.Kind, t.Name, t.Enum = Integer, "enum "+from.EnumName, true
		t.Signed = slices.ContainsFunc(from.Val, func(v *dwarf.EnumValue) bool { return v.Val < 0 })
		for _, v := range from.Val {
			t.Values = append(t.Values, Enumerator{v.Name, v.Val})
		}
	case *dwarf.PtrType:
		t.Kind, t.Name, t.Elem = Pointer, "", p.convert(from.Type)
	case *dwarf.ArrayType:
		t.Kind, t.Name, t.Elem, t.Count = Array, "", p.convert(from.Type), int(max(from.Count, 0))
	case *dwarf.StructType:
		p.convertRecord(t, from)
	case *dwarf.TypedefType:
		return p.same(from, from.Type)
	case *dwarf.QualType:
		return p.same(from, from.Type)
	case *dwarf.VoidType:
		*t = *Void
	}
	return t
}

// same makes a type, which only gives another a name or qualifies it, that other.
func (p *Program) same(from, other dwarf.Type) *Type {
	t := p.convert(other)
	p.converted[from] = t
	return t
}

func (p *Program) convertRecord(t *Type, from *dwarf.StructType) {
	t.Kind, t.Name, t.members = Record, from.Kind, new(members)
	if from.StructName != "" {
		t.Name += " " + from.StructName
	}
	for _, f := range from.Field {
		field := Field{Name: f.Name, Offset: int(f.ByteOffset), Type: p.convert(f.Type)}
		if f.BitSize > 0 && !p.placeBits(&field, f) {
			continue
		}
		t.members.fields = append(t.members.fields, field)
	}
}

// placeBits says where a bit field is in an integer of its type; false if it reaches beyond.
func (p *Program) placeBits(field *Field, f *dwarf.StructField) bool {
	size := field.Type.Size
	if size == 0 {
		return false
	}
	first := int(f.DataBitOffset) // from the start of the record
	if f.ByteSize > 0 {           // before DWARF 4: from the highest bit of an integer
		size = int(f.ByteSize)
		first = 8*field.Offset + int(f.BitOffset)
		if !p.bigEndian {
			first = 8*(field.Offset+size) - int(f.BitOffset) - int(f.BitSize)
		}
	}
	field.Offset = first / (8 * size) * size
	field.Bits = int(f.BitSize)
	field.Shift = first - 8*field.Offset
	if p.bigEndian {
		field.Shift = 8*size - field.Shift - field.Bits
	}
	return field.Shift >= 0 && field.Shift+field.Bits <= 8*size
}
