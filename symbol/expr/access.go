package expr

import (
	"fmt"
	"strings"

	"tracewell/ax"
	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
)

// at is a value in memory, at the address that code pushes.
func at(addr code, typ *ctype.Type) value { return value{typ: typ, place: Memory{addr}} }

// elementOf is the type that a pointer points to. An integer points to an int, as in GDB.
func elementOf(v value) *ctype.Type {
	if v.typ.Kind == ctype.Pointer && v.typ.Elem != nil {
		return v.typ.Elem
	}
	return ctype.Int(4, true)
}

// pointed is what a pointer points to.
func (c *compiler) pointed(n *cexpr.Node, pointer value) value {
	return at(c.load(n, pointer), elementOf(pointer))
}

// memory is GDB's {type} address, a value at an address of any kind.
func (c *compiler) memory(n *cexpr.Node) value {
	return at(c.scalar(n.Kids[0]).code, n.Type)
}

// member is . and ->, between which GDB makes no difference.
func (c *compiler) member(n *cexpr.Node) value {
	whole := n.Kids[0]
	if name := n.String(); whole.Form == cexpr.NameForm && n.Op == "." && name[0] != '$' {
		if object, err := c.scope.Lookup(name); err == nil { // of a package of Go
			return c.object(object)
		}
	}
	v := c.value(whole)
	if v.typ.Kind == ctype.Array && n.Op == "->" {
		v = c.scalarOf(whole, v)
	}
	// Pointers to pointers are followed as well: GDB does so for Go and Rust, and C users write p.x for p->x.
	for v.typ.Kind == ctype.Pointer && v.typ.Elem != nil {
		v = c.pointed(whole, v)
	}
	if v.typ.Kind != ctype.Record && c.partial != nil {
		c.fail(n, fmt.Sprintf("there is no %s: the type of %s has no members that are known", n, whole),
			cexpr.Suggest(n.String(), c.scope.Names()))
	}
	if v.typ.Kind != ctype.Record {
		c.fail(n, fmt.Sprintf("%s is of type %v, which has no members", whole, v.typ), "")
	}
	return c.field(n, v, n.Token.Text)
}

// field is a member of a record: its own, a base class', or a static one.
func (c *compiler) field(n *cexpr.Node, record value, name string) value {
	path := pathTo(record.typ, name, 0)
	if path == nil {
		if v, ok := c.scopedMember(n, record, name); ok {
			return v
		}
		c.fail(n, fmt.Sprintf("%v has no member %s", record.typ, name), cexpr.SuggestMember(name, record.typ))
	}
	for i := range path {
		record = c.own(n, record, path[i])
	}
	return record
}

// deepestBase is how far members without names, and base classes, may be within one another.
const deepestBase = 8

// pathTo finds a member by name: the members of which each has the next one in it, nil if there is none.
func pathTo(t *ctype.Type, name string, depth int) []ctype.Field {
	fields := t.Fields()
	for _, f := range fields {
		if f.Name == name {
			return []ctype.Field{f}
		}
	}
	// Own members hide those of anonymous members and of base classes, so these come second.
	for _, f := range fields {
		if f.Name != "" && !f.Base || f.Type.Kind != ctype.Record || depth == deepestBase {
			continue
		}
		if inner := pathTo(f.Type, name, depth+1); inner != nil {
			return append([]ctype.Field{f}, inner...)
		}
	}
	return nil
}

// own is a member that a record has itself. Of a virtual base class the place is in the object's virtual table (Itanium C++ ABI,
// 2.5.2): the first word of the object points into the table, and f.VTable bytes from there is the distance of the base from the
// object.
func (c *compiler) own(n *cexpr.Node, record value, f ctype.Field) value {
	switch {
	case f.Static:
		if v, ok := c.scopedMember(n, record, f.Name); ok {
			return c.reached(record, v)
		}
		c.fail(n, f.Name+" is a static member, whose place is not known", "")
	case f.Virtual && c.partial != nil:
		object, word := c.address(n, record), ctype.Int(c.abi.Pointer, true)
		table := c.memoryCell(n, object, word)
		return at(object.with(c.memoryCell(n, table.plus(f.VTable), word), op(ax.OpAdd)), f.Type)
	case f.Virtual:
		// A virtual base class lies at a distance that the object's virtual table has, below the address that the table pointer holds.
		table := c.address(n, record).then(op(ax.OpDup), op(ax.OpRef64)).plus(f.VTable)
		return at(table.then(op(ax.OpRef64), op(ax.OpAdd)), f.Type)
	}
	v := value{typ: f.Type, place: part(record.place, f.Offset, f.Span(), record.typ.Size, c.scope.Order())}
	if f.Bits > 0 {
		v.field = &f
	}
	return v
}

// reached is a static member of an object. What leads to the object is touched all the same, as GDB looks at it first.
func (c *compiler) reached(object, member value) value {
	from, ok := object.place.(Memory)
	static, fixed := member.place.(Memory)
	if !ok || !fixed {
		return member
	}
	return at(code(from.Emit).then(op(ax.OpPop)).followed(static.Emit), member.typ)
}

// scopedMember is a member whose base class is named, Base::x, or a static one.
func (c *compiler) scopedMember(n *cexpr.Node, record value, name string) (value, bool) {
	if base, ok := cutBase(record.typ, name); ok {
		return c.field(n, c.field(n, record, base), name[len(base)+len("::"):]), true
	}
	class := record.typ.Name
	for _, tag := range []string{"struct ", "class ", "union "} {
		class = strings.TrimPrefix(class, tag)
	}
	object, err := c.scope.Lookup(class + "::" + name)
	return c.object(object), err == nil && c.scope.Language() == ctype.CPlusPlus
}

// cutBase returns what stands before the last :: if that is a base class of a record, direct or not.
func cutBase(record *ctype.Type, name string) (string, bool) {
	i := strings.LastIndex(name, "::")
	if i <= 0 {
		return "", false
	}
	path := pathTo(record, name[:i], 0)
	return name[:i], path != nil && path[len(path)-1].Base
}

// staticIn finds the class or base class that has a static member, which may be named with its class, Base::x.
func staticIn(record *ctype.Type, name string) (owner *ctype.Type, ok bool) {
	if base, inBase := cutBase(record, name); inBase {
		path := pathTo(record, base, 0)
		record, name = path[len(path)-1].Type, name[len(base)+len("::"):]
	}
	path := pathTo(record, name, 0)
	if path == nil || !path[len(path)-1].Static {
		return nil, false
	}
	if len(path) > 1 {
		record = path[len(path)-2].Type
	}
	return record, true
}

// index is a[i]. As in C the operands may change places, and an array stands for its first element, unless the array has no
// address: then its parts are taken from where they are.
func (c *compiler) index(n *cexpr.Node) value {
	array := c.value(n.Kids[0])
	index := c.scalar(n.Kids[1])
	if array.typ.Kind == ctype.Array && array.code == nil {
		if _, inMemory := array.place.(Memory); !inMemory {
			return c.element(n, array, index)
		}
	}
	base := c.scalarOf(n.Kids[0], array)
	if index.typ.Kind == ctype.Pointer && base.typ.Kind != ctype.Pointer {
		base, index = index, base
	}
	elem := elementOf(base)
	return at(base.code.with(c.scaled(n, index, elem), op(ax.OpAdd)), elem)
}

// element is an element of an array that does not lie in memory.
func (c *compiler) element(n *cexpr.Node, array, index value) value {
	i := index.known
	if i == nil || *i >= uint64(array.typ.Count) {
		c.fail(n, fmt.Sprintf("%s is not in memory: only a number within it can be its index", n.Kids[0]), "")
	}
	elem := array.typ.Elem
	return value{typ: elem, place: part(array.place, int(*i)*elem.Size, elem.Size, array.typ.Size, c.scope.Order())}
}

// scaled is the distance of some elements in bytes.
func (c *compiler) scaled(n *cexpr.Node, index value, elem *ctype.Type) code {
	switch {
	// The elements are arrays of variable length themselves, so their size is a matter of the hit.
	case dynamic(elem):
		return index.code.with(c.bytes(n, value{typ: elem}), op(ax.OpMul))
	case c.stride(elem) == 0 && elem.Kind != ctype.Function:
		c.fail(n, fmt.Sprintf("the size of %v is not known", elem), "")
	case index.known != nil:
		return pushed(*index.known * uint64(max(elem.Size, 1)))
	case elem.Size <= 1:
		return index.code
	}
	return index.code.then(number(uint64(elem.Size)), op(ax.OpMul))
}

// repeat is GDB's value @ count, an array that begins with the value. Unlike in GDB, the count may be computed.
func (c *compiler) repeat(n *cexpr.Node) value {
	first, count := c.value(n.Kids[0]), c.scalar(n.Kids[1])
	addr := c.address(n.Kids[0], first)
	// GDB wants a number. A count of the program is what one mostly has: items@used.
	if count.known == nil {
		array := at(addr, ctype.ArrayOf(first.typ, 0))
		array.count = bounded(count.code, mostRepeated)
		return array
	}
	if *count.known == 0 || *count.known > cexpr.MaxArray/uint64(max(1, first.typ.Size)) {
		c.fail(n.Kids[1], "this is no number of elements", "")
	}
	return at(addr, ctype.ArrayOf(first.typ, int(*count.known)))
}

// dereference is *p. What a pointer to void points to has no type and no size.
func (c *compiler) dereference(n *cexpr.Node) value {
	pointer := c.scalar(n.Kids[0])
	elem := elementOf(pointer)
	if elem.Kind == ctype.Opaque && elem.Name == ctype.Void.Name && c.partial == nil {
		c.fail(n, "there is nothing of type void", "a cast says what is there: *(char *)…")
	}
	return at(pointer.code, elem)
}

// addressOf is &x. What lies in a register, and a bit-field, has no address: an error with the reason.
func (c *compiler) addressOf(n *cexpr.Node) value {
	v := c.value(n.Kids[0])
	return value{typ: ctype.PointerTo(v.typ, c.abi.Pointer), code: c.address(n.Kids[0], v)}
}
