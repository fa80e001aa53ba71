package container

import (
	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/ctype"
)

// The runtime of Go describes types by a structure (internal/abi.Type) that begins with the size; others follow it for types of a
// kind. The word of an interface is the value if that is a pointer, and otherwise points to it.
const (
	kindAt        = 23 // a byte
	kindMask      = 31
	kindInterface = 20
	kindPtr       = 22
	kindString    = 24
	kindStruct    = 25
	elemAt        = 48 // of a pointer
	fieldsAt      = 56 // of a structure: how many there are stands behind it
	fieldSize     = 24
	fieldType     = 8
	fieldPlace    = 16
	methodsAt     = 64 // of an interface: how many there are
	typeAt        = 8  // of a table of methods
)

// mostValue is how many bytes of an interface's value are collected, mostFields of how many members strings are.
const (
	mostValue  = 512
	mostFields = 64
)

// goInterface is an interface, whose type is found by the table of its methods, or beside its value if it has no methods.
func goInterface(t *ctype.Type) *Shape {
	s := &Shape{Form: Interface, Name: t.Name, target: scalar(t, "data")}
	if s.target.Type.Size != 8 { // descriptions have other places there
		panic(missing("data"))
	}
	if described, ok := t.Field("_type"); ok {
		s.dynamic = word(described)
		return s
	}
	table := pointer(t, "tab")
	methods := table.Type.Elem
	f, ok := methods.Field("_type")
	if !ok {
		f = at(methods, "Type")
	}
	s.dynamic = choose(word(table), load(word(table).plus(f.Offset), f.Type), number(0))
	return s
}

// kept is a number that lies on the stack.
func kept(at int) term { return func(e *emitter) { e.emit(1, ax.OpPick, uint64(e.height-1-at)) } }

// keep computes a number once and leaves it on the stack.
func (g *generator) keep(t term) term {
	t(&g.emitter)
	return kept(g.height - 1)
}

// textType is a string of Go.
var textType = ctype.RecordOf("string", 16, ctype.Field{Name: "str", Type: ctype.PointerTo(ctype.Int(1, false), 8)},
	ctype.Field{Name: "len", Type: ctype.Int(8, true), Offset: 8})

var long, octet = ctype.Int(8, false), ctype.Int(1, false)

// is reports whether a description is one of a type of a kind.
func is(described term, kind int) term {
	return peek(described.plus(kindAt), octet).with(ax.OpBitAnd, number(kindMask)).equals(number(kind))
}

// dynamic records the value of an interface and its strings, by the description of its type: no more is known before. In an
// outermost interface it goes on with what the last interface among the members of the value contains, as errors wrap others. If
// these lead back to one another the evaluator's budget ends it.
func (g *generator) dynamic(s *Shape, depth, within int) {
	again, none, other := g.NewLabel(), g.NewLabel(), g.NewLabel()
	described, value := g.keep(s.dynamic), g.keep(word(s.target))
	g.Bind(again)
	described.not()(&g.emitter)
	g.jump(ax.OpIfGoto, none)
	typ := g.keep(choose(is(described, kindPtr), peek(described.plus(elemAt), long), described))
	value(&g.emitter)
	clamped(peek(typ, long), mostValue)(&g.emitter)
	g.emit(-2, ax.OpTrace)
	text := g.NewLabel()
	is(typ, kindString).not()(&g.emitter)
	g.jump(ax.OpIfGoto, text)
	g.textAt(value, depth, within)
	g.Bind(text)
	is(typ, kindStruct).not()(&g.emitter)
	g.jump(ax.OpIfGoto, other)
	end := g.texts(typ, value, depth, within)
	if depth == g.limits.Depth {
		g.inner(typ, value, end, again)
	}
	g.emit(-1, ax.OpPop)
	g.Bind(other)
	g.emit(-1, ax.OpPop)
	g.Bind(none)
	g.emit(-1, ax.OpPop)
	g.emit(-1, ax.OpPop)
}

// textAt records the characters of a string at a place.
func (g *generator) textAt(place term, depth, within int) {
	object, cursor := g.object, g.cursor
	place(&g.emitter)
	g.contents(textType, onStack{at: g.height - 1}, depth, within)
	g.emit(-1, ax.OpPop)
	g.object, g.cursor = object, cursor
}

// begin is where the descriptions of the members of a structure begin.
func begin(typ term) term { return peek(typ.plus(fieldsAt), long) }

// texts records the characters of the strings among the members of a structure, and leaves on the stack where the descriptions of
// the members end.
func (g *generator) texts(typ, value term, depth, within int) (end term) {
	outer := g.cursor
	end = g.keep(begin(typ).with(ax.OpAdd, clamped(peek(typ.plus(fieldsAt+8), long), mostFields).times(fieldSize)))
	begin(typ)(&g.emitter)
	g.cursor = g.height - 1
	again, skip, done := g.NewLabel(), g.NewLabel(), g.NewLabel()
	g.Bind(again)
	term(cursor).with(ax.OpLessUnsigned, end).not()(&g.emitter)
	g.jump(ax.OpIfGoto, done)
	is(peek(term(cursor).plus(fieldType), long), kindString).not()(&g.emitter)
	g.jump(ax.OpIfGoto, skip)
	g.textAt(value.with(ax.OpAdd, peek(term(cursor).plus(fieldPlace), long)), depth, within)
	g.Bind(skip)
	g.push(fieldSize)
	g.emit(-1, ax.OpAdd)
	g.jump(ax.OpGoto, again)
	g.Bind(done)
	g.cursor = outer
	g.emit(-1, ax.OpPop)
	return end
}

// inner goes on again with what the last interface among the members of a structure contains, if there is one.
func (g *generator) inner(typ, value, end term, again ax.Label) {
	none := g.NewLabel()
	before := term(cursor).with(ax.OpLessUnsigned, begin(typ))
	other := choose(before, number(0), is(peek(term(cursor).plus(fieldType), long), kindInterface).not())
	back := term(cursor).minus(number(fieldSize))
	field := g.keep(follow(end.minus(number(fieldSize)), other, back, mostFields))
	field.with(ax.OpLessUnsigned, begin(typ))(&g.emitter)
	g.jump(ax.OpIfGoto, none)
	height := g.height
	place := g.keep(value.with(ax.OpAdd, peek(field.plus(fieldPlace), long)))
	methods, table := peek(peek(field.plus(fieldType), long).plus(methodsAt), long), peek(place, long)
	choose(table, choose(methods, load(table.plus(typeAt), long), table), number(0))(&g.emitter)
	peek(place.plus(8), long)(&g.emitter)
	for range 6 { // what lies on the stack below these two, down to those that they replace
		for _, op := range []ax.Op{ax.OpRot, ax.OpSwap, ax.OpPop, ax.OpSwap} {
			g.Emit(op)
		}
	}
	g.jump(ax.OpGoto, again)
	g.height = height
	g.Bind(none)
	g.emit(-1, ax.OpPop)
}

// unknownType stands in place of a value.
const unknownType = "<of a type that is not known>"

// inside finds the value of an interface, and its type.
func (s *Shape) inside(r *reader, c *Contents) {
	described, err := r.number(&s.dynamic, 0)
	switch {
	case err != nil:
		c.Rest = " " + notCollected("")
		return
	case described == 0:
		return
	}
	var t *ctype.Type
	if s.types.Described != nil {
		t = s.types.Described(arch.Addr(described))
	}
	if t == nil {
		c.Rest = " " + unknownType
		return
	}
	v, name := r.value.Part(s.target.Type, s.target.Offset), goName(t, 0)
	place := arch.Addr(arch.Uint(v.Bytes, r.order))
	if points(t) {
		t = t.Elem
	} else if t.Kind == ctype.Pointer { // a map, a channel or a function
		v.Type = t
		c.Elements, c.Count = append(c.Elements, Element{Name: name, Value: v}), 1
		return
	}
	v = ctype.Value{Type: t, InMemory: true, Addr: place, Bytes: make([]byte, t.Size)}
	if r.memory(place, v.Bytes) < t.Size {
		c.Rest = "(" + name + ") " + notCollected("")
		return
	}
	c.Elements, c.Count = append(c.Elements, Element{Name: name, Value: v}), 1
}

// points reports whether a type is a pointer in Go's own words. Maps, channels and functions have names.
func points(t *ctype.Type) bool { return t.Kind == ctype.Pointer && t.Name == "" }

// goName is the name of a type as Go writes it.
func goName(t *ctype.Type, depth int) string {
	if points(t) && depth < deepest {
		return "*" + goName(t.Elem, depth+1)
	}
	return t.String()
}
