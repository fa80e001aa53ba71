package scope

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
)

// keywords are the tags of the types that a keyword goes before. C++ takes struct and class for the same, as GDB does.
var keywords = map[string][]dwarf.Tag{
	"struct": {dwarf.TagStructType, dwarf.TagClassType},
	"class":  {dwarf.TagStructType, dwarf.TagClassType},
	"union":  {dwarf.TagUnionType},
	"enum":   {dwarf.TagEnumerationType},
}

// Type finds a type by its name, from the pc outward: in the blocks, in class and namespaces, by what they import. In C a structure
// needs its keyword, so that "job" alone is a typedef; in other languages it may be left out.
func (s *Scope) Type(name string) (*ctype.Type, error) {
	name = strings.TrimSpace(name)
	var tags []dwarf.Tag
	plain := name
	if keyword, rest, ok := strings.Cut(name, " "); ok && keywords[keyword] != nil {
		tags, plain = keywords[keyword], strings.TrimSpace(rest)
	}
	fits := func(e *debuginfo.Entry) bool {
		if tags != nil {
			return slices.Contains(tags, e.Tag)
		}
		return languageOf(e.Unit) != ctype.C || !hasKeyword(e.Tag)
	}
	if e := s.localType(plain, fits); e != nil {
		return s.image.types.at(e.Offset), nil
	}
	var whole []string
	for _, prefix := range s.prefixes() {
		whole = append(whole, prefix+plain)
	}
	for _, name := range append(whole, s.imported(plain)...) {
		var fitting []debuginfo.Offset
		for _, off := range s.image.file.Types("::" + strings.TrimPrefix(name, "::")) {
			if e, err := s.image.file.Entry(off); err == nil && fits(e) {
				fitting = append(fitting, off)
			}
		}
		if e := s.nearest(fitting); e != nil {
			return s.image.types.at(e.Offset), nil
		}
	}
	return nil, fmt.Errorf("there is no type %s", name)
}

// hasKeyword reports whether types of a tag have a keyword in C.
func hasKeyword(tag dwarf.Tag) bool {
	for _, tags := range keywords {
		if slices.Contains(tags, tag) {
			return true
		}
	}
	return false
}

// localType finds a type that a block of the function declares, or the abstract instance of the block: GCC describes the types of
// an inlined function there alone.
func (s *Scope) localType(name string, fits func(*debuginfo.Entry) bool) *debuginfo.Entry {
	for _, block := range s.blocks {
		for _, place := range []*debuginfo.Entry{block, s.image.file.Origin(block)} {
			if place == nil {
				continue
			}
			for child := range s.image.file.Children(place) {
				if makers[child.Tag] != nil && child.Tag != dwarf.TagSubprogram && child.Name() == name && fits(child) {
					return child
				}
			}
		}
	}
	return nil
}
