// Package machine writes down the target descriptions of real machines, from tables.
//
// A description made here means what gdbserver 13 serves for the same machine: the same features, registers, numbers and
// types, so that GDB finds every register that it knows how to use, and a trace file written by one can be read with the
// description of the other. What the registers are called and which of them GDB needs is in the GDB manual, Standard Target
// Features; sizes and fields are those of each architecture's own manual. Nothing here looks at the machine that it runs on;
// the caller says what there is.
package machine

import (
	"strconv"

	"tracewell/arch"
	"tracewell/tdesc"
)

// linux is the OS ABI of what gdbserver serves; bare machines have none.
const linux = "GNU/Linux"

// feature is a feature before its registers have numbers.
type feature struct {
	name      string
	types     []tdesc.Type
	registers []run
}

// run is registers of one kind, one after the other in number.
type run struct {
	names []string
	bits  int
	typ   string
	group string
	at    arch.Reg // number of the first; 0 for the one that follows the register before
	lost  bool     // GDB does not restore them after a call in the inferior
}

// part is a feature that a machine has or lacks.
type part struct {
	present bool
	feature feature
}

// describe numbers the registers of the features that are present, in order. Each call makes new features and registers; the
// fields of the types are shared, and nobody's to change.
func describe(architecture, osabi string, parts []part) *tdesc.Target {
	target := &tdesc.Target{Architecture: architecture, OSABI: osabi}
	next := arch.Reg(0)
	for _, p := range parts {
		if p.present {
			var f *tdesc.Feature
			f, next = p.feature.number(next)
			target.Features = append(target.Features, f)
		}
	}
	return target
}

// number makes the feature with registers from number next on, and gives the number after its last.
func (f feature) number(next arch.Reg) (*tdesc.Feature, arch.Reg) {
	out := &tdesc.Feature{Name: f.name}
	out.Types = append(out.Types, f.types...)
	for _, r := range f.registers {
		if r.at != 0 {
			next = r.at
		}
		for _, name := range r.names {
			out.Registers = append(out.Registers, &tdesc.Register{
				Name: name, Bits: r.bits, Num: next, Type: r.typ, Group: r.group, SaveRestore: !r.lost,
			})
			next++
		}
	}
	return out, next
}

// numbered gives the names of registers that differ by a number: prefix, first to last, suffix.
func numbered(prefix string, first, last int, suffix string) []string {
	var names []string
	for i := first; i <= last; i++ {
		names = append(names, prefix+strconv.Itoa(i)+suffix)
	}
	return names
}

// list is a few names.
func list(names ...string) []string { return names }

// flag is a bit with a name.
func flag(name string, bit int) tdesc.BitField { return bits(name, bit, bit, "bool") }

// bits is a field of several bits.
func bits(name string, start, end int, typ string) tdesc.BitField {
	return tdesc.BitField{Name: name, Start: start, End: end, Type: typ}
}

// view is a field of a union that is a vector.
type view struct {
	field string
	id    string // of the vector
	elem  string
	count int
}

// views makes vectors and the union of them, to which further fields can be added.
func views(union string, vectors []view, more ...tdesc.Field) []tdesc.Type {
	u := tdesc.Union{ID: union}
	var types []tdesc.Type
	for _, v := range vectors {
		types = append(types, tdesc.Vector{ID: v.id, Elem: v.elem, Count: v.count})
		u.Fields = append(u.Fields, tdesc.Field{Name: v.field, Type: v.id})
	}
	u.Fields = append(u.Fields, more...)
	return append(types, u)
}
