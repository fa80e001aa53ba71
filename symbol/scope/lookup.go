package scope

import (
	"debug/dwarf"
	"fmt"
	"strings"

	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
	"tracewell/symbol/expr"
)

// Lookup finds what a name stands for: in the blocks of the function, then in its class, its namespaces and what they import,
// then anywhere in the file, where what is in the unit comes first.
func (s *Scope) Lookup(name string) (expr.Object, error) {
	if file, rest, ok := quotedFile(name); ok {
		return s.inFile(file, rest)
	}
	if e := s.local(name); e != nil {
		return s.object(e, name)
	}
	o, err := s.outer(name)
	o.Outer = true
	return o, err
}

// local finds a variable of the function.
func (s *Scope) local(name string) *debuginfo.Entry {
	for _, block := range s.blocks {
		for _, e := range s.variables(block) {
			if s.image.file.Name(e) == name {
				return e
			}
		}
	}
	return nil
}

// outer finds what is not of the function's blocks: in the class and the namespaces around it, by what they import, in other
// functions and other files by qualified names, and at last among the linker's symbols, which have no types.
func (s *Scope) outer(name string) (expr.Object, error) {
	var wholes []string
	for _, prefix := range s.prefixes() {
		wholes = append(wholes, prefix+name)
	}
	for _, whole := range append(wholes, s.imported(name)...) {
		if o, ok := s.member(whole); ok {
			return o, nil
		}
		if o, ok := s.exactly(whole); ok {
			return o, nil
		}
	}
	if o, ok := s.ofFunction(name); ok {
		return o, nil
	}
	// Other files have no unit at the pc, so their namespaces have to be written out.
	for _, other := range s.image.others() {
		if o, ok := other.At(0).exactly(name); ok {
			return o, nil
		}
	}
	for _, image := range s.image.all() {
		if o, ok := image.symbol(name); ok {
			return o, nil
		}
	}
	return expr.Object{}, fmt.Errorf("there is no %s", name)
}

// prefixes are those of the class and the namespaces of the function, from the inside, and last that of what is in none.
func (s *Scope) prefixes() []string {
	if s.inner == nil {
		return []string{""}
	}
	var prefixes []string
	for prefix := s.image.types.prefix(s.declared(s.inner)); prefix != ""; {
		prefixes = append(prefixes, prefix)
		prefix = prefix[:outerEnd(strings.TrimSuffix(prefix, "::"))]
	}
	return append(prefixes, "")
}

// outerEnd is where the last part of a qualified name begins. Colons in brackets do not count.
func outerEnd(name string) int {
	depth := 0
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case '>', ')':
			depth++
		case '<', '(':
			depth--
		case ':':
			if depth == 0 && name[i-1] == ':' {
				return i + 1
			}
		}
	}
	return 0
}

// declared follows a function to the description that stands in its class or namespace.
func (s *Scope) declared(e *debuginfo.Entry) *debuginfo.Entry {
	for range deepest {
		origin := s.image.file.Origin(e)
		if origin == nil {
			break
		}
		e = origin
	}
	return e
}

// member finds a static member of a class, or of one of its bases, by its whole name: the class is looked up as a type, because the
// index of names has only members that have an address or a value in their own DIE.
func (s *Scope) member(whole string) (expr.Object, bool) {
	whole = strings.TrimPrefix(whole, "::")
	end := outerEnd(whole)
	if end == 0 || s.Language() != ctype.CPlusPlus {
		return expr.Object{}, false
	}
	class, name := strings.TrimSuffix(whole[:end], "::"), whole[end:]
	for _, off := range s.image.file.Types("::" + class) {
		t := s.image.types.at(off)
		if f, ok := t.Field(name); ok && f.Static && (f.Addr != 0 || f.Value != nil) {
			if f.Addr == 0 {
				return expr.Object{Name: name, Type: f.Type, Place: expr.Constant{Bytes: f.Value}}, true
			}
			return expr.Object{Name: name, Type: f.Type, Place: at(f.Addr)}, true
		}
	}
	return expr.Object{}, false
}

// exactly finds what has a whole name: a variable, a function or an enumerator.
func (s *Scope) exactly(name string) (expr.Object, bool) {
	file := s.image.file
	whole := "::" + strings.TrimPrefix(name, "::")
	if e := s.nearest(file.Variables(whole)); e != nil {
		if o, err := s.object(e, name); err == nil && !s.onlyDeclared(e) {
			return o, true
		}
	}
	if e := s.nearest(file.Functions(whole)); e != nil {
		if o, ok := s.code(e, name); ok {
			return o, true
		}
	}
	if e := s.nearest(file.Constants(whole)); e != nil {
		return s.enumerator(e, name)
	}
	return expr.Object{}, false
}

// nearest chooses among DIEs of one name: a definition before a declaration, then what is in the unit, then what other units export
// before what they keep to themselves (static).
func (s *Scope) nearest(offsets []debuginfo.Offset) *debuginfo.Entry {
	var best *debuginfo.Entry
	rank := 0
	for _, off := range offsets {
		e, err := s.image.file.Entry(off)
		if err != nil {
			continue
		}
		// Bits of the rank, by weight: 4 a definition, 2 in the unit, 1 exported; 1 for all to begin with, so that 0 is nothing.
		r := 1
		if _, external := s.image.file.Lookup(e, dwarf.AttrExternal); external {
			r = 2
		}
		if e.Unit == s.unit {
			r += 2
		}
		if !s.onlyDeclared(e) {
			r += 4
		}
		if r > rank {
			best, rank = e, r
		}
	}
	return best
}

// onlyDeclared reports whether a DIE is a declaration, DW_AT_external without a location in most cases.
func (s *Scope) onlyDeclared(e *debuginfo.Entry) bool { return e.Bool(dwarf.AttrDeclaration) }

// quotedFile splits "'queue.c'::count".
func quotedFile(name string) (file, rest string, ok bool) {
	if !strings.HasPrefix(name, "'") {
		return "", "", false
	}
	file, rest, ok = strings.Cut(name[1:], "'::")
	return file, rest, ok && rest != ""
}

// inFile finds what a source file has, static or not. A file that was compiled into several units is searched in all of them.
func (s *Scope) inFile(file, name string) (expr.Object, error) {
	known := false
	for _, unit := range s.image.file.Units() {
		if unit.Path() == "" || !debuginfo.SamePath(file, unit.Path()) {
			continue
		}
		known = true
		there := &Scope{image: s.image, unit: unit, frame: s.image.frame(unit, nil, 0)}
		all := append(s.image.file.Variables(name), s.image.file.Functions(name)...)
		for _, off := range all {
			e, err := s.image.file.Entry(off)
			if err != nil || e.Unit != unit || s.onlyDeclared(e) {
				continue
			}
			if e.Tag == dwarf.TagSubprogram {
				if o, ok := there.code(e, name); ok {
					return o, nil
				}
				continue
			}
			return there.object(e, name)
		}
	}
	if !known {
		return expr.Object{}, fmt.Errorf("there is no source file %s", file)
	}
	return expr.Object{}, fmt.Errorf("there is no %s in %s", name, file)
}

// ofFunction finds a static variable of another function: "push::calls".
func (s *Scope) ofFunction(name string) (expr.Object, bool) {
	end := outerEnd(name)
	if end == 0 {
		return expr.Object{}, false
	}
	for _, off := range s.image.file.Functions(strings.TrimSuffix(name[:end], "::")) {
		if e, err := s.image.file.Entry(off); err == nil {
			if v := s.within(e, name[end:], 0); v != nil {
				there := &Scope{image: s.image, unit: e.Unit, frame: s.image.frame(e.Unit, nil, 0)}
				o, err := there.object(v, name)
				return o, err == nil
			}
		}
	}
	return expr.Object{}, false
}

// within finds a variable in a block or one of those in it. Where several blocks have one of the name the first in the file counts.
func (s *Scope) within(block *debuginfo.Entry, name string, depth int) *debuginfo.Entry {
	for child := range s.image.file.Children(block) {
		switch child.Tag {
		case dwarf.TagVariable:
			if s.image.file.Name(child) == name {
				return child
			}
		case dwarf.TagLexDwarfBlock:
			if depth == deepest {
				continue
			}
			if found := s.within(child, name, depth+1); found != nil {
				return found
			}
		}
	}
	return nil
}
