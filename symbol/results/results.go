// Package results says where a function leaves the value that it returns, when it is about to return: in which registers, or in
// memory. It computes with types; what the registers and the memory hold is for others to read.
//
// C and C++ follow the System V ABI (sysv.go) or that of Arm (aapcs.go), Go its ABIInternal (golang.go). Rust has no convention
// that anybody promises, so a value of Rust has a place only where what rustc does is known (rust.go). Where a convention cannot be
// told from debug information there is an error and no guess: a wrong value is worse than none.
package results

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/symbol/ctype"
)

// Place is where a value is.
type Place struct {
	Memory string // the register that holds its address; "" if it is in registers
	Parts  []Part // by ascending From; none of them overlap
}

// Part is bytes of a value that the lowest bytes of a register hold.
type Part struct {
	Register string
	From     int // the first, counted from the beginning of the value
	Size     int
}

// Of returns where a function of a language has the value of a type. The type of a function of Go with several results is a record
// of these.
func Of(m *arch.Machine, language ctype.Language, t *ctype.Type) (Place, error) {
	switch {
	case m.Results == nil:
		return Place{}, fmt.Errorf("where functions of %s return values is not known here", m.Title)
	case t == ctype.Void || t.Strip() == ctype.Void:
		return Place{}, errors.New("the function returns nothing")
	case t.Kind == ctype.Opaque:
		return Place{}, fmt.Errorf("the type of the result, %s, is not described", t)
	}
	switch language {
	case ctype.Go:
		return goPlace(m.Results, t)
	case ctype.Rust:
		if m.Results.Homogeneous > 0 {
			return Place{}, fmt.Errorf("where functions of Rust return values on %s is not known here", m.Title)
		}
		return rustPlace(m.Results, t)
	}
	if m.Results.Homogeneous > 0 {
		return aapcsPlace(m.Results, t)
	}
	return sysvPlace(m.Results, t)
}

// allocator hands out registers in their order.
type allocator struct {
	general, vector []string
	parts           []Part
}

// give puts bytes of the value into the next register of a kind. It is false if there is none left.
func (a *allocator) give(vector bool, from, size int) bool {
	list := &a.general
	if vector {
		list = &a.vector
	}
	if len(*list) == 0 {
		return false
	}
	a.parts = append(a.parts, Part{(*list)[0], from, size})
	*list = (*list)[1:]
	return true
}

// deepest is how far types may lie within one another; those of damaged debug information know no end.
const deepest = 32

// errDeep is why such a type has no place.
var errDeep = errors.New("the type of the result is nested too deeply")
