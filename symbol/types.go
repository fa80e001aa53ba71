package symbol

import (
	"debug/dwarf"
	"strings"

	"tracewell/symbol/debuginfo"
)

// parameters returns the types of a C++ function's parameters as a demangled name has them: "(int const&, char*)".
func (u *unit) parameters(e *debuginfo.Entry) string {
	for range deepest {
		origin := u.file.Origin(e)
		if origin == nil {
			break
		}
		e = origin
	}
	var types []string
	constant := ""
	for child := range u.file.Children(e) {
		if child.Tag != dwarf.TagFormalParameter {
			continue
		}
		// "this" is no parameter of the name, but its type tells whether the method is const.
		if child.Bool(dwarf.AttrArtificial) {
			if strings.HasSuffix(strings.TrimSuffix(u.typeName(child, 0), " const"), " const*") {
				constant = " const"
			}
			continue
		}
		types = append(types, u.typeName(child, 0))
	}
	return "(" + strings.Join(types, ", ") + ")" + constant
}

var typeMarks = map[dwarf.Tag]string{
	dwarf.TagPointerType: "*", dwarf.TagReferenceType: "&", dwarf.TagRvalueReferenceType: "&&", dwarf.TagConstType: " const",
	dwarf.TagVolatileType: " volatile", dwarf.TagArrayType: " []", dwarf.TagSubroutineType: " ()",
}

// typeName names the type of a DIE.
func (u *unit) typeName(e *debuginfo.Entry, depth int) string {
	off, ok := e.Ref(dwarf.AttrType)
	if !ok || depth > deepest {
		return "void"
	}
	t, err := u.file.Entry(off)
	if err != nil {
		return "void"
	}
	if mark, ok := typeMarks[t.Tag]; ok {
		return u.typeName(t, depth+1) + mark
	}
	return u.file.QualifiedName(t)
}
