package container

import (
	"tracewell/ax"
	"tracewell/symbol/ctype"
)

// Limits bound what is collected of one value.
type Limits struct {
	Elements int // of each container
	Text     int // characters of each string
	Depth    int // of containers within containers; 0 for no contents
}

// Usual are the limits where nobody has said anything. GDB prints as many elements and characters.
var Usual = Limits{Elements: 200, Text: 200, Depth: 3}

// mostBytes is how many bytes elements in a row take at most.
const mostBytes = 1 << 16

// mostCode bounds the bytecode for one value. GDB reads at most 999 characters of an action in a trace file, two of them a byte.
// A container of structures with many containers needs more; then fewer levels are collected.
const mostCode = 440

// deepest is how far values may lie within one another: damaged debug information has no end.
const deepest = 16

// Collect makes code that records the contents of an object of a type, for which the stack has height cells: none for a type
// without any, and one program for each member of a structure that has some. What lies deeper than the limits, or would take too
// much code, is left out: a reader finds it missing.
func (s *Shapes) Collect(t *ctype.Type, l ctype.Language, o Object, height int, limits Limits) (programs []func(*ax.Builder)) {
	if s.Of(t, l) == nil && t.Kind == ctype.Record && !t.Union && t.Variants() == nil {
		for _, f := range t.Fields() {
			if plain(f) && s.holds(f.Type, l, limits.Depth, 0) {
				programs = append(programs, s.Collect(f.Type, l, o.Part(f.Offset, f.Type), height, limits)...)
			}
		}
		return programs
	}
	for depth := limits.Depth; depth > 0 && s.holds(t, l, depth, 0); depth-- {
		if programs = s.atDepth(t, l, o, height, limits, depth); programs != nil {
			break
		}
	}
	return programs
}

// atDepth makes the code for so many levels, one program for each store of the outermost; nil if one of them would be too long.
func (s *Shapes) atDepth(t *ctype.Type, l ctype.Language, o Object, height int, limits Limits, depth int) []func(*ax.Builder) {
	var programs []func(*ax.Builder)
	stores := []*Shape{nil}
	if shape := s.Of(t, l); shape != nil && shape.stores != nil {
		stores = shape.stores
	}
	for _, store := range stores {
		alternatives := mostConcrete
		make := func(b *ax.Builder) {
			g := generator{
				emitter: emitter{Builder: b, height: height, traced: true}, shapes: s, language: l, limits: limits, only: store,
				alternatives: alternatives,
			}
			g.contents(t, o, depth, 0)
		}
		length := func() int {
			trial := &ax.Builder{}
			make(trial)
			return trial.Offset()
		}
		for alternatives > 0 && length() > mostCode {
			alternatives--
		}
		if length() > mostCode {
			return nil
		}
		programs = append(programs, make)
	}
	return programs
}

// holds reports whether a value has contents elsewhere.
func (s *Shapes) holds(t *ctype.Type, language ctype.Language, depth, within int) bool {
	if within == deepest || depth == 0 {
		return false
	}
	switch shape := s.Of(t, language); {
	case shape != nil && (shape.Elem != nil || shape.dynamic != nil):
		return true
	case shape != nil:
		for _, p := range shape.Parts {
			if s.holds(p.Field.Type, language, depth, within+1) {
				return true
			}
		}
	case t.Variants() != nil:
		for _, p := range alternatives(t) {
			if s.holds(p.Field.Type, language, depth, within+1) {
				return true
			}
		}
	case t.Kind == ctype.Array:
		return t.Count > 0 && s.holds(t.Elem, language, depth, within+1)
	case t.Kind == ctype.Record && !t.Union:
		for _, f := range t.Fields() {
			if plain(f) && s.holds(f.Type, language, depth, within+1) {
				return true
			}
		}
	}
	return false
}

// alternatives are the parts of an enumeration of Rust. One without values is there if no other is.
func alternatives(t *ctype.Type) (parts []Part) {
	variants := t.Variants()
	none := number(1)
	discriminant := variants.Discriminant
	if discriminant == nil || !discriminant.Type.Scalar() {
		discriminant = nil
	}
	var is []term
	for _, v := range variants.List {
		var here term
		for _, value := range v.Values {
			if discriminant == nil {
				continue
			}
			equal := word(*discriminant).equals(number(int(discriminant.Type.Extend(value))))
			if none = none.with(ax.OpBitAnd, equal.not()); here == nil {
				here = equal
			} else {
				here = here.with(ax.OpBitOr, equal)
			}
		}
		is = append(is, here)
	}
	for i, v := range variants.List {
		if is[i] == nil {
			is[i] = none
		}
		parts = append(parts, Part{Field: v.Field, is: is[i]})
	}
	return parts
}

// plain reports whether a member lies in the object at a place of its own.
func plain(f ctype.Field) bool { return !f.Static && !f.Virtual && f.Bits == 0 && f.Offset >= 0 }

// generator makes the code of a collection.
type generator struct {
	emitter
	shapes   *Shapes
	language ctype.Language
	limits   Limits
	only     *Shape // the store of the outermost container that is recorded; nil for all
	// alternatives is how many types of the value of a dyn there is code for.
	alternatives int
}

// contents records what an object of a type has elsewhere. The stack is afterwards as it was.
func (g *generator) contents(t *ctype.Type, o Object, depth, within int) {
	if !g.shapes.holds(t, g.language, depth, within) {
		return
	}
	switch shape := g.shapes.Of(t, g.language); {
	case shape != nil && shape.place != nil:
		g.object = o
		g.dyn(shape, depth, within)
	case shape != nil && shape.dynamic != nil:
		g.object = o
		g.dynamic(shape, depth, within)
	case shape != nil && shape.Elem != nil:
		g.object = o
		g.elements(shape, depth, within)
	case shape != nil:
		for _, p := range shape.Parts {
			g.part(p, o, depth, within)
		}
	case t.Variants() != nil:
		for _, p := range alternatives(t) {
			g.part(p, o, depth, within)
		}
	case t.Kind == ctype.Array:
		g.array(t, o, depth, within)
	default:
		for _, f := range t.Fields() {
			if plain(f) {
				g.contents(f.Type, o.Part(f.Offset, f.Type), depth, within+1)
			}
		}
	}
}

// part records what a part of an object has, if it is there.
func (g *generator) part(p Part, o Object, depth, within int) {
	if !g.shapes.holds(p.Field.Type, g.language, depth, within+1) {
		return
	}
	absent := g.NewLabel()
	if p.is != nil {
		g.object = o
		p.is.not()(&g.emitter)
		g.jump(ax.OpIfGoto, absent)
	}
	g.contents(p.Field.Type, o.Part(p.Field.Offset, p.Field.Type), depth, within+1)
	g.Bind(absent)
}

// array records what the elements of an array within the object have. Those of an array in registers are left out.
func (g *generator) array(t *ctype.Type, o Object, depth, within int) {
	if !o.Address(g.Builder, g.height, 0) {
		return
	}
	g.height++
	g.push(min(t.Count, g.limits.Elements))
	g.each(&Shape{Elem: t.Elem, next: term(cursor).plus(t.Elem.Size)}, false, depth, within)
}

// elements records those that a shape has, and what these have in turn.
func (g *generator) elements(s *Shape, depth, within int) {
	none := g.NewLabel()
	if s.owner != nil {
		s.owner.not()(&g.emitter)
		g.jump(ax.OpIfGoto, none)
		s.owner(&g.emitter)
		s.size(&g.emitter)
		g.emit(-2, ax.OpTrace)
	}
	if s.limits != nil {
		s.limits.not()(&g.emitter)
		g.jump(ax.OpIfGoto, none)
	}
	most := g.limits.Elements
	if s.Form == Text || s.wide != nil && s.wide.Name == "&str" {
		most = g.limits.Text
	}
	stores := s.stores
	switch {
	case stores == nil:
		stores = []*Shape{s}
	case g.only != nil:
		stores, g.only = []*Shape{g.only}, nil
	}
	for _, store := range stores {
		level := depth
		if s.stores != nil && !s.apart && store.next != nil {
			level++ // tables of a map are none of their own
		}
		g.record(store, most, level, within)
	}
	g.Bind(none)
}

// record records elements one by one, or all that lie in a row at once.
func (g *generator) record(s *Shape, most, depth, within int) {
	if s.next == nil {
		g.row(s, min(most, mostBytes/s.Elem.Size), depth, within)
		return
	}
	s.first(&g.emitter)
	g.count(s, most)
	g.each(s, true, depth-1, within)
}

// count pushes how many elements are visited.
func (g *generator) count(s *Shape, most int) {
	if s.count == nil {
		g.push(most)
		return
	}
	s.words(&g.emitter)
	Clamp(g.Builder, uint64(most))
}

// row records elements that lie one behind the other, all at once.
func (g *generator) row(s *Shape, most, depth, within int) {
	s.first(&g.emitter)
	g.count(s, most)
	if s.Elem.Size > 1 {
		g.push(s.Elem.Size)
		g.emit(-1, ax.OpMul)
	}
	g.emit(-2, ax.OpTrace)
	if g.shapes.holds(s.Elem, g.language, depth-1, within+1) {
		s.first(&g.emitter)
		g.count(s, most)
		g.each(&Shape{Elem: s.Elem, next: term(cursor).plus(s.Elem.Size)}, false, depth-1, within)
	}
}

// each visits elements: it takes the first one's cursor and their number off the stack. It records their contents, and themselves
// if that is not done yet. A jump goes back for each element, so that the code cannot become a pad: a hit is a trap.
func (g *generator) each(s *Shape, record bool, depth, within int) {
	object, outer := g.object, g.cursor
	again, done := g.NewLabel(), g.NewLabel()
	g.emit(1, ax.OpDup)
	g.emit(0, ax.OpLogNot)
	g.jump(ax.OpIfGoto, done)
	g.Bind(again)
	g.cursor = g.height - 2
	if s.more != nil {
		s.more.not()(&g.emitter)
		g.jump(ax.OpIfGoto, done)
	}
	item := s.item
	if item == nil {
		item = cursor
	}
	item(&g.emitter)
	if record {
		g.emit(1, ax.OpDup)
		g.push(s.Elem.Size)
		g.emit(-2, ax.OpTrace)
	}
	g.contents(s.Elem, onStack{at: g.height - 1}, depth, within+1)
	g.emit(-1, ax.OpPop)
	g.object, g.cursor = object, g.height-2
	g.push(1)
	g.emit(-1, ax.OpSub)
	g.emit(1, ax.OpDup)
	g.emit(0, ax.OpLogNot)
	g.jump(ax.OpIfGoto, done)
	s.next(&g.emitter)
	g.advance()
	g.jump(ax.OpGoto, again)
	g.Bind(done)
	g.emit(-1, ax.OpPop)
	g.emit(-1, ax.OpPop)
	g.cursor = outer
}

// words is how many elements lie in memory: as many words as the bits of a vector of bool need.
func (s *Shape) words(e *emitter) {
	s.count(e)
	if s.Form == Bits {
		width := 8 * s.Elem.Size
		e.push(width - 1)
		e.emit(-1, ax.OpAdd)
		e.push(width)
		e.emit(-1, ax.OpDivSigned)
	}
}
