package scope

import (
	"debug/dwarf"
	"slices"
	"strings"

	"tracewell/symbol/debuginfo"
)

// imported lists the whole names that a name may have by using directives, using declarations and namespace aliases in the
// blocks, the namespaces and the unit at the pc. A directive reaches into namespaces whose own directives count, too.
func (s *Scope) imported(name string) []string {
	var found []string
	seen := make(map[debuginfo.Offset]bool)
	first, rest, qualified := strings.Cut(name, "::")
	// The closure calls itself for the target of each directive; seen bounds it, since namespaces may import one another.
	var search func(place *debuginfo.Entry)
	search = func(place *debuginfo.Entry) {
		if place == nil || seen[place.Offset] {
			return
		}
		seen[place.Offset] = true
		for child := range s.image.file.Children(place) {
			if codeless(child) {
				search(child)
			}
			target := s.importOf(child)
			if target == nil {
				continue
			}
			whole := s.image.file.QualifiedName(target)
			alias := child.Name()
			if alias == "" {
				alias = target.Name()
			}
			switch {
			case child.Tag == dwarf.TagImportedModule:
				found = append(found, whole+"::"+name)
				search(target)
			case alias == name:
				found = append(found, whole)
			case qualified && alias == first:
				found = append(found, whole+"::"+rest)
			}
		}
	}
	for _, place := range s.places() {
		search(place)
	}
	return found
}

// importOf is the namespace or declaration that an entry imports (DWARF 5, 3.2.3 to 3.2.5), nil if it imports nothing: using
// directives are DW_TAG_imported_module, using declarations and namespace aliases DW_TAG_imported_declaration, the latter with a
// name.
func (s *Scope) importOf(e *debuginfo.Entry) *debuginfo.Entry {
	if e.Tag != dwarf.TagImportedModule && e.Tag != dwarf.TagImportedDeclaration {
		return nil
	}
	off, ok := e.Ref(dwarf.AttrImport)
	if !ok {
		return nil
	}
	target, _ := s.image.file.Entry(off)
	return target
}

// places are the descriptions around the pc in which imports may stand: blocks, what the function is a copy of, the namespaces
// around it, the unit.
func (s *Scope) places() []*debuginfo.Entry {
	var places []*debuginfo.Entry
	for _, block := range slices.Backward(s.around) {
		places = append(places, block, s.image.file.Origin(block))
	}
	if s.inner != nil {
		outer := s.image.file.Parent(s.declared(s.inner))
		for range deepest {
			if outer == nil {
				break
			}
			places = append(places, outer)
			outer = s.image.file.Parent(outer)
		}
	}
	if s.unit != nil {
		if root, err := s.image.file.Entry(s.unit.Root()); err == nil {
			places = append(places, root)
		}
	}
	return places
}
