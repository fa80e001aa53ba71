package symbol

import (
	"slices"
	"sort"
	"strings"

	"tracewell/arch"
	"tracewell/internal/demangle"
	"tracewell/symbol/debuginfo"
)

// elfSymbols are the functions and objects in the symbol table of a file.
type elfSymbols struct {
	all []debuginfo.Symbol // by address
}

// at returns the names of the functions that begin at an address.
func (s *elfSymbols) at(addr arch.Addr) []string {
	var names []string
	for i := sort.Search(len(s.all), func(i int) bool { return s.all[i].Addr >= addr }); i < len(s.all) && s.all[i].Addr == addr; i++ {
		if isFunction(&s.all[i]) {
			names = append(names, s.all[i].Plain())
		}
	}
	return names
}

// matching returns the functions that a name means: by the very name, by what a compiler made of it, or without the version that
// the linker added. As in GDB a name without a version means all versions that there are.
func (s *elfSymbols) matching(q *query) []*debuginfo.Symbol {
	var found, made []*debuginfo.Symbol
	words := q.name.mangled()
	versioned := strings.Contains(q.text, "@")
	for i := range s.all {
		symbol := &s.all[i]
		if !isFunction(symbol) {
			continue
		}
		name := symbol.Plain()
		// The linker writes two @ before the version that is used where none is given; people write one.
		if name == q.text || symbol.Name == q.text || versioned && strings.Replace(symbol.Name, "@@", "@", 1) == q.text {
			found = append(found, symbol)
		}
		lacks := func(word string) bool { return !strings.Contains(name, word) }
		if !demangle.Is(name) || slices.ContainsFunc(words, lacks) {
			continue
		}
		if text, ok := demangle.Source(name); ok {
			if f := parseName(text); q.matches(&f, !demangle.IsRust(name)) {
				made = append(made, symbol)
			}
		}
	}
	return append(found, made...)
}

// mangled returns words that every mangled form of a name contains. Demangling is slow, and a large program has a million symbols;
// a search for these words leaves few of them.
func (n *name) mangled() (words []string) {
	for _, part := range append([]string{strings.TrimLeft(n.last, "~")}, n.scopes...) {
		// Operators, lambdas and arguments of templates are written in other ways, and std has short names for its own.
		odd := strings.ContainsFunc(part, func(r rune) bool { return r >= 0x80 || !isWord(byte(r)) })
		if !odd && !strings.HasPrefix(part, "operator") && !shortened[part] {
			words = append(words, part)
		}
	}
	return words
}

// shortened are the names that compilers of C++ write as St, Sa, Ss, Sb, Si, So and Sd (Itanium C++ ABI, 5.1.10), the last of them
// with the string and the streams that they stand for.
var shortened = map[string]bool{
	"std": true, "allocator": true, "string": true, "basic_string": true, "char_traits": true, "istream": true, "ostream": true,
	"iostream": true, "basic_istream": true, "basic_ostream": true, "basic_iostream": true,
}

// resolve reports whether an indirect function begins at an address. The code there is the resolver, which runs once, and not the
// function that it chooses. GDB moves a breakpoint to that function as soon as it has been chosen.
func (s *elfSymbols) resolve(addr arch.Addr) bool {
	for i := sort.Search(len(s.all), func(i int) bool { return s.all[i].Addr >= addr }); i < len(s.all) && s.all[i].Addr == addr; i++ {
		if s.all[i].Kind == debuginfo.SymbolIndirect {
			return true
		}
	}
	return false
}

// isFunction reports whether a symbol is that of code; an indirect function is, though it only chooses another.
func isFunction(s *debuginfo.Symbol) bool {
	return s.Kind == debuginfo.SymbolFunction || s.Kind == debuginfo.SymbolIndirect
}

// enclosing bounds the search for a symbol around one that ended before the address.
const enclosing = 16

// covering returns the symbol that an address lies in, and how far in. Of several at one address it is the one that a reader
// most likely knows: a function before an object, a global name before a local one, a current version before an older one, then the
// one that stands first.
func (s *elfSymbols) covering(addr arch.Addr) (symbol *debuginfo.Symbol, offset uint64, ok bool) {
	behind := sort.Search(len(s.all), func(i int) bool { return s.all[i].Addr > addr })
	places := 0
	// Symbols may be nested: a function around a symbol of its own code, or an array around its members. So those in front of the
	// nearest are asked, too, up to a limit.
	for i := behind - 1; i >= 0 && places < enclosing; places++ {
		first := i
		var best *debuginfo.Symbol
		for ; i >= 0 && s.all[i].Addr == s.all[first].Addr; i-- {
			if c := &s.all[i]; known(c) > 0 && (best == nil || known(c) >= known(best)) {
				best = c
			}
		}
		if best == nil {
			places--
			continue
		}
		// A symbol covers its size. One without a size, as those of hand-written assembly, covers all up to the next symbol if it is a
		// function.
		offset = uint64(addr - best.Addr)
		if offset < best.Size || offset == 0 || best.Size == 0 && isFunction(best) && places == 0 {
			return best, offset, true
		}
	}
	return nil, 0, false
}

// known ranks a symbol among those of its address, 0 for what is no function or object.
func known(s *debuginfo.Symbol) int {
	// The kind counts most, then whether the name is global, then the version.
	rank := 0
	switch s.Kind {
	case debuginfo.SymbolFunction, debuginfo.SymbolIndirect:
		rank = 3
	case debuginfo.SymbolObject:
		rank = 1
	default:
		return 0
	}
	if s.Global {
		rank++
	}
	rank *= 2
	if s.Current() {
		rank++
	}
	return rank
}
