package symbol

import (
	"tracewell/arch"
	"tracewell/symbol/scope"
)

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
	return p.image(at).At(pc)
}

// has reports whether the object has code at an address of the process.
func (o *Object) has(pc arch.Addr) bool {
	if o.file.UnitAt(pc-o.bias) != nil {
		return true
	}
	_, _, ok := o.symbols().covering(pc - o.bias)
	return ok || o.probeAt(pc-o.bias) != nil
}

// image is an object as scopes read it, which look into the others for names that it lacks.
// Images are made once and kept: they cache types, which are expensive to read and compared by identity.
func (p *Program) image(o *Object) *scope.Image {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.scopes[o]; known != nil {
		return known
	}
	options := scope.Options{Layout: p.options.Layout, Library: o != p.objects[0], Others: p.allImages, Probe: o.probeAt}
	if p.options.TLSOffset != nil {
		options.TLSOffset = func() (int64, bool) { return p.options.TLSOffset(o) }
	}
	made := scope.New(o.file, o.bias, options)
	if p.scopes == nil {
		p.scopes = map[*Object]*scope.Image{}
	}
	p.scopes[o] = made
	return made
}

// allImages are those of all objects, in the order in which the dynamic linker looks for names.
func (p *Program) allImages() []*scope.Image {
	var all []*scope.Image
	for _, o := range p.Objects() {
		all = append(all, p.image(o))
	}
	return all
}
