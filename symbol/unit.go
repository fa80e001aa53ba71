package symbol

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"tracewell/arch"
	"tracewell/internal/demangle"
	"tracewell/symbol/debuginfo"
)

// unit is what GDB would have in its tables of a compilation unit: blocks and lines. Each is made when it is asked for.
type unit struct {
	*debuginfo.Unit
	file   *debuginfo.File
	tables func() []*fileTable
	scopes func() *scopes
}

// scopes are the blocks of a unit.
type scopes struct {
	blocks []*block // inner ones first, so that all of a function stand together, itself as the last
	pieces []piece  // of functions, by address
	whole  *block   // the unit itself: around code that is in no function; nil if GDB has none there
	// trusted says that variables can be found from the first instruction of a function on, because the compiler tells by
	// lists of locations where they are.
	trusted bool
	ends    arch.Addr
}

// piece is a stretch of code of a function that is in no other, and which blocks there are in it.
type piece struct {
	debuginfo.Range
	first, behind int
}

// newUnit reads nothing: tables and blocks are made at their first use, since most units of a program are never asked.
func newUnit(file *debuginfo.File, u *debuginfo.Unit) *unit {
	n := &unit{Unit: u, file: file}
	n.tables = sync.OnceValue(func() []*fileTable { return tabulate(u.Lines()) })
	n.scopes = sync.OnceValue(n.readScopes)
	return n
}

// readScopes reads all blocks of a unit. Damaged debug information gives fewer of them.
func (u *unit) readScopes() *scopes {
	s := &scopes{}
	root, err := u.file.Entry(u.Root())
	if err != nil {
		return s
	}
	r := blockReader{file: u.file, unit: u}
	var top []*block
	r.read(root, &top, 0)
	s.blocks = r.blocks
	s.trusted = r.listed && trustworthy(u.Producer)
	// GDB has a block for the whole unit, which holds code outside of all functions, unless some function is in several pieces: then
	// addresses are mapped to blocks one by one.
	ranges := u.file.Ranges(root)
	apart := false
	first := 0
	for i, b := range s.blocks {
		if b.outer == nil || b.linkage() == b { // those of local classes are elsewhere
			for _, r := range b.ranges {
				s.pieces = append(s.pieces, piece{r, first, i + 1})
			}
		}
		// Blocks of one function stand together, so a piece needs only the bounds of its part of the list.
		if b.outer == nil {
			first = i + 1
		}
		apart = apart || len(b.ranges) > 1
		s.ends = max(s.ends, b.high())
	}
	slices.SortStableFunc(s.pieces, func(a, b piece) int { return cmp.Compare(a.Begin, b.Begin) })
	for _, r := range ranges {
		s.ends = max(s.ends, r.End)
	}
	if !apart && len(ranges) > 0 {
		s.whole = &block{ranges: ranges}
	}
	return s
}

// trustworthy reports whether a compiler's lists of locations are right in a function's prologue: those of GCC are since 4.5.
func trustworthy(producer string) bool {
	rest, ok := strings.CutPrefix(producer, "GNU ")
	if !ok || strings.HasPrefix(rest, "AS ") {
		return false
	}
	// The producer is "GNU C17 12.2.0 -mtune=generic …": the first word that begins with a number is the version.
	for _, word := range strings.Fields(rest) {
		major, minor, _ := strings.Cut(word, ".")
		m, err := strconv.Atoi(major)
		if err != nil {
			continue
		}
		n, _, _ := strings.Cut(minor, ".")
		digit, _ := strconv.Atoi(n)
		return m > 4 || m == 4 && digit >= 5
	}
	return false
}

// blockAt returns the innermost block around pc, nil if there is none.
func (u *unit) blockAt(pc arch.Addr) *block {
	s := u.scopes()
	behind := sort.Search(len(s.pieces), func(i int) bool { return s.pieces[i].Begin > pc })
	if behind > 0 {
		p := s.pieces[behind-1]
		for _, b := range s.blocks[p.first:p.behind] {
			if b.has(pc) {
				return b
			}
		}
	}
	if s.whole != nil && s.whole.has(pc) {
		return s.whole
	}
	return nil
}

// spanAt is the line of the code at pc.
func (u *unit) spanAt(pc arch.Addr) span { return spanAt(u.tables(), pc, u.scopes().ends) }

// functions returns the functions and inlined copies.
func (u *unit) functions() []*block {
	return slices.DeleteFunc(slices.Clone(u.scopes().blocks), func(b *block) bool { return b.function == nil })
}

// wholeName returns the name of a function as GDB prints it.
func (u *unit) wholeName(b *block, symbols *elfSymbols) string {
	f := b.function
	if f.name == "" {
		f.name = u.makeName(b, symbols)
	}
	return f.name
}

// makeName makes the name that GDB prints: qualified, in C++ with parameters. Those of Rust and Go stand in the debug information
// as their users write them.
func (u *unit) makeName(b *block, symbols *elfSymbols) string {
	e := b.function.entry
	if !u.isCPP() {
		return u.qualified(e)
	}
	// The demangled name is best: it has parameters as the linker has them. Without a linkage name, as of functions that are local
	// to a file, the symbol at the address may have it. Otherwise the name is put together from the debug information.
	if v, ok := u.file.Lookup(e, dwarf.AttrLinkageName); ok && v.Class == debuginfo.ClassString {
		if name, ok := demangle.Source(v.String()); ok {
			return name
		}
	}
	plain := u.file.Name(e)
	if !b.function.inlined {
		for _, mangled := range symbols.at(b.begin()) {
			if name, ok := demangle.Source(mangled); ok && parseName(name).is(plain) {
				return name
			}
		}
	}
	return u.qualified(e) + u.parameters(e)
}

// Only the names of C++ and Rust have scopes in the debug information; those of Go have theirs in the text.
func (u *unit) isCPP() bool  { return u.Language.IsCPP() }
func (u *unit) isRust() bool { return u.Language == debuginfo.LanguageRust }

// qualified returns the name of a function with the scopes that it is declared in.
func (u *unit) qualified(e *debuginfo.Entry) string {
	// The scopes are those of the declaration: a method is defined outside of its class, a copy far from its origin.
	declared := e
	for range deepest {
		origin := u.file.Origin(declared)
		if origin == nil {
			break
		}
		declared = origin
	}
	name := u.file.Name(declared)
	if !u.isCPP() && !u.isRust() {
		return name
	}
	// Inner scopes come first: each is put in front of what there is.
	for parent := u.file.Parent(declared); parent != nil; parent = u.file.Parent(parent) {
		switch parent.Tag {
		case dwarf.TagNamespace, dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagEnumerationType:
			scope := u.file.Name(parent)
			if scope == "" && parent.Tag == dwarf.TagNamespace {
				scope = "(anonymous namespace)"
			}
			name = scope + "::" + name
		}
	}
	return name
}
