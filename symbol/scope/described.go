package scope

import (
	"debug/dwarf"
	"strings"

	"tracewell/arch"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
)

// goRuntimeType is the attribute of a type of Go that says where the runtime describes it: an address, or since Go 1.26 how far
// behind the first of these descriptions.
const goRuntimeType dwarf.Attr = 0x2904

// descriptions are the types that a program knows by addresses when it runs.
type descriptions struct {
	at     map[arch.Addr]debuginfo.Offset
	tables []table // of methods, in Rust
}

// table is the table by which a dyn of Rust finds the methods of a trait for a type.
type table struct {
	trait string // its path, without arguments
	at    arch.Addr
	off   debuginfo.Offset // of the type
}

// Described finds the type that Go's runtime describes at an address of the process, by which it knows what an interface contains,
// or that a table of methods of Rust there is for. It is nil if there is none, as for types that a program makes by reflection.
func (m *Image) Described(at arch.Addr) *ctype.Type {
	if off, ok := m.described().at[at]; ok {
		return m.types.at(off)
	}
	return nil
}

// Concrete lists the types that a dyn of Rust may stand for, by the path of its trait.
func (m *Image) Concrete(trait string) (all []container.Concrete) {
	for _, t := range m.described().tables {
		if t.trait == trait {
			all = append(all, container.Concrete{Table: t.at, Type: m.types.at(t.off)})
		}
	}
	return all
}

// Concrete implements expr.Scope.
func (s *Scope) Concrete(trait string) []container.Concrete { return s.image.Concrete(trait) }

// findDescribed finds all types that are described. Those of pointers have no names in an index, so all units are read.
func (m *Image) findDescribed() descriptions {
	all := descriptions{at: map[arch.Addr]debuginfo.Offset{}}
	first := m.symbols()["runtime.types"].Addr
	for _, u := range m.file.Units() {
		// A program of Go or Rust may contain units of C, in which the attributes would mean something else.
		language := languageOf(u)
		root, err := m.file.Entry(u.Root())
		if err != nil || language != ctype.Go && language != ctype.Rust {
			continue
		}
		for e := range m.file.Children(root) {
			if t, ok := m.methods(e); ok && language == ctype.Rust {
				all.tables, all.at[t.at] = append(all.tables, t), t.off
			}
			at, ok := e.Addr(goRuntimeType)
			if !ok || at == 0 || language != ctype.Go {
				continue
			}
			// No description lies below the first, so what is less is how far behind it one lies.
			if at < first {
				at += first
			}
			all.at[at+m.bias] = e.Offset
		}
	}
	return all
}

// methods reads a table of methods of Rust: a variable called "<Type as Trait>::{vtable}", whose type has the type with the methods
// as its DW_AT_containing_type.
func (m *Image) methods(e *debuginfo.Entry) (t table, ok bool) {
	if e.Tag != dwarf.TagVariable {
		return t, false
	}
	name, ok := strings.CutSuffix(e.Name(), ">::{vtable}")
	if !ok {
		return t, false
	}
	t.trait = container.TraitOf(name[strings.LastIndex(name, " as ")+len(" as "):])
	off, _ := e.Ref(dwarf.AttrType)
	if of, err := m.file.Entry(off); err == nil {
		t.off, ok = of.Ref(dwarf.AttrContainingType)
	}
	at, known := m.types.staticAddress(e)
	t.at = at
	return t, ok && known
}
