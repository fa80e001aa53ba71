package symbol

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
)

// isExpression reports whether a name is a regular expression between slashes.
func isExpression(text string) bool {
	return len(text) > 2 && text[0] == '/' && text[len(text)-1] == '/'
}

// isPattern reports whether the name of a function is a regular expression, or has * or ? for other characters in it. Those in
// brackets belong to types, as in take(int*) and (*Queue).Push, those behind "operator" to the name, and one in front of a blank to
// what a function returns.
func isPattern(text string) bool {
	if isExpression(text) || strings.Contains(text, "operator") {
		return isExpression(text)
	}
	for i := 0; i < len(text); {
		switch text[i] {
		case '(', '<', '[', '{':
			i = closing(text, i)
		case '*', '?':
			return !strings.ContainsAny(text[i:], " \t")
		default:
			i++
		}
	}
	return false
}

// locatePattern finds the functions of some objects whose names match a pattern, those of one source file if the location names
// one. What only chooses another function is left out: to trace it as well would tell nothing of the calls.
func (p *Program) locatePattern(s *spec, objects []*Object) ([]Location, error) {
	match, err := matcher(s.function)
	if err != nil {
		at := strings.Index(s.text, s.function)
		return nil, s.fail(at, at+len(s.function), "%v", err)
	}
	var found []Location
	for _, o := range objects {
		found = append(found, o.listFunctions(s.file, match)...)
		if s.file == "" { // symbols have no file
			found = append(found, o.listSymbols(match)...)
		}
	}
	found = slices.DeleteFunc(found, func(l Location) bool { return l.Resolver })
	if len(found) == 0 {
		return nil, &NotFoundError{Spec: s.text, Kind: FunctionName, Name: s.function, Within: s.colon, Note: p.blind()}
	}
	return found, nil
}

// named returns the files of the program that have a name: a path, the last part of one, that without what stands behind ".so", or
// a symbolic link to it in the same folder.
func (p *Program) named(name string) []*Object {
	found := slices.DeleteFunc(slices.Clone(p.Objects()), func(o *Object) bool {
		base := path.Base(o.path)
		stem, _, _ := strings.Cut(base, ".so")
		versioned := strings.Contains(name, ".so") && strings.HasPrefix(base, name+".")
		return name != o.path && name != base && name != stem && !versioned
	})
	if len(found) == 0 {
		found = slices.DeleteFunc(slices.Clone(p.Objects()), func(o *Object) bool { return !o.isAt(name) })
	}
	return found
}

// isAt reports whether a name, of the folder that the file is in unless it says more, leads to the file: Debian's redis-server is a
// link to redis-check-rdb, and a process has the name of the latter.
func (o *Object) isAt(name string) bool {
	if !strings.Contains(name, "/") {
		name = path.Join(path.Dir(o.path), name)
	}
	own, err := os.Stat(o.path)
	if err != nil {
		return false
	}
	other, err := os.Stat(name)
	return err == nil && os.SameFile(own, other)
}

// numeral is the address that stands in the place of a function's name, if one does.
func (s *spec) numeral() (arch.Addr, bool) {
	addr, err := strconv.ParseUint(s.function, 0, 64)
	return arch.Addr(addr), err == nil && !s.very && !s.pattern
}

// locateWithin finds a function, a pattern or an address, such as objdump prints it, in some files of the program.
func (p *Program) locateWithin(s *spec, objects []*Object) ([]Location, error) {
	if s.pattern {
		return p.locatePattern(s, objects)
	}
	var places []place
	kind := FunctionName
	if addr, ok := s.numeral(); ok {
		kind = AddressName
		for _, o := range objects {
			if o.file.HasCode(addr) {
				places = append(places, place{object: o, addr: addr})
			}
		}
	} else {
		for _, c := range p.functionPlaces(s) {
			if slices.Contains(objects, c.object) {
				places = append(places, c.places(s)...)
			}
		}
	}
	if len(places) == 0 {
		return nil, &NotFoundError{Spec: s.text, Kind: kind, Name: s.function, Within: s.colon}
	}
	return p.locations(places), nil
}
