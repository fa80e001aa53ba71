package ctype

import (
	"iter"
	"strconv"
	"strings"

	"tracewell/arch"
)

// Child is a value that another contains or leads to: what a front end shows when its user unfolds that other.
type Child struct {
	// Name is that of the member or base class, "" for a structure or union without one. An element is "[3]", counted from 0, a
	// member of a Rust tuple is "0", and what a pointer points to is "*".
	Name   string
	Role   Role
	Offset int // bytes from the start of the parent; of a bit-field that of the bytes that have it; Elsewhere if it lies outside
	Bits   int // of a bit-field, 0 otherwise
	Shift  int // of a bit-field: as in Field
	Value  Value
	// Missing is what GDB prints in place of the value, "<unavailable>" or "<optimized out>" for instance; "" if the value is known,
	// although it may have Holes. The Value has no more than a Type then.
	Missing string
}

// Elsewhere is the Offset of a child that is no part of the parent's memory: a static member, what a pointer points to, an element
// of a Rust slice, and a virtual base class whose place only the virtual table knows.
const Elsewhere = -1

// Role is what a child is to its parent.
type Role uint8

// The roles.
const (
	MemberChild  Role = iota
	BaseChild         // a base class
	StaticChild       // a member of the class, which all objects share
	ElementChild      // of an array or a Rust slice
	TargetChild       // what a pointer points to
)

// Children yields what a value is made of, in the order in which GDB prints it: base classes and members of a record as they are
// declared, elements of an array, of a Rust enumeration the members of the variant that is active. A pointer has one child, read
// from Memory, unless it is null or points to a function, to void or to an incomplete type; a reference has the children of what it
// refers to. Strings of Go and Rust have none, as their text is the value. Nor has a value that is not known.
//
// A virtual base class is a child of every class that names it, although an object has it once: each child can be unfolded without
// what was unfolded before. (Print follows GDB, which prints it where it comes first.)
func (p Printer) Children(v Value) iter.Seq[Child] {
	return func(yield func(Child) bool) {
		t := v.Type
		if t.Size < 0 || len(v.Bytes) < t.Size || v.missing(0) != "" {
			return
		}
		v.Bytes = v.Bytes[:t.Size]
		switch {
		case t.Reference:
			if target, ok := p.target(v); ok {
				p.Children(target)(yield)
			}
		case t.Kind == Pointer:
			p.pointee(v, yield)
		case t.Kind == Array:
			v.elements(0, yield)
		case t.Kind == Record:
			p.parts(v, yield)
		}
	}
}

// target reads what a pointer points to, or a reference refers to.
func (p Printer) target(v Value) (Value, bool) {
	return p.read(v.Type.Elem, arch.Addr(arch.Uint(v.Bytes, v.Type.Order(p.Order))))
}

func (p Printer) pointee(v Value, yield func(Child) bool) {
	elem := v.Type.Elem
	if !v.Type.Scalar() || p.Memory == nil || arch.Uint(v.Bytes, p.Order) == 0 || elem.Size == 0 || elem.Strip() == Void || elem.Kind == Function {
		return
	}
	target, ok := p.target(v)
	c := Child{Name: "*", Role: TargetChild, Offset: Elsewhere, Value: target}
	if !ok {
		c.Missing = string(p.unreadable(nil, target.Addr))
	}
	yield(c.judged())
}

// elements yields those of an array that lies at an offset in its parent, or Elsewhere. It reports whether more are wanted.
func (v Value) elements(offset int, yield func(Child) bool) {
	t := v.Type
	for i := 0; t.Elem.Size > 0 && i < t.Size/t.Elem.Size; i++ {
		c := Child{Name: "[" + strconv.Itoa(i) + "]", Role: ElementChild, Offset: Elsewhere, Value: v.Part(t.Elem, i*t.Elem.Size)}
		if offset != Elsewhere {
			c.Offset = offset + i*t.Elem.Size
		}
		if !yield(c.judged()) {
			return
		}
	}
}

// parts yields the children of a record.
func (p Printer) parts(v Value, yield func(Child) bool) {
	t, offset := v.Type, 0
	switch variants := t.Variants(); {
	case p.Language == Go && t.Name == "string" || p.Language == Rust && t.Name == "&str":
		return
	case p.Language == Rust && strings.HasPrefix(t.Name, "&["), p.Language == Rust && strings.HasPrefix(t.Name, "&mut ["):
		if elem, addr, n, ok := p.wide(v); ok && p.Memory != nil && elem.Size > 0 {
			whole, _ := p.read(ArrayOf(elem, min(n, mostRead/elem.Size)), addr)
			whole.elements(Elsewhere, yield)
			return
		}
	case variants != nil:
		active := variants.active(v, p.Order)
		if active == nil {
			return
		}
		offset = active.Field.Offset
		if v = v.Part(active.Field.Type, offset); len(v.Bytes) < v.Type.Size {
			return
		}
	}
	if v.whole == nil {
		v.whole = new(v)
	}
	for _, f := range v.Type.Fields() {
		c := p.child(f, v)
		if c.Offset != Elsewhere {
			c.Offset += offset
		}
		if p.Language == Rust {
			c.Name = strings.TrimPrefix(c.Name, "__")
		}
		if !yield(c.judged()) {
			return
		}
	}
}

// judged tells a child whose value has too few bytes, or none that is known.
func (c Child) judged() Child {
	switch v := c.Value; {
	case c.Missing != "":
	case len(v.Bytes) < v.Type.Size && v.Type.Kind != Function:
		c.Missing = short
	default:
		c.Missing = v.missing(1)
	}
	if c.Missing != "" {
		c.Value = Value{Type: c.Value.Type}
	}
	return c
}

// child takes a member out of a record.
func (p Printer) child(f Field, v Value) Child {
	c := Child{Name: f.Name, Offset: f.Offset, Bits: f.Bits, Shift: f.Shift, Value: Value{Type: f.Type}}
	switch {
	case f.Static:
		c.Role, c.Offset = StaticChild, Elsewhere
		c.Value, c.Missing = p.static(f)
	case f.Virtual:
		c.Role = BaseChild
		c.Value, c.Offset, c.Missing = p.virtualBase(f, v)
	case f.Offset < 0 || f.Offset > len(v.Bytes):
		c.Missing = short
	case f.Base && v.whole != nil:
		c.Role, c.Value = BaseChild, v.base(f.Type, v.at+f.Offset)
	case f.Bits == 0:
		c.Value = v.Part(f.Type, f.Offset)
	case f.Offset+f.Span() > len(v.Bytes):
		c.Missing = short
	default:
		if holes := v.holes(f.Offset, f.Span()); len(holes) > 0 {
			c.Missing = holes[0].Why
			break
		}
		c.Value.Bytes = f.Unpack(v.Bytes[f.Offset:], f.Type.Order(p.Order))
	}
	return c
}

// static reads a member of the class. DWARF gives it an address, or a constant value (DW_AT_const_value), or neither if nothing
// uses it.
func (p Printer) static(f Field) (v Value, missing string) {
	switch {
	case f.Value != nil:
		return Value{Type: f.Type, Bytes: f.Value}, ""
	case f.Addr == 0:
		return Value{Type: f.Type}, OptimizedOut
	}
	v, ok := p.read(f.Type, f.Addr)
	switch {
	case ok:
		return v, ""
	case f.Type.Kind == Record:
		return v, Unavailable
	}
	return v, string(p.unreadable(nil, f.Addr))
}

// virtualBase finds a base class whose place only the virtual table knows: in the C++ ABI of Itanium a word of the table, at a
// negative offset from where the object's first word points to, has the distance of the base from the object. Without all of
// the object GDB does not follow that word.
func (p Printer) virtualBase(f Field, v Value) (base Value, offset int, missing string) {
	base = Value{Type: f.Type}
	if !v.followsTable() {
		return base, Elsewhere, Unavailable
	}
	word, ok := p.read(Int(8, true), arch.Addr(arch.Uint(v.Bytes[:8], p.Order))+arch.Addr(f.VTable))
	if !ok || len(word.Holes) > 0 {
		return base, Elsewhere, invalidAddress
	}
	if v.whole == nil {
		v.whole = new(v)
	}
	distance := int64(arch.Uint(word.Bytes, p.Order))
	at := int64(v.at) + distance
	switch {
	case distance < mostRead && at >= 0 && at < int64(len(v.whole.Bytes)):
		return v.base(f.Type, int(at)), int(distance), ""
	case !v.InMemory:
		return base, Elsewhere, invalidAddress
	}
	if base, ok = p.read(f.Type, v.Addr+arch.Addr(distance)); !ok {
		return base, Elsewhere, Unavailable
	}
	return base, Elsewhere, ""
}

// followsTable reports whether the virtual table of an object can be asked.
func (v Value) followsTable() bool { return len(v.Bytes) >= 8 && len(v.Holes) == 0 }

// invalidAddress is what GDB prints for a base class of which the virtual table does not tell the place.
const invalidAddress = "<invalid address>"
