package debuginfo

import (
	"debug/dwarf"
	"fmt"
	"iter"
	"sort"

	"tracewell/arch"
)

// Entry is one DIE. Its attributes are decoded when they are asked for; an Entry holds no more than where they are. Entries are
// made at each visit and are not unique: compare Offsets, not pointers.
type Entry struct {
	Offset      Offset
	Unit        *Unit
	Tag         dwarf.Tag
	HasChildren bool

	abbrev *abbrev
	attrs  uint64 // where the attributes begin
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

// entry reads the DIE at an offset of the unit's section, nil at the null entry (code 0) that ends a list of children and where
// nothing can be read, and the offset at which its attributes begin.
func (u *Unit) entry(at uint64) (*Entry, uint64) {
	c := u.cursor(at)
	code := c.uleb()
	a := u.abbrevs().find(code)
	if code == 0 || a == nil {
		return nil, c.at
	}
	return &Entry{
		Offset: u.space.base + Offset(at), Unit: u, Tag: a.tag, HasChildren: a.children, abbrev: a, attrs: c.at,
	}, c.at
}

func (e *Entry) cursor() cursor { return e.Unit.cursor(e.attrs) }

// cursor reads the DIEs of a unit.
func (u *Unit) cursor(at uint64) cursor { return u.cursorAt(u.space.data[:u.end], at) }

// cursorAt reads a section that goes with the unit.
func (u *Unit) cursorAt(section []byte, at uint64) cursor {
	return encoding{u.space.image.big, u.format.addrSize}.cursorAt(section, at)
}

// end is where the DIE's attributes end and the next DIE begins: its first child if it has any.
func (e *Entry) end() (uint64, bool) {
	c := e.cursor()
	for _, s := range e.abbrev.steps {
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

// Value is the value of an attribute of this very DIE; Lookup also follows origins. Attributes have no fixed place, so those in
// front of it are skipped by their forms.
func (e *Entry) Value(attr dwarf.Attr) (Value, bool) {
	c := e.cursor()
	for _, s := range e.abbrev.specs {
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
		for _, s := range e.abbrev.specs {
			v, ok := e.Unit.value(&c, s)
			if c.bad || ok && !yield(Attribute{s.attr, v}) {
				return
			}
		}
	}
}

// Has reports whether the DIE has an attribute.
func (e *Entry) Has(attr dwarf.Attr) bool {
	for _, s := range e.abbrev.specs {
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

// Children are the DIEs directly below one, in the order of the file. The sequence ends early where the file is damaged: each child
// must lie behind the one before, so that a sibling reference cannot lead in a circle.
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

// after is the offset behind a DIE and everything below it. DW_AT_sibling says it without reading the children; GCC 12 writes
// it on DIEs that have children, Clang 14 nowhere. Without it the nesting of the unit is read, once, and searched.
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

// readNesting lists the DIEs with children, in the order of the file, so that outer ones come before what is in them. One whose
// null entry is missing ends with the unit.
func (u *Unit) readNesting() []nest {
	var list []nest
	open := int32(-1)
	u.walk(func(at, end uint64, a *abbrev) bool {
		switch {
		case a == nil && open < 0:
			return false
		case a == nil:
			list[open].end = end
			open = list[open].parent
			return open >= 0
		case a.children:
			list = append(list, nest{at, u.end, open})
			open = int32(len(list) - 1)
		}
		return true
	})
	return list
}

// walk visits all DIEs of a unit in the order of the file, as far as it is sound, until visit returns false: where each is, where
// the next begins, and its declaration, which is nil for a null entry.
func (u *Unit) walk(visit func(at, end uint64, a *abbrev) bool) {
	abbrevs := u.abbrevs()
	for c := u.cursor(u.first); c.more(); {
		at := c.at
		code := c.uleb()
		a := abbrevs.find(code)
		if code != 0 && a == nil {
			return
		}
		if a != nil {
			for _, s := range a.steps {
				u.format.step(&c, s)
			}
		}
		if c.bad || !visit(at, c.at, a) {
			return
		}
	}
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

// Origin is the DIE that one completes: the abstract instance of a concrete one (DW_AT_abstract_origin; DWARF 5, 3.3.8), or the
// declaration in a class or namespace that a definition elsewhere completes (DW_AT_specification, 2.13.2). It is nil when there is
// none.
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

// Lookup is the value of an attribute of a DIE or else of what it completes. DW_AT_sibling and DW_AT_declaration are never
// inherited; ask Value or Bool for these.
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
