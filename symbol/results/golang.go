package results

import (
	"errors"

	"tracewell/arch"
	"tracewell/symbol/ctype"
)

// goPlace finds the place of the results of a function of Go by ABIInternal: each result is taken apart into its words, which get
// registers in their order. A result for which they do not suffice is on the stack, whole.
func goPlace(r *arch.Results, t *ctype.Type) (Place, error) {
	a := allocator{general: r.GoGeneral, vector: r.GoVector}
	if t.Kind != ctype.Record || t.Name != "" {
		err := a.words(t, 0, deepest)
		return Place{Parts: a.parts}, err
	}
	for _, result := range t.Fields() {
		if err := a.words(result.Type, result.Offset, deepest); err != nil {
			return Place{}, err
		}
	}
	return Place{Parts: a.parts}, nil
}

// errStack is why a result that is not in registers has no place. Its address depends on what is spilled beside it.
var errStack = errors.New("a result is returned on the stack")

// words gives each word of a value a register.
func (a *allocator) words(t *ctype.Type, at, depth int) error {
	given := true
	switch {
	case depth == 0:
		return errDeep
	case t.Size == 0:
	case t.Kind == ctype.Record:
		for _, f := range t.Fields() {
			if err := a.words(f.Type, at+f.Offset, depth-1); err != nil {
				return err
			}
		}
	// An array whose elements are chosen by an index cannot be in registers; one of a single element can.
	case t.Kind == ctype.Array && t.Count == 1:
		return a.words(t.Elem, at, depth-1)
	case t.Kind == ctype.Array:
		given = false
	case t.Kind == ctype.Complex:
		half := t.Size / 2
		given = a.give(true, at, half) && a.give(true, at+half, half)
	case t.Kind == ctype.Float:
		given = a.give(true, at, t.Size)
	default:
		given = t.Size <= eightbyte && a.give(false, at, t.Size)
	}
	if !given {
		return errStack
	}
	return nil
}
