package results

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/symbol/ctype"
)

// errUnheld is why a value that is returned in memory has no place: no register has its address when the function returns.
// GDB does not show such a value either.
var errUnheld = errors.New("the value is returned in memory, and by the procedure call standard of this machine no register " +
	"holds its address at the return")

// aapcsPlace finds the place of a result of C or C++ by the Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64,
// 6.8 and 6.9): up to four numbers in floating point of one type, or vectors of one size, have a register each, whatever
// structure they are in; what else has up to 16 bytes is in general registers as it lies in memory; and the rest is in memory.
func aapcsPlace(r *arch.Results, t *ctype.Type) (Place, error) {
	a := allocator{general: r.General, vector: r.Vector}
	h := homogeneous{most: r.Homogeneous}
	uniform, err := h.add(t, 0, deepest)
	if err != nil {
		return Place{}, err
	}
	if uniform && len(h.from) > 0 {
		for _, from := range h.from {
			a.give(true, from, h.size)
		}
		return Place{Parts: a.parts}, nil
	}
	if t.Size > 2*eightbyte {
		return Place{}, errUnheld
	}
	for from := 0; from < t.Size; from += eightbyte {
		a.give(false, from, min(t.Size-from, eightbyte))
	}
	return Place{Parts: a.parts}, nil
}

// homogeneous collects the members of a value that are numbers in floating point or vectors.
type homogeneous struct {
	most int
	size int   // of each
	kind *kind // of the first
	from []int // where each begins
}

// kind tells apart what may not be mixed.
type kind struct{ vector bool }

// add adds a part of a value, and reports whether all are still of one kind.
func (h *homogeneous) add(t *ctype.Type, at, depth int) (bool, error) {
	switch {
	case depth == 0:
		return false, errDeep
	case t.Kind == ctype.Record:
		return h.addRecord(t, at, depth)
	case t.Kind == ctype.Array && t.Vector:
		return (t.Size == 8 || t.Size == 16) && h.one(kind{true}, t.Size, at), nil
	case t.Kind == ctype.Array && t.Open:
		return false, errors.New("compilers differ in where they return a structure with a flexible array member")
	case t.Kind == ctype.Array, t.Kind == ctype.Complex:
		count := t.Count
		if t.Kind == ctype.Complex {
			count = 2
		}
		uniform := true
		for i := range min(count, h.most+1) {
			is, err := h.add(t.Elem, at+i*t.Elem.Size, depth-1)
			if err != nil {
				return false, err
			}
			uniform = uniform && is
		}
		return uniform, nil
	case t.Kind == ctype.Float:
		return h.one(kind{false}, t.Size, at), nil
	case t.Kind == ctype.Integer, t.Kind == ctype.Bool, t.Kind == ctype.Pointer, t.Kind == ctype.MemberPointer:
		return false, nil
	}
	return false, fmt.Errorf("there is no rule for a result with a part of type %s", t)
}

// one adds a number or vector. Those of a union lie over one another.
func (h *homogeneous) one(k kind, size, at int) bool {
	if h.kind == nil {
		h.kind, h.size = &k, size
	}
	if *h.kind != k || h.size != size {
		return false
	}
	for _, from := range h.from {
		if from == at {
			return true
		}
	}
	h.from = append(h.from, at)
	return len(h.from) <= h.most
}

// addRecord adds the members of a structure, class or union. An object that cannot be copied byte by byte is returned in memory.
func (h *homogeneous) addRecord(t *ctype.Type, at, depth int) (bool, error) {
	if t.Variants() != nil {
		return false, fmt.Errorf("there is no rule for the alternatives of %s", t)
	}
	if t.ByReference != nil {
		if inMemory, err := t.ByReference(); err != nil {
			return false, err
		} else if inMemory {
			return false, errUnheld
		}
	}
	uniform := true
	for _, f := range t.Fields() {
		switch {
		case f.Static:
			continue
		case f.Virtual:
			return false, errUnheld
		case f.Bits > 0:
			uniform = false
			continue
		}
		is, err := h.add(f.Type, at+f.Offset, depth-1)
		if err != nil {
			return false, err
		}
		uniform = uniform && is
	}
	return uniform, nil
}
