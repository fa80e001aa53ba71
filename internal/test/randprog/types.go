package randprog

import (
	"math/big"
	"slices"
)

// typ is a type of a program.
type typ struct {
	kind    kind
	name    string
	bits    int  // of a scalar
	signed  bool // integer, enumeration
	scoped  bool // enumeration: its values have its name in front
	values  []enumerator
	elem    *typ // array
	count   int  // array
	fields  []field
	packed  bool
	aligned bool // Rust: it, or what is in it
	// constructed: a record of C++ with a virtual base class, or with a member or base class that has one; its constructor does
	// something.
	constructed bool
	size        int // of about so many bytes, which only serves to choose offsets
}

type kind uint8

const (
	integer kind = iota
	boolean
	enumeration
	float
	pointer
	array
	record
	union
	variants // of Rust: each with a value, or without
)

type enumerator struct {
	name  string
	value *big.Int
}

// field is a member of a record or a union.
type field struct {
	name string // "" of one whose members count as the outer one's, and of bits that nobody can name
	typ  *typ
	bits int    // of a bit-field, -1 otherwise
	base string // of a base class: how it is declared
}

// boundaries are the offsets at which a number needs another byte, or loses its sign.
var boundaries = []int{127, 128, 136, 255, 256, 264, 32767, 32768, 40000, 65535, 65536, 70000}

// padding is how many bytes bring what follows to a boundary, or a little before it; 0 if that is passed.
func (g *generator) padding(at int) int {
	return max(pick(g, boundaries)-at-g.IntN(13), 0)
}

// scalar chooses a type of numbers.
func (g *generator) scalar() *typ {
	switch {
	case g.chance(5) && len(g.enums) > 0:
		return pick(g, g.enums)
	case g.language == Rust:
		return pick(g, rustScalars)
	}
	return pick(g, cScalars)
}

// member chooses the type of a member, at a depth within others.
func (g *generator) member(depth, room int) *typ {
	switch {
	case g.chance(6):
		elem := g.member(depth+1, room)
		counts := []int{1, 2, 3, 5, 128, 200, 256}
		if elem.size == 1 {
			counts = append(counts, 129, 255, 257, 32768, 65536)
		}
		count := pick(g, counts)
		if count*elem.size > room {
			count = 2
		}
		return &typ{kind: array, elem: elem, count: count, size: count * elem.size}
	case g.chance(5) && depth < 3 && len(g.records) > 0:
		if t := pick(g, g.records); t.size <= room {
			return t
		}
	case g.chance(8) && depth < 3 && len(g.unions) > 0:
		return pick(g, g.unions)
	}
	return g.scalar()
}

// innermost is the type of the elements of an array of arrays, and otherwise the type itself.
func (t *typ) innermost() *typ {
	for t.kind == array {
		t = t.elem
	}
	return t
}

// widest is the members of a union that fill it, or all of them if none does. A store to another one leaves bytes that compilers may
// fill with anything, so that two runs of the program differ.
func (t *typ) widest() []field {
	all := slices.DeleteFunc(slices.Clone(t.fields), func(f field) bool {
		return f.bits >= 0 || f.typ.size < t.size || f.typ.kind == float && f.typ.size > 8 // long double: 80 bits of 128
	})
	if len(all) == 0 {
		return t.fields
	}
	return all
}

// leaves calls f with each part of a value that is a scalar; of an array with the first, the last and one between.
func (g *generator) leaves(path string, t *typ, bits int, f func(path string, t *typ, bits int)) {
	switch t.kind {
	case array:
		indexes := []int{0}
		if t.count > 1 {
			indexes = append(indexes, t.count-1)
		}
		if t.count > 2 {
			indexes = append(indexes, 1+g.IntN(t.count-2))
		}
		for _, i := range indexes {
			g.leaves(path+"["+itoa(i)+"]", t.elem, -1, f)
		}
	case record:
		for _, m := range t.fields {
			switch {
			case m.bits >= 0 && m.name == "":
			case m.name == "" || m.base != "":
				g.leaves(path, m.typ, -1, f)
			default:
				g.leaves(path+"."+m.name, m.typ, m.bits, f)
			}
		}
	case union:
		m := pick(g, t.widest())
		g.leaves(path+"."+m.name, m.typ, m.bits, f)
	default:
		if bits < 0 {
			bits = t.bits
		}
		f(path, t, bits)
	}
}
