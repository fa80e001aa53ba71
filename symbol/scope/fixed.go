package scope

import (
	"debug/dwarf"
	"slices"

	"tracewell/arch"
	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
)

// Fixed finds a variable of a file or a namespace that has an address of its own, by its whole name; false if there is none, or
// more than one: the static variables of one name in several files. It is for readers of a trace file, which know addresses and no
// pc. A nil Image has none of anything.
func (m *Image) Fixed(name string) (arch.Addr, *ctype.Type, bool) {
	if m == nil {
		return 0, nil, false
	}
	var addr arch.Addr
	var found *debuginfo.Entry
	for _, off := range m.file.Variables("::" + name) {
		e, err := m.file.Entry(off)
		if err != nil {
			continue
		}
		at, ok := m.types.staticAddress(e)
		// One variable may have several DIEs, as a declaration completed elsewhere: what counts is whether the addresses are equal.
		switch {
		case !ok:
		case found != nil && at != addr:
			return 0, nil, false
		default:
			addr, found = at, e
		}
	}
	if found == nil {
		return 0, nil, false
	}
	typ := m.types.of(found)
	return addr, typ, typ.Size > 0
}

// FixedNames lists the names of the variables that Fixed finds, but for those that several have.
func (m *Image) FixedNames() []string {
	if m == nil {
		return nil
	}
	var names []string
	m.file.EachName(debuginfo.KindVariable, func(name string, off debuginfo.Offset) bool {
		if e, err := m.file.Entry(off); err == nil {
			if _, ok := m.types.staticAddress(e); ok {
				names = append(names, name)
			}
		}
		return len(names) < mostNames
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// Type finds a type by its name: "struct job", "enum kind", "queue_t".
func (m *Image) Type(name string) (*ctype.Type, bool) {
	if m == nil {
		return nil, false
	}
	t, err := m.At(0).Type(name)
	return t, err == nil
}

// Constant finds an enumerator: its value, extended to 64 bits by the sign of its enumeration, and the enumeration. The first one
// of the name counts, as enumerators of one name in several files mostly come from one header.
func (m *Image) Constant(name string) (int64, *ctype.Type, bool) {
	if m == nil {
		return 0, nil, false
	}
	for _, off := range m.file.Constants(name) {
		e, err := m.file.Entry(off)
		if err != nil {
			continue
		}
		if parent := m.file.Parent(e); parent != nil {
			t := m.types.at(parent.Offset)
			v, _ := e.Value(dwarf.AttrConstValue)
			n, ok := v.As(t.Size, t.Signed)
			return n, t, ok
		}
	}
	return 0, nil, false
}

// Local is a variable of a function, as it lies in what was compiled without optimisation.
type Local struct {
	Name   string
	Type   *ctype.Type
	Kind   LocalKind
	Offset int64     // InFrame: from the frame base, which is the CFA in what GCC and Clang make
	Addr   arch.Addr // Static
}

// LocalKind says how a variable of a function lies.
type LocalKind uint8

// The kinds.
const (
	Elsewhere LocalKind = iota // in a register, now here and now there, or nowhere
	InFrame
	Static
)

// Frame lists the arguments and variables of the innermost function that are in scope, but for those of which a block within has
// another of the name.
func (s *Scope) Frame() []Local {
	var found []Local
	for _, block := range s.blocks {
		for _, e := range s.variables(block) {
			name := s.image.file.Name(e)
			known := slices.ContainsFunc(found, func(l Local) bool { return l.Name == name })
			if name == "" || known || e.Bool(dwarf.AttrDeclaration) {
				continue
			}
			found = append(found, s.localOf(e, name))
		}
	}
	return found
}

// localOf reads how a variable lies: DW_OP_fbreg and nothing else is what compilers write at -O0.
func (s *Scope) localOf(e *debuginfo.Entry, name string) Local {
	l := Local{Name: name, Type: s.image.types.of(e)}
	if addr, ok := s.image.types.staticAddress(e); ok {
		l.Kind, l.Addr = Static, addr
		return l
	}
	code, _ := e.Expr(dwarf.AttrLocation)
	c := cursor{code: code, order: s.image.file.Order()}
	if c.byte() == opFbreg {
		if offset := c.signed(); !c.more() && !c.short {
			l.Kind, l.Offset = InFrame, offset
		}
	}
	return l
}
