package scope

import (
	"debug/dwarf"
	"fmt"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
	"tracewell/symbol/expr"
)

// at is the place of what has a fixed address.
func at(addr arch.Addr) expr.Memory {
	return expr.Memory{Emit: func(b *ax.Builder) error {
		b.Const(int64(addr))
		return nil
	}}
}

// object makes an object of the description of a variable. One that is only declared is defined elsewhere.
func (s *Scope) object(e *debuginfo.Entry, name string) (expr.Object, error) {
	if e.Bool(dwarf.AttrDeclaration) && !e.Has(dwarf.AttrLocation) && !e.Has(dwarf.AttrConstValue) {
		return s.defined(e, name)
	}
	o := expr.Object{Name: name, Type: s.image.types.of(e)}
	o.Place = s.locate(e, o.Type)
	return o, nil
}

// defined finds the definition of what is only declared: in the file, in the other files of the program, and by the symbol of a
// file that has no debug information.
func (s *Scope) defined(e *debuginfo.Entry, name string) (expr.Object, error) {
	whole := s.image.file.QualifiedName(e)
	for _, off := range s.image.file.Variables("::" + whole) {
		full, err := s.image.file.Entry(off)
		if err == nil && !full.Bool(dwarf.AttrDeclaration) {
			return s.object(full, name)
		}
	}
	for _, other := range s.image.others() {
		if o, ok := other.At(0).exactly(whole); ok {
			return o, nil
		}
	}
	if addr, ok := s.image.linked(s.image.linkName(e)); ok {
		return expr.Object{Name: name, Type: s.image.types.of(e), Place: at(addr)}, nil
	}
	return expr.Object{Name: name, Type: s.image.types.of(e),
		Place: expr.Absent{Reason: fmt.Sprintf("%s is defined in a file that is not loaded", whole)}}, nil
}

// linkName is what the linker calls a function or a variable.
func (m *Image) linkName(e *debuginfo.Entry) string {
	if v, ok := m.file.Lookup(e, dwarf.AttrLinkageName); ok {
		return v.String()
	}
	return m.file.Name(e)
}

// place compiles where a variable lies: by its own description, or that of what it is a copy of.
func (s *Scope) locate(e *debuginfo.Entry, t *ctype.Type) expr.Place {
	// A concrete instance refers to the abstract one, which has the value where it is the same in all instances.
	for range deepest {
		if e.Has(dwarf.AttrLocation) {
			if addr, ok := s.copied(e); ok {
				return at(addr)
			}
			return s.frame.in(s.image, e.Unit).locate(s.image.file.LocationAt(e, dwarf.AttrLocation, s.pc), t.Size)
		}
		if v, ok := e.Value(dwarf.AttrConstValue); ok {
			return s.constant(v, t)
		}
		origin := s.image.file.Origin(e)
		if origin == nil {
			break
		}
		e = origin
	}
	return absent(errOptimizedOut)
}

// copied finds the copy of a library's variable that the executable has (R_X86_64_COPY): the linker makes one where code that is
// not position-independent takes the variable for one of its own. The dynamic linker binds the library to the copy as well, so
// that what lies at the variable's own address is never read. GDB looks for the copy by the minimal symbol.
func (s *Scope) copied(e *debuginfo.Entry) (arch.Addr, bool) {
	if !s.image.options.Library {
		return 0, false
	}
	if _, fixed := s.image.types.staticAddress(e); !fixed {
		return 0, false
	}
	if _, external := s.image.file.Lookup(e, dwarf.AttrExternal); !external {
		return 0, false
	}
	return s.image.linked(s.image.linkName(e))
}

// in is the frame for expressions of another unit: link-time optimization describes a variable in one unit and its function in
// another, and indexes of addresses and offsets of base types are relative to the unit in which they stand.
func (f *frame) in(m *Image, unit *debuginfo.Unit) *frame {
	other := *f
	other.address = unit.Address
	other.cell = func(offset uint64) (cell, error) { return m.cell(unit.At(offset)) }
	return &other
}

// constant is the place of a value that is the same always.
func (s *Scope) constant(v debuginfo.Value, t *ctype.Type) expr.Place {
	b := s.image.types.constantBytes(v, t)
	if b == nil {
		return absent(fmt.Errorf("its value is a number, and its type has %d bytes", t.Size))
	}
	return expr.Constant{Bytes: b}
}

// code makes an object of a function that has code.
func (s *Scope) code(e *debuginfo.Entry, name string) (expr.Object, bool) {
	for _, instance := range s.image.file.Instances(e.Offset) {
		if !instance.Inlined {
			return expr.Object{Name: name, Type: s.image.types.at(s.declaredCode(instance.Entry).Offset),
				Place: at(instance.EntryPC + s.image.bias)}, true
		}
	}
	return expr.Object{}, false
}

// declaredCode is the DIE that has a function's parameters and result: of a concrete instance, the abstract one.
func (s *Scope) declaredCode(e *debuginfo.Entry) *debuginfo.Entry {
	if origin := s.image.file.Origin(e); origin != nil {
		return s.declared(e)
	}
	return e
}

// enumerator makes an object of a value of an enumeration.
func (s *Scope) enumerator(e *debuginfo.Entry, name string) (expr.Object, bool) {
	parent := s.image.file.Parent(e)
	if parent == nil {
		return expr.Object{}, false
	}
	t := s.image.types.at(parent.Offset)
	v, ok := e.Value(dwarf.AttrConstValue)
	return expr.Object{Name: name, Type: t, Place: s.constant(v, t)}, ok
}

// What GDB calls the types of what only the linker knows. "print" shows such a variable after a cast only, and so does a collection
// (expr's cast).
var (
	unknownFunction = &ctype.Type{Kind: ctype.Function, Name: "<text variable, no debug info>", Size: 1, Elem: ctype.Int(4, true)}
	unknownVariable = &ctype.Type{Name: "<data variable, no debug info>"}
)

// symbol finds what only the linker knows.
func (m *Image) symbol(name string) (expr.Object, bool) {
	symbol, ok := m.symbols()[name]
	if !ok {
		return expr.Object{}, false
	}
	switch symbol.Kind {
	case debuginfo.SymbolFunction:
		return expr.Object{Name: name, Type: unknownFunction, Place: at(symbol.Addr + m.bias)}, true
	case debuginfo.SymbolObject:
		return expr.Object{Name: name, Type: unknownVariable, Place: at(symbol.Addr + m.bias)}, true
	}
	return expr.Object{}, false
}
