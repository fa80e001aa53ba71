package symbol

import (
	"sort"
	"strings"
	"sync"

	"tracewell/arch"
	"tracewell/symbol/debuginfo"
)

// elfSymbols are the functions and objects in the symbol table of a file.
type elfSymbols struct {
	all    []debuginfo.Symbol // by address
	byName func() map[string][]int
}

func newSymbols(all []debuginfo.Symbol) *elfSymbols {
	s := &elfSymbols{all: all}
	s.byName = sync.OnceValue(func() map[string][]int {
		names := make(map[string][]int, len(all))
		for i := range all {
			names[all[i].Name] = append(names[all[i].Name], i)
		}
		return names
	})
	return s
}

// at returns the names of the functions that begin at an address.
func (s *elfSymbols) at(addr arch.Addr) []string {
	var names []string
	for i := sort.Search(len(s.all), func(i int) bool { return s.all[i].Addr >= addr }); i < len(s.all) && s.all[i].Addr == addr; i++ {
		if isFunction(&s.all[i]) {
			names = append(names, s.all[i].Name)
		}
	}
	return names
}

// matching returns the functions that a name means: by the very name, or by what a compiler made of it.
func (s *elfSymbols) matching(text string, n *name, wild bool) []*debuginfo.Symbol {
	var found []*debuginfo.Symbol
	for _, i := range s.byName()[text] {
		if isFunction(&s.all[i]) {
			found = append(found, &s.all[i])
		}
	}
	word := strings.TrimLeft(n.last, "~")
	if !strings.ContainsFunc(word, func(r rune) bool { return r < 0x80 && !isWord(byte(r)) }) && !strings.HasPrefix(word, "operator") {
		return append(found, s.mangled(word, n, wild)...)
	}
	return append(found, s.mangled("", n, wild)...)
}

// mangled looks through the symbols that have a word in them.
func (s *elfSymbols) mangled(word string, n *name, wild bool) []*debuginfo.Symbol {
	var found []*debuginfo.Symbol
	for i := range s.all {
		symbol := &s.all[i]
		if !isFunction(symbol) || !strings.HasPrefix(symbol.Name, "_Z") && !strings.HasPrefix(symbol.Name, "_R") ||
			!strings.Contains(symbol.Name, word) {
			continue
		}
		if text, ok := demangled(symbol.Name); ok {
			if f := parseName(text); n.matches(&f, wild) {
				found = append(found, symbol)
			}
		}
	}
	return found
}
