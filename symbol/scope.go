package symbol

import (
	"tracewell/arch"
	"tracewell/symbol/expr"
	"tracewell/symbol/scope"
)

// images are an object as scopes read it: with what other objects show for names that this one lacks, and alone.
type images struct{ whole, alone *scope.Image }

// Scope returns what names mean at an address of the process. Outside of all objects only what the executable shows everywhere
// has a meaning.
func (p *Program) Scope(pc arch.Addr) *scope.Scope {
	at := p.Main()
	for _, o := range p.Objects() {
		if o.has(pc) {
			at = o
			break
		}
	}
	return p.images(at).whole.At(pc)
}

// has reports whether the object has code at an address of the process.
func (o *Object) has(pc arch.Addr) bool {
	if o.file.UnitAt(pc-o.bias) != nil {
		return true
	}
	_, _, ok := o.symbols().covering(pc - o.bias)
	return ok
}

func (p *Program) images(o *Object) *images {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.scopes[o]; known != nil {
		return known
	}
	alone := scope.Options{Library: o != p.objects[0]}
	if p.options.TLSOffset != nil {
		alone.TLSOffset = func() (int64, bool) { return p.options.TLSOffset(o) }
	}
	whole := alone
	whole.Global = func(name string) (expr.Object, error) { return p.global(o, name) }
	made := &images{scope.New(o.file, o.bias, whole), scope.New(o.file, o.bias, alone)}
	if p.scopes == nil {
		p.scopes = map[*Object]*images{}
	}
	p.scopes[o] = made
	return made
}

// global finds a name in the objects other than one, in the order in which the dynamic linker does.
func (p *Program) global(other *Object, name string) (found expr.Object, err error) {
	for _, o := range p.Objects() {
		if o == other {
			continue
		}
		if found, err = p.images(o).alone.At(0).Lookup(name); err == nil {
			return found, nil
		}
	}
	if err == nil {
		err = &NotFoundError{Spec: name, Kind: VariableName, Name: name}
	}
	return expr.Object{}, err
}
