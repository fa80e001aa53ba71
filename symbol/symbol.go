package symbol

import (
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/symbol/debuginfo"
	"tracewell/symbol/scope"
)

// Symbol is a function or an object by the name that the linker has for it.
type Symbol struct {
	Name     string    // without a version, unless it is an older one: memcpy@GLIBC_2.2.5
	Addr     arch.Addr // in the process
	Size     uint64    // bytes; 0 where the file does not say, as for functions written in assembly
	Function bool
}

// symbol is a symbol of the file at its place in the process.
func (o *Object) symbol(s *debuginfo.Symbol) Symbol {
	return Symbol{s.Title(), s.Addr + o.bias, s.Size, isFunction(s)}
}

// SymbolAt returns the symbol that an address lies in, and how far in. Of several it is the one that a reader most likely
// knows: a function before an object, a global name before a local one.
func (p *Program) SymbolAt(addr arch.Addr) (s Symbol, offset uint64, ok bool) {
	if o, found, offset := p.covering(addr); found != nil {
		return o.symbol(found), offset, true
	}
	return Symbol{}, 0, false
}

// covering returns the symbol that an address lies in, and of which object; nil if there is none.
func (p *Program) covering(addr arch.Addr) (o *Object, s *debuginfo.Symbol, offset uint64) {
	p.mu.RLock()
	objects := p.objects // what is in it stays
	p.mu.RUnlock()
	for _, o := range objects {
		s, offset, ok := o.symbols().covering(addr - o.bias)
		// A symbol without a size is trusted in code only; in data the next object may be anything.
		if ok && (s.Size > 0 || o.isCode(addr-o.bias)) {
			return o, s, offset
		}
	}
	return nil, nil, 0
}

// Symbol returns the symbol of a name: that of the executable, or else of the first library that has it. It is false if there is
// none, or more than one, as of a static function that several sources have.
func (p *Program) Symbol(name string) (found Symbol, ok bool) {
	for _, o := range p.Objects() {
		all := o.symbols().all
		for i := range all {
			s := &all[i]
			switch {
			// A title is the beginning of the name, which is quicker to see of a hundred thousand symbols.
			case !strings.HasPrefix(s.Name, name) || s.Name != name && s.Title() != name || known(s) == 0:
			// Versions of one function have different addresses, too: memcpy@GLIBC_2.2.5 is found by that title only.
			case ok && s.Addr+o.bias != found.Addr:
				return Symbol{}, false
			default:
				found, ok = o.symbol(s), true
			}
		}
		if ok {
			break
		}
	}
	return found, ok
}

// Statements returns where the code of a line begins, without order: there is more than one place if the code is inlined or was
// taken apart. For a line without code it is the next that has some. The file may be given by the end of its path. If no file
// has the name it is empty.
func (p *Program) Statements(file string, line int) []arch.Addr {
	found, next := p.beginnings(file, line)
	if len(found) == 0 && next > 0 {
		found, _ = p.beginnings(file, next)
	}
	return found
}

// beginnings returns where a line begins, of several statements in a row the first, and the next line that has code.
func (p *Program) beginnings(file string, line int) (found []arch.Addr, next int) {
	places, next := p.statements(file, line)
	for _, at := range places {
		// Code of the same line in front of it means that the statement goes on here and does not begin.
		if before := at.unit.spanAt(at.addr - 1); before.table == nil || before.line != line || before.end < at.addr {
			found = append(found, at.addr+at.object.bias)
		}
	}
	return found, next
}

// Globals returns what the executable's debug information has outside of functions, and of types what the libraries have, too;
// nil if none of them has debug information.
func (p *Program) Globals() *scope.Image {
	if slices.ContainsFunc(p.Objects(), func(o *Object) bool { return o.file.HasDWARF() }) {
		return p.image(p.Main())
	}
	return nil
}
