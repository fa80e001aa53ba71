package expr

import (
	"tracewell/ax"
	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
)

// deepestStatic is how far static members are looked for in members of members.
const deepestStatic = 4

// statics collects the static members of the classes in a type, which GDB prints with their objects.
func (c *collector) statics(n *cexpr.Node, t *ctype.Type, depth int) {
	for t.Kind == ctype.Array && t.Elem != nil {
		t = t.Elem
	}
	if t.Kind != ctype.Record || depth > deepestStatic || c.classes[t] {
		return
	}
	// Once for each class: a list of a thousand nodes has their static members a thousand times.
	c.classes[t] = true
	for _, f := range t.Fields() {
		if !f.Static {
			c.statics(n, f.Type, depth+1)
			continue
		}
		v, ok := c.scopedMember(n, value{typ: t}, f.Name)
		if _, inMemory := v.place.(Memory); ok && inMemory && v.typ.Size > 0 {
			c.collectPlace(n, v.place, v.typ.Size)
			c.statics(n, v.typ, depth+1)
		}
	}
}

// virtuals collects the virtual base classes in an object, and what its virtual table says of where they are.
func (c *collector) virtuals(n *cexpr.Node, v value, depth int) {
	at, inMemory := v.place.(Memory)
	if v.typ.Kind != ctype.Record || v.typ.Union || !inMemory || depth > deepestBase {
		return
	}
	for _, f := range v.typ.Fields() {
		if f.Static || f.Type.Kind != ctype.Record {
			continue
		}
		inner := c.own(n, v, f)
		// What GDB reads to find the base class has to be in the frame: the table pointer, and the distance in the table.
		if f.Virtual {
			offset := code(at.Emit).then(op(ax.OpRef64)).plus(f.VTable).then(op(ax.OpRef64))
			c.run(n, offset, op(ax.OpPop))
			c.collectPlace(n, inner.place, f.Type.Size)
		}
		c.virtuals(n, inner, depth+1)
	}
}

// texts are the strings of Go, by the name of their type: the members that have the address and the length.
var texts = map[string][2]string{
	"string": {"str", "len"}, "struct string": {"str", "len"},
}

// wide are the members of Rust's pointers to slices and strings that have the address and the length.
var wide = [2]string{"data_ptr", "length"}

// content collects the text of strings that know their length, and the elements of slices, as many as are printed: a language
// prints them when it is asked for the pointer, or for what it is in. What is not known of a pointer is no error.
func (c *collector) content(n *cexpr.Node, v value, depth int) {
	if v.typ.Kind != ctype.Record || depth > deepestStatic {
		return
	}
	// A string is told by the name of its type in Go. Rust has the same two members in slices and strings of every kind.
	members, ok := texts[v.typ.Name]
	if !ok && c.scope.Language() == ctype.Rust {
		members, ok = wide, true
	}
	pointer, hasPointer := v.typ.Field(members[0])
	length, hasLength := v.typ.Field(members[1])
	if ok && hasPointer && hasLength && pointer.Type.Kind == ctype.Pointer && length.Type.Scalar() {
		_ = attempt(func() { c.elements(n, c.field(n, v, pointer.Name), c.field(n, v, length.Name)) })
		return
	}
	for _, f := range v.typ.Fields() {
		if !f.Static && !f.Virtual && f.Type.Kind == ctype.Record {
			c.content(n, c.own(n, v, f), depth+1)
		}
	}
}

// elements collects what a pointer points to, of which there are so many.
func (c *collector) elements(n *cexpr.Node, pointer, length value) {
	if elem := elementOf(pointer); elem.Size > 0 {
		count := bounded(c.load(n, length), max(c.text, mostText)+1) // one more tells that not all are printed
		c.run(n, c.load(n, pointer).with(count, number(uint64(elem.Size)), op(ax.OpMul), op(ax.OpTrace)))
	}
}
