package results

import (
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/symbol/ctype"
)

// rustPlace finds the place of a result of Rust. rustc returns a scalar or two of them in a register each, and what else is not
// larger than a register in one, as it lies in memory. Values larger than two registers are returned in memory, and LLVM has every
// function hand the address back in a register, as those of C do. In between versions of rustc differ.
//
// A function that is extern "C" follows the System V ABI instead, and debug information does not tell which one does. Where both
// agree it does not matter. Where they differ the value has a place only if its type is one that extern "C" cannot have.
func rustPlace(r *arch.Results, t *ctype.Type) (Place, error) {
	own, err := rustOwn(r, t)
	if err != nil || rustOnly(t) {
		return own, err
	}
	foreign, err := sysvPlace(r, t)
	if err != nil || own.Memory != foreign.Memory || !slices.Equal(own.Parts, foreign.Parts) {
		return Place{}, fmt.Errorf("where %s is returned depends on whether the function is extern \"C\", which debug information "+
			"does not tell", t)
	}
	return own, nil
}

// rustOnly reports whether a type has no counterpart in C: a tuple, an enumeration with data, or a generic type of the library.
func rustOnly(t *ctype.Type) bool {
	name := t.Strip().Name
	library := strings.HasPrefix(name, "core::") || strings.HasPrefix(name, "alloc::") || strings.HasPrefix(name, "std::")
	return t.Variants() != nil || strings.HasPrefix(name, "(") || strings.HasPrefix(name, "&") || library
}

// scalar is what rustc has for a value that a register holds: where it is in the value, and what kind of register.
type scalar struct {
	from, size int
	float      bool
	pointer    bool
}

// shape is how rustc sees a value.
type shape struct {
	scalars []scalar // one or two; none of what has no size
	image   bool     // it is none of these, but bytes
}

func rustOwn(r *arch.Results, t *ctype.Type) (Place, error) {
	if t.Size == 0 {
		return Place{}, nil
	}
	s, err := rustShape(t, 0, deepest)
	if err != nil {
		return Place{}, err
	}
	if s.image || len(s.scalars) == 0 {
		switch {
		case t.Size > mostEightbytes*eightbyte:
			return Place{Memory: r.Memory}, nil
		case t.Size > eightbyte:
			return Place{}, fmt.Errorf("whether %s is returned in memory or in registers depends on the version of rustc", t)
		}
		s.scalars = []scalar{{size: t.Size}}
	}
	a := allocator{general: r.General, vector: r.Vector}
	for _, part := range s.scalars {
		for at := 0; at < part.size; at += eightbyte {
			if !a.give(part.float, part.from+at, min(part.size-at, eightbyte)) {
				return Place{}, fmt.Errorf("there is no rule for a result of type %s", t)
			}
		}
	}
	slices.SortFunc(a.parts, func(x, y Part) int { return x.From - y.From })
	return Place{Parts: a.parts}, nil
}

// rustShape finds the scalars of a value that begins at an offset.
func rustShape(t *ctype.Type, at, depth int) (shape, error) {
	switch {
	case depth == 0:
		return shape{}, errDeep
	case t.Size == 0:
		return shape{}, nil
	case t.Kind == ctype.Float && t.Size > eightbyte:
		return shape{}, fmt.Errorf("there is no rule for a result with a part of type %s", t)
	case t.Kind == ctype.Integer, t.Kind == ctype.Bool, t.Kind == ctype.Pointer, t.Kind == ctype.Float:
		return shape{scalars: []scalar{{at, t.Size, t.Kind == ctype.Float, t.Kind == ctype.Pointer}}}, nil
	case t.Kind == ctype.Array && !t.Vector:
		return shape{image: true}, nil
	case t.Kind != ctype.Record || t.Union:
		return shape{}, fmt.Errorf("there is no rule for a result with a part of type %s", t)
	case t.Variants() != nil:
		return rustEnum(t, at, depth)
	}
	return rustFields(t.Fields(), at, depth)
}

// rustFields is the shape of a structure: that of its only member with a size, a pair of two scalars, or bytes.
func rustFields(fields []ctype.Field, at, depth int) (shape, error) {
	var shapes []shape
	for _, f := range fields {
		if f.Static || f.Type.Size == 0 {
			continue
		}
		s, err := rustShape(f.Type, at+f.Offset, depth-1)
		if err != nil {
			return s, err
		}
		shapes = append(shapes, s)
	}
	switch {
	case len(shapes) == 0:
		return shape{}, nil
	case len(shapes) == 1:
		return shapes[0], nil
	case len(shapes) == 2 && shapes[0].isScalar() && shapes[1].isScalar():
		pair := append(shapes[0].scalars, shapes[1].scalars...)
		slices.SortFunc(pair, func(x, y scalar) int { return x.from - y.from })
		return shape{scalars: pair}, nil
	}
	return shape{image: true}, nil
}

func (s shape) isScalar() bool { return !s.image && len(s.scalars) == 1 }

// rustEnum is the shape of an enumeration with data. Where the discriminant lies in a niche of one alternative, and the others
// have no data, it is the shape of that one. Otherwise the tag and the data make a pair if all alternatives have the same scalar,
// or none.
func rustEnum(t *ctype.Type, at, depth int) (shape, error) {
	v := t.Variants()
	if v.Discriminant == nil {
		if len(v.List) != 1 {
			return shape{}, fmt.Errorf("the alternatives of %s are not told apart", t)
		}
		return rustFields(v.List[0].Field.Type.Fields(), at, depth)
	}
	tag := *v.Discriminant
	var with []shape // of alternatives with data
	niche := false
	for _, alternative := range v.List {
		var data []ctype.Field
		for _, f := range alternative.Field.Type.Fields() {
			if f.Static || f.Type.Size == 0 {
				continue
			}
			niche = niche || f.Offset <= tag.Offset && tag.Offset < f.Offset+f.Type.Size
			data = append(data, f)
		}
		if len(data) == 0 {
			continue
		}
		s, err := rustFields(data, at+alternative.Field.Offset, depth-1)
		if err != nil {
			return s, err
		}
		with = append(with, s)
	}
	switch {
	case niche && len(with) == 1:
		return with[0], nil
	case niche:
		return shape{}, fmt.Errorf("how rustc returns %s is not certain", t)
	}
	return taggedShape(t, scalar{from: at + tag.Offset, size: tag.Type.Size}, with)
}

// taggedShape is the shape of an enumeration with a tag.
func taggedShape(t *ctype.Type, tag scalar, with []shape) (shape, error) {
	if len(with) == 0 {
		return shape{scalars: []scalar{tag}}, nil
	}
	first := with[0]
	for _, s := range with {
		if !s.isScalar() || !first.isScalar() {
			return shape{image: true}, nil
		}
		one, other := s.scalars[0], first.scalars[0]
		if one.pointer != other.pointer && one.from == other.from && one.size == other.size {
			return shape{}, fmt.Errorf("how rustc returns %s is not certain", t)
		}
		if one != other {
			return shape{image: true}, nil
		}
	}
	return shape{scalars: []scalar{tag, first.scalars[0]}}, nil
}
