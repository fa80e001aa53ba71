package container

import (
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/ctype"
)

// A dyn of Rust is two words: the place of a value, and a table of the methods that its type has for the trait. The table begins
// with what drops the value, its size and its alignment.
const (
	tableSize = 24
	sizeAt    = 8
	alignAt   = 16
)

// mostAlign is the largest alignment that is followed.
const mostAlign = 1 << 12

// mostConcrete is for how many types a collection asks whether they are the value's.
const mostConcrete = 16

// dyn is a reference to, or a box of, a value of a type that only its table tells.
func dyn(t *ctype.Type) *Shape {
	place := scalar(t, "pointer")
	return &Shape{Form: Dyn, Name: t.Name, dynamic: word(scalar(t, "vtable")), place: word(place), trait: dynOf(place.Type.Elem)}
}

// dynOf is the path of the trait of a dyn, "" of any other type.
func dynOf(t *ctype.Type) string {
	name, ok := strings.CutPrefix(strings.TrimPrefix(t.Name, "("), "dyn ") // in parentheses if there are several traits
	if !ok {
		return ""
	}
	return TraitOf(name)
}

// TraitOf is the path of the first trait of a dyn, without arguments: "core::ops::function::Fn" of
// "core::ops::function::Fn<(i32)> + core::marker::Send".
func TraitOf(name string) string {
	name, _, _ = strings.Cut(name, " + ")
	name, _, _ = strings.Cut(name, "<")
	return name
}

// countedDyn makes a shape that counts owners one whose value, of a type that only a table tells, lies behind the counts by its
// alignment.
func (s *Shape) countedDyn(block, table, value ctype.Field) {
	align := clamped(peek(word(table).plus(alignAt), long), mostAlign)
	behind := align.plus(value.Offset-1).with(ax.OpBitAnd, number(0).minus(align))
	s.place, s.trait = word(block).with(ax.OpAdd, behind), dynOf(value.Type)
	s.dynamic = choose(s.count, word(table), number(0))
	s.Elem, s.count, s.first, s.size = nil, nil, nil, number(value.Offset)
}

// countedSlice makes a shape that counts owners one whose value is a slice or a str of a length.
func (s *Shape) countedSlice(block, length, value ctype.Field) {
	name := "&[" + value.Type.String() + "]"
	if strings.HasSuffix(block.Type.Elem.Name, "<str>") {
		name = "&str"
	}
	size := block.Type.Size
	s.wide = ctype.RecordOf(name, 2*size, ctype.Field{Name: "data_ptr", Type: ctype.PointerTo(value.Type, size)},
		ctype.Field{Name: "length", Type: length.Type, Offset: size})
	s.limits, s.count, s.size = s.count, word(length), number(value.Offset)
}

// slice is the value of a shape that counts owners of a slice, as a reference to it.
func (s *Shape) slice(r *reader, c *Contents) {
	there, err := r.number(&s.limits, 0)
	if err == nil && there == 0 {
		return
	}
	start, unknown := r.number(&s.first, 0)
	length, short := r.number(&s.count, 0)
	if err != nil || unknown != nil || short != nil {
		c.Rest = notCollected("")
		return
	}
	b := r.order.AppendUint64(r.order.AppendUint64(nil, uint64(start)), uint64(length))
	c.Elements, c.Count = append(c.Elements, Element{Value: ctype.Value{Type: s.wide, Bytes: b}}), 1
}

// dyn records the value of a dyn, and what a value of its type has elsewhere: which types have a table for the trait is known
// before, unlike those that an interface of Go may contain.
func (g *generator) dyn(s *Shape, depth, within int) {
	none := g.NewLabel()
	if s.owner != nil {
		s.owner.not()(&g.emitter)
		g.jump(ax.OpIfGoto, none)
		s.owner(&g.emitter)
		s.size(&g.emitter)
		g.emit(-2, ax.OpTrace)
	}
	s.dynamic.not()(&g.emitter)
	g.jump(ax.OpIfGoto, none)
	s.dynamic(&g.emitter)
	g.push(tableSize)
	g.emit(-2, ax.OpTrace)
	table := g.keep(s.dynamic)
	place := g.keep(s.place)
	place(&g.emitter)
	clamped(peek(table.plus(sizeAt), long), mostValue)(&g.emitter)
	g.emit(-2, ax.OpTrace)
	object, cursor := g.object, g.cursor
	for _, c := range g.concrete(s, depth, within) {
		other := g.NewLabel()
		table.equals(number(int(c.Table))).not()(&g.emitter)
		g.jump(ax.OpIfGoto, other)
		g.contents(c.Type, onStack{at: g.height - 1}, depth-1, within+1)
		g.object, g.cursor = object, cursor
		g.Bind(other)
	}
	g.emit(-1, ax.OpPop)
	g.emit(-1, ax.OpPop)
	g.Bind(none)
}

// concrete are the types that a dyn may stand for whose values have something elsewhere, at most as many as there may be.
func (g *generator) concrete(s *Shape, depth, within int) (types []Concrete) {
	if s.trait == "" || g.shapes.Concrete == nil {
		return nil
	}
	for _, c := range g.shapes.Concrete(s.trait) {
		if len(types) < g.alternatives && g.shapes.holds(c.Type, g.language, depth-1, within+1) {
			types = append(types, c)
		}
	}
	return types
}

// object finds the value of a dyn, and its type.
func (s *Shape) object(r *reader, c *Contents) {
	table, err := r.number(&s.dynamic, 0)
	if err == nil && table == 0 {
		return
	}
	place, unknown := r.number(&s.place, 0)
	if err != nil || unknown != nil {
		c.Rest = notCollected("")
		return
	}
	var t *ctype.Type
	if s.trait != "" && s.types.Described != nil {
		t = s.types.Described(arch.Addr(table))
	}
	if t == nil || t.Size < 0 {
		c.Rest = unknownType
		return
	}
	v := ctype.Value{Type: t, InMemory: true, Addr: arch.Addr(place), Bytes: make([]byte, t.Size)}
	if r.memory(v.Addr, v.Bytes) < t.Size {
		c.Rest = notCollected(t.Name)
		return
	}
	c.Elements, c.Count = append(c.Elements, Element{Value: v}), 1
}
