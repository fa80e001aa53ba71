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
func (i *Item) Parts() []Part {
	whole := []Part{{Name: i.Name, whole: true}}
	if i.IsText() || isLeaf(i.Type, i.Language) {
		return whole
	}
	parts := i.appendParts(nil, memberPrefix(i.Name), i.Type, 0, deepest)
	if len(parts) == 0 || len(parts) > mostParts {
		return whole
	}
	return parts
}

// isLeaf reports whether a value is not made of members that are written one by one.
func isLeaf(t *ctype.Type, language ctype.Language) bool {
	if t.Kind != ctype.Record || t.Variants() != nil {
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

func (i *Item) appendParts(parts []Part, prefix string, t *ctype.Type, offset, depth int) []Part {
	for _, f := range t.Fields() {
		if f.Static {
			continue
		}
		f.Offset += offset
		if f.Virtual || isLeaf(f.Type, i.Language) {
			parts = append(parts, Part{Name: prefix + f.Name, field: f})
			continue
		}
		inner := prefix + f.Name + "."
		// Of an anonymous member the names are the outer one's.
		if f.Name == "" {
			inner = prefix
		}
		if depth > 0 && len(parts) <= mostParts {
			parts = i.appendParts(parts, inner, f.Type, f.Offset, depth-1)
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
	return encoder{reader: r, language: item.Language, style: style}.appendField(dst, v, f, deepest)
}
