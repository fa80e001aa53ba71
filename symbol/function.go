package symbol

import (
	"strings"

	"tracewell/arch"
	"tracewell/internal/demangle"
	"tracewell/symbol/debuginfo"
)

// candidate is a function that a name means: a block of a unit, or merely a symbol.
type candidate struct {
	object *Object
	unit   *unit
	block  *block
	symbol *debuginfo.Symbol
}

// begin is the address in the file at which the function begins.
func (c *candidate) begin() arch.Addr {
	if c.block != nil {
		return c.block.begin()
	}
	return c.symbol.Addr
}

// places returns where a location in the function is.
func (c *candidate) places(s *spec) []place {
	switch {
	case s.label != "":
		return c.label(s.label)
	// NAME+BYTES means bytes of the function itself; its inlined copies have no common layout.
	case s.very && c.block != nil && c.block.function.inlined:
		return nil
	case s.very:
		return []place{{c.object, c.unit, c.begin() + arch.Addr(s.offset)}}
	case c.block != nil:
		return []place{{c.object, c.unit, c.unit.start(c.object, c.block)}}
	// The resolver of an indirect function has no prologue that matters.
	case c.symbol.Kind == debuginfo.SymbolIndirect:
		return []place{{c.object, nil, c.symbol.Addr}}
	}
	// Only the symbol has the name, but there are lines: an alias, or a function whose debug information has another name for it.
	// GDB passes the prologue as it does for the function itself.
	if u := c.object.unitAt(c.symbol.Addr); u != nil {
		if b := u.blockAt(c.symbol.Addr).linkage(); b != nil && b.begin() == c.symbol.Addr {
			return []place{{c.object, u, u.start(c.object, b)}}
		}
		return []place{{c.object, u, u.skip(c.object, c.symbol.Addr)}}
	}
	return []place{{c.object, nil, c.object.framed(c.symbol.Addr)}}
}

// query is a name of functions that is looked for.
type query struct {
	text  string // as it was written
	name  name
	file  string // functions of units with this file only; "" for all
	whole bool   // no scopes are left out, nor the arguments of templates
	loose bool   // scopes are left out of names of Rust, which GDB does not allow, and arguments of generics of Go
}

// newQuery takes the name out of a location.
func newQuery(s *spec) *query {
	q := &query{text: strings.TrimPrefix(s.function, "::"), file: s.file, whole: s.whole}
	q.name = parseName(q.text)
	// A user may paste the mangled name from nm or a linker error.
	if plain, ok := demangle.Source(q.text); ok {
		q.name = parseName(plain)
	}
	return q
}

// functionPlaces finds the functions that a location means, in all objects.
func (p *Program) functionPlaces(s *spec) []candidate {
	q := newQuery(s)
	// GDB's own rule comes first, so that a name which GDB accepts means the same here. Only where that finds nothing, names of Rust
	// and Go are compared loosely, and at last the base classes are searched.
	found := p.candidates(q)
	if len(found) == 0 && !q.whole {
		q.loose = true
		found = p.candidates(q)
	}
	if len(found) == 0 && len(q.name.scopes) > 0 {
		for _, o := range p.Objects() {
			found = append(found, o.members(q)...)
		}
	}
	return found
}

// candidates finds the functions in all objects, the executable first.
func (p *Program) candidates(q *query) []candidate {
	var found []candidate
	for _, o := range p.Objects() {
		found = append(found, o.functions(q)...)
	}
	return found
}

// functions finds those of one object: by debug information, inlined copies included, and by its symbols.
func (o *Object) functions(q *query) []candidate {
	var found, inlined []candidate
	for _, u := range o.unitsNaming(q) {
		if q.file != "" && !u.hasFile(q.file) {
			continue
		}
		// With a file, GDB takes an inlined copy only if the file has no concrete function of the name.
		for _, b := range u.functions() {
			switch c := (candidate{object: o, unit: u, block: b}); {
			case !u.means(b, q, o.symbols()):
			case q.file != "" && b.function.inlined:
				inlined = append(inlined, c)
			default:
				found = append(found, c)
			}
		}
	}
	// Symbols have no file, so they cannot be of the one that was asked for.
	if q.file != "" {
		if len(found) == 0 {
			return inlined
		}
		return found
	}
	for _, symbol := range o.symbols().matching(q) {
		found = append(found, candidate{object: o, symbol: symbol})
	}
	return found
}

// means reports whether a name means a function.
func (u *unit) means(b *block, q *query, symbols *elfSymbols) bool {
	plain := u.file.Name(b.function.entry)
	// C has no scopes. A generic function of Go has its arguments in brackets behind the name.
	if !u.isCPP() && !u.isRust() {
		return plain == q.text || q.loose && strings.HasPrefix(plain, q.text+"[")
	}
	// This spares the making of the whole name, which may have to be demangled, for nearly all functions.
	if !strings.HasPrefix(plain, q.name.last) && !strings.HasPrefix(plain, "operator") {
		return false
	}
	f := parseName(u.wholeName(b, symbols))
	return q.matches(&f, u.isCPP())
}

// matches reports whether a function has the name, cpp saying whether it is one of C++.
func (q *query) matches(f *name, cpp bool) bool {
	if q.whole && q.name.args != f.args {
		return false
	}
	return q.name.matches(f, !q.whole && (cpp || q.loose))
}

// key is the name by which debug information is asked for the functions, which may give it more than are wanted: without
// arguments of templates, and without scopes where one of them is a function.
func (q *query) key() string {
	var parts []string
	for _, scope := range q.name.scopes {
		if scope == "(anonymous namespace)" || scope == "{anonymous}" {
			continue
		}
		// The index has names by namespaces and classes, not by functions: a local class is found by its last part.
		if strings.ContainsAny(scope, "({") {
			return q.name.last
		}
		parts = append(parts, withoutArguments(scope))
	}
	return strings.Join(append(parts, q.name.last), "::")
}

// unitsNaming returns the units that may have a function of a name, or an inlined copy of it.
func (o *Object) unitsNaming(q *query) []*unit {
	var units []*unit
	seen := map[*debuginfo.Unit]bool{}
	add := func(off debuginfo.Offset) {
		for _, instance := range o.file.Instances(off) {
			if u := instance.Entry.Unit; !seen[u] {
				seen[u] = true
				units = append(units, o.unit(u))
			}
		}
	}
	key := q.key()
	for _, off := range o.file.Functions(key) {
		add(off)
	}
	// Rust and Go have names in the index that are not taken apart as those of C++ are.
	if key != q.text {
		for _, off := range o.file.Functions(q.text) {
			add(off)
		}
	}
	if q.loose && strings.Contains(q.text, ".") {
		o.file.EachName(debuginfo.KindFunction, func(name string, off debuginfo.Offset) bool {
			if strings.HasPrefix(name, q.text+"[") {
				add(off)
			}
			return true
		})
	}
	return units
}
