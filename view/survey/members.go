package survey

import (
	"bytes"
	"strconv"
	"strings"

	"tracewell/symbol/ctype"
)

// Member is a part of a value of C that has no parts of its own that could be named. Field says what lies where in Old and New,
// which are the record that it is a member of, or itself.
type Member struct {
	Name     string
	Field    ctype.Field
	Old, New []byte
}

// deepest is how far types are followed that contain one another.
const deepest = 32

// Members returns the parts of a value in which two memories differ: of "*j" the members "j->id" and "j->name", of "q" such as
// "q.count", of "table" such as "table[3]". A bit field is among them if something in its bytes is not the same. The
// memories are as long as the type.
func Members(name string, t *ctype.Type, before, after []byte) []Member {
	return appendMembers(nil, Member{name, ctype.Field{Type: t}, before, after}, 0)
}

func appendMembers(found []Member, m Member, depth int) []Member {
	t, at := m.Field.Type, m.Field.Offset
	span := m.Field.Span()
	if at < 0 || span == 0 || at+span > min(len(m.Old), len(m.New)) || depth == deepest {
		return found
	}
	before, after := m.Old[at:at+span], m.New[at:at+span]
	switch {
	case bytes.Equal(before, after):
		return found
	case t.Kind == ctype.Record && m.Field.Bits == 0:
		for _, f := range t.Fields() {
			found = appendMembers(found, Member{memberName(m.Name, f.Name), f, before, after}, depth+1)
		}
		return found
	case t.Kind == ctype.Array && !t.Elem.Char && t.Elem.Size > 0:
		for i := range t.Size / t.Elem.Size {
			f := ctype.Field{Offset: i * t.Elem.Size, Type: t.Elem}
			found = appendMembers(found, Member{operand(m.Name) + "[" + strconv.Itoa(i) + "]", f, before, after}, depth+1)
		}
		return found
	}
	return append(found, m)
}

// memberName names a member as C does. Those of a structure without a name count as the outer one's.
func memberName(record, member string) string {
	pointer, isPointed := strings.CutPrefix(record, "*")
	switch {
	case member == "":
		return record
	case isPointed && pointer == operand(pointer):
		return pointer + "->" + member
	}
	return operand(record) + "." + member
}

// operand puts a name in parentheses if an operator behind it would not be about all of it.
func operand(name string) string {
	for _, c := range name {
		if !strings.ContainsRune("_.[]>$:-", c) && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return "(" + name + ")"
		}
	}
	return name
}
