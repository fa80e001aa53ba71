package debuginfo

import (
	"debug/dwarf"

	"tracewell/arch"
)

// LocationRange is where something lies while the pc is in a range.
type LocationRange struct {
	Range
	Always  bool // whatever the pc; there is nothing else then
	Default bool // where no other entry has the pc
	Expr    []byte
}

// Locations are the expressions of an attribute, such as DW_AT_location, each with the range of the pc that it is for. A list
// without an entry for a pc says that the thing is not there then (optimized out). An empty range is for the entry of a function.
func (f *File) Locations(e *Entry, attr dwarf.Attr) []LocationRange {
	v, ok := e.Value(attr)
	if !ok {
		return nil
	}
	switch u := e.Unit; v.Class {
	case ClassExpr, ClassBlock:
		return []LocationRange{{Always: true, Expr: v.bytes}}
	case ClassListIndex, ClassSection:
		return u.locationList(v)
	case ClassConstant:
		if u.Version < 4 {
			return u.locationList(v)
		}
	}
	return nil
}

// LocationAt is the expression of an attribute at a pc, nil when there is none there. Where ranges overlap the first one counts, as
// in GDB. An empty range [pc, pc) is valid at the entry of a function and nowhere else, as in GDB.
func (f *File) LocationAt(e *Entry, attr dwarf.Attr, pc arch.Addr) []byte {
	var rest []byte
	for _, l := range f.Locations(e, attr) {
		switch {
		case l.Always || !l.Default && (l.Has(pc) || l.Begin == pc && l.End == pc && f.isEntry(pc)):
			return l.Expr
		case l.Default:
			rest = l.Expr
		}
	}
	return rest
}

// isEntry reports whether a function begins at an address.
func (f *File) isEntry(pc arch.Addr) bool {
	function := f.FunctionAt(pc)
	return function != nil && f.Ranges(function)[0].Begin == pc
}

// locationList reads the list that an attribute refers to: of .debug_loclists in DWARF 5, of .debug_loc before, where GNU's split
// units have a form of their own.
func (u *Unit) locationList(v Value) []LocationRange {
	if u.Version >= 5 {
		section := u.space.section(".debug_loclists")
		at, ok := u.listOffset(v, section, u.loclistBase)
		if !ok {
			return nil
		}
		return u.newLocations(u.cursorAt(section, at))
	}
	c := u.cursorAt(u.space.section(".debug_loc"), v.num)
	if u.space.dwo {
		return u.splitLocations(c)
	}
	return u.oldLocations(c)
}

// oldLocations reads a list of .debug_loc: each pair is followed by an expression of up to 65535 bytes.
func (u *Unit) oldLocations(c cursor) []LocationRange {
	var all []LocationRange
	u.pairs(&c, func(r Range) {
		expr := c.bytes(uint64(c.u16()))
		if !c.bad && r.Begin <= r.End {
			all = append(all, LocationRange{Range: r, Expr: expr})
		}
	})
	return all
}

// splitLocations reads the lists of GNU's split DWARF 4 (.debug_loc.dwo): a kind (DW_LLE_GNU_*), operands that are indexes of
// .debug_addr or numbers of four bytes, and the length of the expression in two bytes.
func (u *Unit) splitLocations(c cursor) []LocationRange {
	var all []LocationRange
	base := u.lowest()
	for !c.bad {
		var r Range
		kind := c.u8()
		switch kind {
		case 1: // a base
			addr, ok := u.address(c.uleb())
			if !ok {
				return all
			}
			base = addr
			continue
		case 2:
			r.Begin, _ = u.address(c.uleb())
			r.End, _ = u.address(c.uleb())
		case 3:
			r.Begin, _ = u.address(c.uleb())
			r.End = r.Begin + arch.Addr(c.u32())
		case 4:
			r.Begin, r.End = base+arch.Addr(c.u32()), base+arch.Addr(c.u32())
		default:
			return all
		}
		expr := c.bytes(uint64(c.u16()))
		if !c.bad && r.Begin <= r.End {
			all = append(all, LocationRange{Range: r, Expr: expr})
		}
	}
	return all
}

// The kinds of entries that only lists of locations have.
const (
	locationDefault  = 5 // DW_LLE_default_location: wherever no other entry has the pc
	locationViewPair = 9 // DW_LLE_GNU_view_pair, by which GCC tells apart statements at one address
)

// newLocations reads a list of .debug_loclists (DWARF 5, 7.29). The numbers behind default_location are one higher than those of
// the same kinds in range lists.
func (u *Unit) newLocations(c cursor) []LocationRange {
	var all []LocationRange
	base := u.lowest()
	for !c.bad {
		l := LocationRange{}
		isRange, ok := true, true
		switch kind := int(c.u8()); {
		case kind == locationViewPair: // which of the statements at one address: of no use to whoever stops at addresses
			c.skipLeb()
			c.skipLeb()
			continue
		case kind == locationDefault:
			l.Default = true
		case kind > locationDefault:
			l.Range, isRange, ok = u.listEntry(&c, kind-1, &base)
		default:
			l.Range, isRange, ok = u.listEntry(&c, kind, &base)
		}
		if !ok {
			break
		}
		if !isRange {
			continue
		}
		l.Expr = c.bytes(c.uleb())
		if !c.bad && (l.Default || l.Begin <= l.End) {
			all = append(all, l)
		}
	}
	return all
}
