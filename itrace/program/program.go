// Package program is what questions about an execution trace ask of the program that was executed: its instruction set, the
// functions by their symbols, the code, the lines. It is a view of an ELF file, with addresses of the trace.
//
// A function is what a symbol of the type has, up to its size. In assembly, symbols have neither: there each global label begins a
// function, which ends where the next one begins; labels within one are places in it, not functions. The part of a function that a
// compiler has put elsewhere because it is rarely executed (name.cold) counts for the function.
package program

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strings"

	"tracewell/arch"
	"tracewell/arch/flow"
	"tracewell/internal/demangle"
	"tracewell/symbol/debuginfo"
)

// Function is code that has a name.
type Function struct {
	Name       string // as in the source
	Begin, End uint64
	// Whole is the number of the function that this is a part of; its own, mostly.
	Whole int
}

// Program is a program at the addresses at which a trace has it.
type Program struct {
	File      *debuginfo.File // nil for functions alone
	Set       *flow.Set       // nil for a processor of which nothing is known here
	Functions []Function

	bias  uint64
	sized []bool // of Functions: the symbol has a size
}

// cold are the ends of names of parts.
var cold = regexp.MustCompile(`\.cold(\.\d+)?$`)

// New returns the program in a file, which has been loaded so far above the addresses in the file.
func New(file *debuginfo.File, bias uint64) *Program {
	p := &Program{File: file, bias: bias}
	if m := file.Arch(); m != nil {
		p.Set = flow.Of(m, file.Order())
	}
	symbols := slices.DeleteFunc(file.Symbols(), func(s debuginfo.Symbol) bool { return !p.isFunction(s) })
	slices.SortStableFunc(symbols, func(a, b debuginfo.Symbol) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(rank(b), rank(a)), cmp.Compare(underscores(a), underscores(b)))
	})
	for _, s := range symbols {
		if p.begins(s) {
			f := Function{Name: nameOf(s), Begin: uint64(s.Addr) + bias, Whole: len(p.Functions)}
			f.End = f.Begin + cmp.Or(s.Size, uint64(len(file.Code(s.Addr))))
			p.sized = append(p.sized, s.Size > 0)
			if last := len(p.Functions) - 1; last >= 0 && !p.sized[last] {
				p.Functions[last].End = min(p.Functions[last].End, f.Begin)
			}
			p.Functions = append(p.Functions, f)
		}
	}
	p.join()
	return p
}

// begins reports whether a function begins at a symbol, behind those that are there.
func (p *Program) begins(s debuginfo.Symbol) bool {
	last := len(p.Functions) - 1
	if last < 0 {
		return true
	}
	at := uint64(s.Addr) + p.bias
	within := at < p.Functions[last].End
	switch {
	case at == p.Functions[last].Begin:
		return false // another name of it
	case s.Kind != debuginfo.SymbolLabel:
		return true
	case s.Global:
		return !within || !p.sized[last]
	}
	return !within
}

// join has parts of functions count for these.
func (p *Program) join() {
	wholes := make(map[string]int)
	for i, f := range p.Functions {
		wholes[f.Name] = i
	}
	for i := range p.Functions {
		f := &p.Functions[i]
		if whole, ok := wholes[cold.ReplaceAllString(f.Name, "")]; ok && cold.MatchString(f.Name) {
			f.Whole, f.Name = whole, p.Functions[whole].Name
		}
	}
}

// isFunction reports whether a symbol may begin a function. Those that mark what lies where ($x, $d) do not, nor do those that an
// assembler makes for itself.
func (p *Program) isFunction(s debuginfo.Symbol) bool {
	switch s.Kind {
	case debuginfo.SymbolFunction, debuginfo.SymbolIndirect:
		return p.File.HasCode(s.Addr)
	case debuginfo.SymbolLabel:
		return p.File.HasCode(s.Addr) && !strings.HasPrefix(s.Name, "$") && !strings.HasPrefix(s.Name, ".L")
	}
	return false
}

// rank orders the symbols of one address: that with the highest names it.
func rank(s debuginfo.Symbol) (n int) {
	if s.Kind != debuginfo.SymbolLabel {
		n += 4
	}
	if s.Size > 0 {
		n += 2
	}
	if s.Global {
		n++
	}
	return n
}

// underscores is how many a name begins with: of several names of a function users know that with the fewest.
func underscores(s debuginfo.Symbol) int { return len(s.Name) - len(strings.TrimLeft(s.Name, "_")) }

func nameOf(s debuginfo.Symbol) string {
	if name, ok := demangle.Source(s.Plain()); ok {
		return name
	}
	return s.Title()
}

// At is the number of the function that has the code at an address, negative if none has.
func (p *Program) At(pc uint64) int {
	i := sort.Search(len(p.Functions), func(i int) bool { return p.Functions[i].Begin > pc }) - 1
	if i < 0 || pc >= p.Functions[i].End {
		return -1
	}
	return i
}

// Code is the code at an address, nil where the file has none.
func (p *Program) Code(pc uint64) []byte {
	if p.File == nil {
		return nil
	}
	return p.File.Code(arch.Addr(pc - p.bias))
}

// Line is the line of the source that an address belongs to.
func (p *Program) Line(pc uint64) (path string, line int, ok bool) {
	l, ok := p.File.LineAt(arch.Addr(pc - p.bias))
	return l.Path, int(l.Line), ok && l.Line != 0
}

// Bias is how far above its own addresses the file was loaded.
func (p *Program) Bias() uint64 { return p.bias }
