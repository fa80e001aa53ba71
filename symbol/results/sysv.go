package results

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/symbol/ctype"
)

// class is what the System V ABI for x86-64 calls the class of an eightbyte (3.2.3), as far as results need it.
type class uint8

const (
	classNone class = iota
	classInteger
	classSSE
	classSSEUp
	classX87
	classX87Up
	classMemory
)

// merge is the rule for what shares an eightbyte.
func (c class) merge(other class) class {
	isX87 := func(c class) bool { return c == classX87 || c == classX87Up }
	switch {
	case c == other || other == classNone:
		return c
	case c == classNone:
		return other
	case c == classMemory || other == classMemory:
		return classMemory
	case c == classInteger || other == classInteger:
		return classInteger
	case isX87(c) || isX87(other):
		return classMemory
	}
	return classSSE
}

// eightbyte is the unit of the classification, in bytes.
const eightbyte = 8

// mostEightbytes is how large a value in registers can be. Vectors of 32 and 64 bytes are refused before.
const mostEightbytes = 2

// classes are those of the eightbytes of a value.
type classes [mostEightbytes]class

// sysvPlace finds the place of a result of C or C++.
func sysvPlace(r *arch.Results, t *ctype.Type) (Place, error) {
	if t.Kind == ctype.Complex && t.Size == 4*eightbyte && t.Elem.Name != quad {
		half := t.Size / 2
		return Place{Parts: []Part{{r.Float[0], 0, extendedBytes}, {r.Float[1], half, extendedBytes}}}, nil
	}
	if t.Kind == ctype.Array && t.Vector && t.Size > 2*eightbyte {
		return Place{}, fmt.Errorf("where a vector of %d bytes is returned depends on the processor that the code was made for", t.Size)
	}
	if t.Size > mostEightbytes*eightbyte {
		if t.Kind == ctype.Record && t.Size <= 8*eightbyte && holdsVector(t, deepest) {
			return Place{}, errors.New("where a structure with a vector of its size is returned is not certain")
		}
		return Place{Memory: r.Memory}, nil
	}
	var found classes
	if err := found.add(t, 0, deepest); err != nil {
		return Place{}, err
	}
	if found.inMemory() {
		return Place{Memory: r.Memory}, nil
	}
	a := allocator{general: r.General, vector: r.Vector}
	for i := 0; i < len(found); i++ {
		from := i * eightbyte
		size := min(t.Size-from, eightbyte)
		switch found[i] {
		case classInteger:
			a.give(false, from, size)
		case classSSE:
			if i+1 < len(found) && found[i+1] == classSSEUp {
				size = t.Size - from
			}
			a.give(true, from, size)
		case classX87:
			a.parts = append(a.parts, Part{r.Float[0], from, extendedBytes})
		}
	}
	return Place{Parts: a.parts}, nil
}

// inMemory is the rule for what has been merged.
func (c *classes) inMemory() bool {
	for i, class := range c {
		alone := class == classX87Up && (i == 0 || c[i-1] != classX87)
		if class == classMemory || alone {
			return true
		}
	}
	return false
}

// extendedBytes is how many bytes a number of x87 has. In memory others follow that mean nothing.
const extendedBytes = 10

// isExtended reports whether a floating-point type of 16 bytes is that of x87; the other of this size is IEEE's binary128.
func isExtended(t *ctype.Type) bool { return t.Size == 16 && t.Strip().Name == "long double" }

// quad is what ctype calls the parts of complex numbers that are binary128; debug information has no names for others.
const quad = "_Float128"

// add adds a value that begins at an offset.
func (c *classes) add(t *ctype.Type, at, depth int) error {
	switch {
	case depth == 0:
		return errDeep
	case t.Kind == ctype.Record:
		return c.addRecord(t, at, depth)
	case t.Kind == ctype.Array && t.Vector:
		return c.addScalar(t.Size, at, classSSE)
	case t.Kind == ctype.Array && t.Open:
		return errors.New("compilers differ in where they return a structure with a flexible array member")
	case t.Kind == ctype.Array:
		for i := range min(t.Count, mostEightbytes*eightbyte) {
			if err := c.add(t.Elem, at+i*t.Elem.Size, depth-1); err != nil {
				return err
			}
		}
		return nil
	case t.Kind == ctype.Complex:
		for i := range 2 {
			if err := c.add(t.Elem, at+i*t.Elem.Size, depth-1); err != nil {
				return err
			}
		}
		return nil
	case t.Kind == ctype.Float && isExtended(t):
		return c.addExtended(at)
	case t.Kind == ctype.Float:
		return c.addScalar(t.Size, at, classSSE)
	case t.Kind == ctype.Integer, t.Kind == ctype.Bool, t.Kind == ctype.Pointer, t.Kind == ctype.MemberPointer:
		return c.addScalar(t.Size, at, classInteger)
	}
	return fmt.Errorf("there is no rule for a result with a part of type %s", t)
}

// addScalar adds a number. One that lies across its alignment, in a packed structure, puts the whole into memory.
func (c *classes) addScalar(size, at int, scalar class) error {
	align := size
	if scalar == classInteger && size == 2*eightbyte { // __int128 is aligned to 16 bytes, a pointer to a method to 8
		align = eightbyte
	}
	if size <= 0 || at < 0 || at+size > len(c)*eightbyte || size&(size-1) != 0 {
		return fmt.Errorf("there is no rule for a part of %d bytes at offset %d of a result", size, at)
	}
	if at%align != 0 {
		scalar = classMemory
	}
	for i := at / eightbyte; i*eightbyte < at+size; i++ {
		c[i] = c[i].merge(scalar)
		if scalar == classSSE && size > eightbyte {
			scalar = classSSEUp
		}
	}
	return nil
}

func (c *classes) addExtended(at int) error {
	if at != 0 {
		return fmt.Errorf("there is no rule for a long double at offset %d of a result", at)
	}
	c[0], c[1] = c[0].merge(classX87), c[1].merge(classX87Up)
	return nil
}

// addRecord adds the members of a structure, class or union. An object that cannot be copied byte by byte is returned in memory,
// the address of which the caller has given; a function hands that address back.
func (c *classes) addRecord(t *ctype.Type, at, depth int) error {
	if t.Variants() != nil {
		return fmt.Errorf("there is no rule for the alternatives of %s", t)
	}
	if t.ByReference != nil {
		inMemory, err := t.ByReference()
		if err != nil {
			return err
		}
		if inMemory {
			c[0] = classMemory
			return nil
		}
	}
	for _, f := range t.Fields() {
		switch {
		case f.Static:
			continue
		case f.Virtual:
			c[0] = classMemory
			return nil
		}
		from := at + f.Offset
		if f.Bits > 0 {
			first, last := from*8+f.Shift, from*8+f.Shift+f.Bits-1
			for i := first / (8 * eightbyte); i <= last/(8*eightbyte) && i < len(c); i++ {
				c[i] = c[i].merge(classInteger)
			}
			continue
		}
		if err := c.add(f.Type, from, depth-1); err != nil {
			return err
		}
	}
	return nil
}

// holdsVector reports whether a member of a structure, or one of a member, is a vector that registers of AVX would hold.
func holdsVector(t *ctype.Type, depth int) bool {
	if t.Kind == ctype.Array {
		return t.Vector && t.Size > 2*eightbyte || depth > 0 && holdsVector(t.Elem, depth-1)
	}
	if t.Kind != ctype.Record || depth == 0 {
		return false
	}
	for _, f := range t.Fields() {
		if !f.Static && holdsVector(f.Type, depth-1) {
			return true
		}
	}
	return false
}
