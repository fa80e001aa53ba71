package debuginfo

import (
	"debug/dwarf"
	"fmt"
	"iter"
	"sort"

	"tracewell/arch"
)

// Entry is one DIE. Its attributes are read when they are asked for.
type Entry struct {
	Offset      Offset
	Unit        *Unit
	Tag         dwarf.Tag
	HasChildren bool

	plan  *abbrev
	attrs uint64 // where the attributes begin
}

// Attribute is one attribute of a DIE.
type Attribute struct {
	Attr  dwarf.Attr
	Value Value
}

// Entry reads the DIE at an offset.
func (f *File) Entry(off Offset) (*Entry, error) {
	n := int(off / spaceSize)
	if n >= len(f.spaces) {
		return nil, fmt.Errorf("%s: there is no DIE at %#x", f.Path(), uint64(off))
	}
	s := f.spaces[n]
	if u := s.unitOf(uint64(off % spaceSize)); u != nil {
		if e, _ := u.entry(uint64(off % spaceSize)); e != nil {
			return e, nil
		}
	}
	return nil, fmt.Errorf("%s: there is no DIE at %#x of %s", s.image.path, uint64(off%spaceSize), s.name)
}

// entry reads the DIE at an offset of the unit's section, nil at the end of a list of children or where there is none, and where
// its attributes begin.
func (u *Unit) entry(at uint64) (*Entry, uint64) {
	c := u.cursor(at)
	code := c.uleb()
	plan := u.plans().find(code)
	if code == 0 || plan == nil {
		return nil, c.at
	}
	return &Entry{
		Offset: u.space.base + Offset(at), Unit: u, Tag: plan.tag, HasChildren: plan.children, plan: plan, attrs: c.at,
	}, c.at
}

func (e *Entry) cursor() cursor { return e.Unit.cursor(e.attrs) }

// cursor reads the DIEs of a unit.
func (u *Unit) cursor(at uint64) cursor { return u.cursorAt(u.space.data[:u.end], at) }

// cursorAt reads a section that goes with the unit.
func (u *Unit) cursorAt(section []byte, at uint64) cursor {
	return encoding{u.space.image.big, u.format.addrSize}.cursorAt(section, at)
}

// end is where the next DIE begins, a child if there are any.
func (e *Entry) end() (uint64, bool) {
	c := e.cursor()
	for _, s := range e.plan.steps {
		e.Unit.format.step(&c, s)
	}
	return c.at, !c.bad
}

// step steps over a part of a DIE without a look at it.
func (f format) step(c *cursor, s step) {
	if s.kind == stepSkip {
		c.skip(uint64(s.size))
		return
	}
	f.skipForm(c, s.form)
}

// Value is the value of an attribute of this very DIE.
func (e *Entry) Value(attr dwarf.Attr) (Value, bool) {
	c := e.cursor()
	for _, s := range e.plan.specs {
		if s.attr == attr {
			return e.Unit.value(&c, s)
		}
		e.Unit.format.skipForm(&c, s.form)
	}
	return Value{}, false
}

// Attributes are all attributes, in the order of the file.
func (e *Entry) Attributes() iter.Seq[Attribute] {
	return func(yield func(Attribute) bool) {
		c := e.cursor()
		for _, s := range e.plan.specs {
			v, ok := e.Unit.value(&c, s)
			if c.bad || ok && !yield(Attribute{s.attr, v}) {
				return
			}
		}
	}
}

// Has reports whether the DIE has an attribute.
func (e *Entry) Has(attr dwarf.Attr) bool {
	for _, s := range e.plan.specs {
		if s.attr == attr {
			return true
		}
	}
	return false
}

// Name is DW_AT_name, empty without one.
func (e *Entry) Name() string { return e.Text(dwarf.AttrName) }

// Text is the string of an attribute, empty without one.
func (e *Entry) Text(attr dwarf.Attr) string {
	v, _ := e.Value(attr)
	if v.Class != ClassString {
		return ""
	}
	return v.String()
}

// Unsigned is Value.Unsigned of an attribute; false without one.
func (e *Entry) Unsigned(attr dwarf.Attr) (uint64, bool) {
	v, ok := e.Value(attr)
	n, constant := v.Unsigned()
	return n, ok && constant
}

// Signed is Value.Signed of an attribute; false without one.
func (e *Entry) Signed(attr dwarf.Attr) (int64, bool) {
	v, ok := e.Value(attr)
	n, constant := v.Signed()
	return n, ok && constant
}

// Addr is the value of an attribute that is an address.
func (e *Entry) Addr(attr dwarf.Attr) (arch.Addr, bool) {
	v, ok := e.Value(attr)
	return v.Addr(), ok && v.Class == ClassAddress
}

// Ref is the DIE that an attribute refers to.
func (e *Entry) Ref(attr dwarf.Attr) (Offset, bool) {
	v, ok := e.Value(attr)
	return v.Offset(), ok && v.Class == ClassReference
}

// Bool is the value of a flag; false without one.
func (e *Entry) Bool(attr dwarf.Attr) bool {
	v, ok := e.Value(attr)
	return ok && v.Class == ClassFlag && v.num != 0
}

// Expr is the expression of an attribute. One whose value depends on the pc is none; Locations has those as well.
func (e *Entry) Expr(attr dwarf.Attr) ([]byte, bool) {
	v, ok := e.Value(attr)
	return v.bytes, ok && (v.Class == ClassExpr || v.Class == ClassBlock)
}

// Children are the DIEs directly below one.
func (f *File) Children(e *Entry) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		if !e.HasChildren {
			return
		}
		at, ok := e.end()
		for ok {
			child, _ := e.Unit.entry(at)
			if child == nil || !yield(child) {
				return
			}
			next, found := e.Unit.after(child)
			ok = found && next > at
			at = next
		}
	}
}

// after is where what follows a DIE and all below it begins.
func (u *Unit) after(e *Entry) (uint64, bool) {
	if !e.HasChildren {
		return e.end()
	}
	if v, ok := e.Value(dwarf.AttrSibling); ok && v.Class == ClassReference && v.Offset() > e.Offset {
		return uint64(v.Offset() % spaceSize), true
	}
	at := uint64(e.Offset % spaceSize)
	nesting := u.nesting()
	if i := searchNest(nesting, at); i < len(nesting) && nesting[i].at == at {
		return nesting[i].end, true
	}
	return 0, false
}

// nest is a DIE with children: everything from at up to end is below it.
type nest struct {
	at, end uint64
	parent  int32 // in the same list, -1 for the unit itself
}

func searchNest(list []nest, at uint64) int {
	return sort.Search(len(list), func(i int) bool { return list[i].at >= at })
}

// readNesting finds what is below what in a unit. What no end was found for ends with the unit.
func (u *Unit) readNesting() []nest {
	var list []nest
	plans := u.plans()
	c := u.cursor(u.first)
	open := int32(-1)
	for c.more() {
		at := c.at
		code := c.uleb()
		if code == 0 {
			if open < 0 {
				break
			}
			list[open].end = c.at
			if open = list[open].parent; open < 0 {
				break
			}
			continue
		}
		plan := plans.find(code)
		if plan == nil {
			break
		}
		for _, s := range plan.steps {
			u.format.step(&c, s)
		}
		if c.bad {
			break
		}
		if plan.children {
			list = append(list, nest{at, u.end, open})
			open = int32(len(list) - 1)
		}
	}
	return list
}

// Parent is the DIE that one is directly below, nil for that of a unit.
func (f *File) Parent(e *Entry) *Entry {
	at := uint64(e.Offset % spaceSize)
	list := e.Unit.nesting()
	i := int32(searchNest(list, at)) - 1
	for i >= 0 && list[i].end <= at {
		i = list[i].parent
	}
	if i < 0 {
		return nil
	}
	parent, _ := e.Unit.entry(list[i].at)
	return parent
}

// longestChain is how many origins a DIE may have; damaged files have rings of them.
const longestChain = 16

// Origin is the DIE that one completes: the declaration that a definition specifies, or the abstract instance of a concrete one.
// It is nil when there is none.
func (f *File) Origin(e *Entry) *Entry {
	for _, attr := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		if off, ok := e.Ref(attr); ok {
			if origin, err := f.Entry(off); err == nil && off != e.Offset {
				return origin
			}
		}
	}
	return nil
}

// Lookup is the value of an attribute of a DIE or else of what it completes.
func (f *File) Lookup(e *Entry, attr dwarf.Attr) (Value, bool) {
	for range longestChain {
		if v, ok := e.Value(attr); ok {
			return v, true
		}
		if e = f.Origin(e); e == nil {
			break
		}
	}
	return Value{}, false
}

// Name is the name of a DIE or else of what it completes.
func (f *File) Name(e *Entry) string {
	v, _ := f.Lookup(e, dwarf.AttrName)
	if v.Class != ClassString {
		return ""
	}
	return v.String()
}
