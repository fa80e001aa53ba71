package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"math"
	"slices"
	"sort"

	"tracewell/arch"
	"tracewell/internal/radix"
)

// Range is the addresses from Begin up to End, without End.
type Range struct{ Begin, End arch.Addr }

// Has reports whether an address is in the range.
func (r Range) Has(addr arch.Addr) bool { return addr >= r.Begin && addr < r.End }

func sortRanges(list []Range) {
	slices.SortFunc(list, func(a, b Range) int { return cmp.Compare(a.Begin, b.Begin) })
}

// Ranges are the addresses of the code of a DIE, in the order of the file, without code that the linker discarded (--gc-sections,
// COMDAT groups). A function in one piece has one. GCC splits a function in a hot and a cold piece at -O2; the piece that is
// entered comes first, which need not be the lowest.
//
// DW_AT_high_pc is an address in DWARF 2 and 3; a constant, since DWARF 4, is the length instead (2.17.2).
func (f *File) Ranges(e *Entry) []Range {
	var all []Range
	if v, ok := e.Value(dwarf.AttrRanges); ok {
		all = e.Unit.rangeList(v)
	} else if low, ok := e.Addr(dwarf.AttrLowpc); ok {
		high, ok := e.Value(dwarf.AttrHighpc)
		if !ok {
			return nil
		}
		end := high.Addr()
		if high.Class != ClassAddress {
			end = low + arch.Addr(high.num)
		}
		all = []Range{{low, end}}
	}
	return slices.DeleteFunc(all, func(r Range) bool { return r.End <= r.Begin || !f.HasCode(r.Begin) })
}

// rootRanges are the ranges of a unit; those of a split one are in the linked file, except in the GNU dialect. In strict DWARF 2
// there is no attribute for code in several sections: Clang then writes nothing but a DW_AT_low_pc of 0, and the functions of the
// unit have to say it.
func (f *File) rootRanges(u *Unit) []Range {
	silent := false
	for _, from := range []*Unit{u.linked(), u} {
		if root, _ := from.entry(from.first); root != nil {
			if all := f.Ranges(root); len(all) > 0 {
				return all
			}
			_, low := root.Addr(dwarf.AttrLowpc)
			_, high := root.Value(dwarf.AttrHighpc)
			silent = silent || low && !high
		}
	}
	if !silent {
		return nil
	}
	var all []Range
	for _, function := range u.functions() {
		all = append(all, function.Range)
	}
	return all
}

// rangeList reads a list of ranges: of .debug_rnglists in DWARF 5, of .debug_ranges before. GNU's split units have theirs in the
// linked file, from the skeleton's DW_AT_GNU_ranges_base on.
func (u *Unit) rangeList(v Value) []Range {
	if u.Version >= 5 {
		section := u.space.section(".debug_rnglists")
		at, ok := u.listOffset(v, section, u.rnglistsBase)
		if !ok {
			return nil
		}
		return u.newRanges(u.cursorAt(section, at))
	}
	image, at := u.space.image, v.num
	if u.skeleton != nil {
		image, at = u.skeleton.space.image, at+u.skeleton.rangesBase
	}
	return u.oldRanges(u.cursorAt(image.section(".debug_ranges"), at))
}

// section is the content of a section that goes with the DIEs of a space; those of a .dwo file end in .dwo.
func (s *space) section(name string) []byte {
	if s.dwo {
		name += ".dwo"
	}
	return s.image.section(name)
}

// listOffset is where a list begins: at an offset of the section (DW_FORM_sec_offset), or at entry v of the table of offsets at
// base (DW_FORM_rnglistx, loclistx), whose entries are relative to base themselves (DWARF 5, 7.28).
func (u *Unit) listOffset(v Value, section []byte, base uint64) (uint64, bool) {
	if v.Class != ClassListIndex {
		return v.num, v.Class == ClassSection || v.Class == ClassConstant
	}
	c := u.cursorAt(section, indexed(base, v.num, u.format.offsetSize()))
	at := c.offset(u.format.dwarf64)
	return base + at, !c.bad
}

// lowest is what the offsets of a unit's lists are relative to until an entry selects another base: DW_AT_low_pc of the unit, which
// a split unit has in its skeleton. It is 0 where a unit has several ranges of code.
func (u *Unit) lowest() arch.Addr { return u.linked().low }

// oldRanges reads a list of .debug_ranges.
func (u *Unit) oldRanges(c cursor) []Range {
	var all []Range
	u.pairs(&c, func(r Range) { all = append(all, r) })
	return all
}

// pairs reads a list of DWARF 2 to 4 (2.17.3, 2.6.2): pairs of offsets from a base, until one of zeros. A pair whose first offset
// is all ones selects the second as base. The visitor reads what follows the pair, an expression in .debug_loc.
func (u *Unit) pairs(c *cursor, visit func(Range)) {
	base := uint64(u.lowest())
	for !c.bad {
		begin, end := uint64(c.addr()), uint64(c.addr())
		switch {
		case c.bad || begin == 0 && end == 0:
			return
		case begin == uint64(c.truncate(math.MaxUint64)):
			base = end
		default:
			visit(Range{c.truncate(base + begin), c.truncate(base + end)})
		}
	}
}

// The kinds of entries of DWARF 5's lists (7.25, DW_RLE_*); locations and ranges have the same ones, but for default_location,
// which moves those behind it by one. GCC 12 writes a base address and offset pairs, Clang 14 startx_length for the pieces of a
// unit.
const (
	listEnd          = iota
	listBasex        // the base is an entry of .debug_addr
	listStartxEndx   // two entries of .debug_addr
	listStartxLength // an entry of .debug_addr and a length
	listOffsetPair   // two offsets from the base
	listBase         // the base is an address
	listStartEnd     // two addresses
	listStartLength  // an address and a length
)

// newRanges reads a list of .debug_rnglists.
func (u *Unit) newRanges(c cursor) []Range {
	var all []Range
	base := u.lowest()
	for !c.bad {
		kind := int(c.u8())
		r, isRange, ok := u.listEntry(&c, kind, &base)
		if !ok {
			break
		}
		if isRange {
			all = append(all, r)
		}
	}
	return all
}

// listEntry reads an entry of a list, which may be a range or set the base of those behind it.
func (u *Unit) listEntry(c *cursor, kind int, base *arch.Addr) (r Range, isRange, ok bool) {
	indexed := func() arch.Addr {
		addr, found := u.address(c.uleb())
		if !found {
			c.fail()
		}
		return addr
	}
	switch kind {
	case listBasex:
		*base = indexed()
		return r, false, !c.bad
	case listBase:
		*base = c.addr()
		return r, false, !c.bad
	case listStartxEndx:
		r.Begin = indexed()
		r.End = indexed()
	case listStartxLength:
		r.Begin = indexed()
		r.End = r.Begin + arch.Addr(c.uleb())
	case listOffsetPair:
		r.Begin = c.truncate(uint64(*base) + c.uleb())
		r.End = c.truncate(uint64(*base) + c.uleb())
	case listStartEnd:
		r.Begin, r.End = c.addr(), c.addr()
	case listStartLength:
		r.Begin = c.addr()
		r.End = r.Begin + arch.Addr(c.uleb())
	default:
		return r, false, false
	}
	return r, true, !c.bad
}

// unitRange is a range of code, and whose it is.
type unitRange struct {
	Range
	unit *Unit
}

// readUnitRanges finds which units have which code. .debug_aranges would say it, but Clang does not write it by default, and a file
// may mix objects of both; the roots of all units are at hand anyway.
func (f *File) readUnitRanges() []unitRange {
	lists := make([][]Range, len(f.units))
	each(len(lists), func(i int) { lists[i] = f.rootRanges(f.units[i]) })
	total := 0
	for _, list := range lists {
		total += len(list)
	}
	all := make([]unitRange, 0, total)
	for i, list := range lists {
		for _, r := range list {
			all = append(all, unitRange{r, f.units[i]})
		}
	}
	radix.Sort(all, func(r *unitRange) uint64 { return uint64(r.Begin) })
	return all
}

// UnitAt is the unit that has the code at an address, nil when none has.
func (f *File) UnitAt(pc arch.Addr) *Unit {
	all := f.unitRanges()
	i := sort.Search(len(all), func(i int) bool { return all[i].Begin > pc })
	for back := 0; i > 0 && back < 8; back++ { // ranges of damaged files overlap
		i--
		if all[i].Has(pc) {
			return all[i].unit
		}
	}
	return nil
}

// FunctionAt is the function that has the code at an address: the concrete one, whatever was inlined into it. It is nil when the
// debug information has none there.
func (f *File) FunctionAt(pc arch.Addr) *Entry {
	u := f.UnitAt(pc)
	if u == nil {
		return nil
	}
	list := u.functions()
	i := sort.Search(len(list), func(i int) bool { return list[i].Begin > pc })
	if i == 0 || !list[i-1].Has(pc) {
		return nil
	}
	e, _ := u.entry(list[i-1].at)
	return e
}

// functionRange is a range of code, and the DIE of its function.
type functionRange struct {
	Range
	at uint64
}

// readFunctions lists the concrete functions of a unit by address, wherever they are nested: in namespaces and classes, and GNU C's
// nested functions in another function.
func (u *Unit) readFunctions() []functionRange {
	var all []functionRange
	u.eachEntry(func(at uint64, a *abbrev) {
		if a.tag != dwarf.TagSubprogram || a.traits&hasCode == 0 {
			return
		}
		if e, _ := u.entry(at); e != nil {
			for _, r := range u.space.file.Ranges(e) {
				all = append(all, functionRange{r, at})
			}
		}
	})
	slices.SortFunc(all, func(a, b functionRange) int { return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.at, b.at)) })
	return all
}

// eachEntry visits all DIEs of a unit in the order of the file, as far as it is sound.
func (u *Unit) eachEntry(visit func(at uint64, a *abbrev)) {
	u.walk(func(at, _ uint64, a *abbrev) bool {
		if a != nil {
			visit(at, a)
		}
		return true
	})
}

// isScope reports whether the names in a DIE are part of longer ones: ns::Class::method.
func isScope(tag dwarf.Tag) bool {
	switch tag {
	case dwarf.TagNamespace, dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagModule, dwarf.TagInterfaceType,
		dwarf.TagEnumerationType:
		return true
	}
	return false
}
