package symbol

import (
	"debug/dwarf"
	"strings"

	"tracewell/symbol/debuginfo"
)

// members finds the functions of a class, or of those that it is derived from, by their names in the debug information. These
// are not always those that a demangler gives: an argument of a template may be 0 in one and 0ul in the other.
func (o *Object) members(q *query) []candidate {
	var found []candidate
	// A method that the nearest class defines hides those of the same name in its bases, as in C++.
	for _, class := range o.lineage(strings.Join(q.name.scopes, "::")) {
		of := parseName(class + "::" + q.name.last + q.name.args)
		inherited := &query{text: q.text, name: of}
		for _, u := range o.unitsNaming(inherited) {
			if q.file != "" && !u.hasFile(q.file) {
				continue
			}
			for _, b := range u.functions() {
				// The qualified name is by the debug information, as the class is, so that template arguments are spelled alike. Parameters are
				// not in it; they are compared by the whole name.
				if name := parseName(u.qualified(b.function.entry)); !of.matches(&name, false) {
					continue
				}
				whole := parseName(u.wholeName(b, o.symbols()))
				if q.name.params == "" || q.name.params == whole.params {
					found = append(found, candidate{object: o, unit: u, block: b})
				}
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found
}

// lineage returns the name of a class and those of all that it is derived from, the nearest first.
// A class may be derived from several, and damaged debug information may have a circle: the list is limited.
func (o *Object) lineage(class string) []string {
	line := []string{class}
	for i := 0; i < len(line) && len(line) < deepest; i++ {
		for _, off := range o.file.Types(line[i]) {
			e, err := o.file.Entry(off)
			if err != nil {
				continue
			}
			for child := range o.file.Children(e) {
				if base := o.baseClass(child); base != "" {
					line = append(line, base)
				}
			}
			break
		}
	}
	return line
}

// baseClass is the qualified name of the class in an inheritance, "" for any other DIE.
func (o *Object) baseClass(e *debuginfo.Entry) string {
	if e.Tag != dwarf.TagInheritance {
		return ""
	}
	off, ok := e.Ref(dwarf.AttrType)
	if !ok {
		return ""
	}
	base, err := o.file.Entry(off)
	if err != nil {
		return ""
	}
	return o.file.QualifiedName(base)
}
