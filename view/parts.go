package view

import (
	"bytes"

	"tracewell/symbol/ctype"
)

// Part is a value within an item: a member of a structure, or the whole of what is no structure.
type Part struct {
	Name  string // "q.head", "j->id", or the name of the item
	field ctype.Field
	whole bool
}

// mostParts bounds how many parts a structure is taken apart into; one with more is left whole.
// An array of structures would otherwise give a table thousands of columns.
const mostParts = 64

// Parts takes an item apart into what has a value of its own.
func (v *View) Parts(i *Item) []Part {
	whole := []Part{{Name: i.Name, whole: true}}
	if i.IsText() || v.isLeaf(i.Type, i.Language) {
		return whole
	}
	parts := v.appendParts(nil, i.Language, memberPrefix(i.Name), i.Type, 0, deepest)
	if len(parts) == 0 || len(parts) > mostParts {
		return whole
	}
	return parts
}

// isLeaf reports whether a value is not made of members that are written one by one.
func (v *View) isLeaf(t *ctype.Type, language ctype.Language) bool {
	if t.Kind != ctype.Record || t.Variants() != nil || v.Shapes.Of(t, language) != nil {
		return true
	}
	// A string is a record for the compiler and one value for people.
	_, isText := textMembers(t, language)
	return isText
}

// memberPrefix is what the name of a member follows: "q." of q, and "j->" of *j.
// The names are expressions of C that mean the member, so that a column can be given to --where as it is.
func memberPrefix(name string) string {
	pointer, found := bytes.CutPrefix([]byte(name), []byte("*"))
	switch {
	case !found:
		return name + "."
	case len(pointer) > 0 && (isName(string(pointer[:1])) || pointer[0] == '('):
		return string(pointer) + "->"
	}
	return "(" + name + ")."
}

// Type is the type of a part of an item.
func (p Part) Type(item *Item) *ctype.Type {
	if p.whole {
		return item.Type
	}
	return p.field.Type
}

func (v *View) appendParts(parts []Part, l ctype.Language, prefix string, t *ctype.Type, offset, depth int) []Part {
	for _, f := range t.Fields() {
		if f.Static {
			continue
		}
		f.Offset += offset
		if f.Virtual || v.isLeaf(f.Type, l) {
			parts = append(parts, Part{Name: prefix + f.Name, field: f})
			continue
		}
		inner := prefix + f.Name + "."
		// Of an anonymous member the names are the outer one's.
		if f.Name == "" {
			inner = prefix
		}
		if depth > 0 && len(parts) <= mostParts {
			parts = v.appendParts(parts, l, inner, f.Type, f.Offset, depth-1)
		}
	}
	return parts
}

// AppendPart appends a part of an item, of which Find has found the value. A part that is beyond what was collected is nothing.
func (r *Reader) AppendPart(dst []byte, item *Item, v ctype.Value, part Part, style Style) []byte {
	f := part.field
	switch {
	case part.whole:
		return r.appendWhole(dst, item, v, style)
	case !f.Virtual && !holds(f, v.Bytes):
		return dst
	}
	return encoder{reader: r.Of(item), language: item.Language, style: style}.appendField(dst, v, f, deepest)
}

// PartValue takes a part out of the value of its item, as a value of its own. It is false if the value has not all of it, or if
// only the object itself tells where it lies.
func (r *Reader) PartValue(v ctype.Value, part Part) (ctype.Value, bool) {
	f := part.field
	switch {
	case part.whole:
	case f.Virtual || !holds(f, v.Bytes):
		return ctype.Value{}, false
	case f.Bits == 0:
		v = v.Part(f.Type, f.Offset)
	default:
		bits := v.Part(ctype.ArrayOf(ctype.Int(1, false), f.Span()), f.Offset)
		v = ctype.Value{Type: f.Type, Bytes: f.Unpack(bits.Bytes, f.Type.Order(r.view.order)), Holes: bits.Holes}
	}
	return v, len(v.Holes) == 0 && len(v.Bytes) >= v.Type.Size
}
