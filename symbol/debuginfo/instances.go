package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"sort"

	"tracewell/arch"
)

// Instance is code of a function: the function itself, a clone that the compiler has made of it, or a copy inlined elsewhere.
type Instance struct {
	Entry   *Entry
	Inlined bool
	EntryPC arch.Addr // where execution enters it
	Ranges  []Range
}

// inlinedCopy is a DIE that is a concrete instance of another. Lists of them are sorted by root, then by place, and searched by
// root: DWARF leads from a copy to its origin only.
type inlinedCopy struct{ root, copy Offset }

func byRoot(a, b inlinedCopy) int {
	return cmp.Or(cmp.Compare(a.root, b.root), cmp.Compare(a.copy, b.copy))
}

// Root is the one DIE that all code of a function refers to: of a concrete instance, the abstract one; of anything else, itself.
func (f *File) Root(off Offset) Offset {
	for range longestChain {
		e, err := f.Entry(off)
		if err != nil {
			break
		}
		next, ok := e.Ref(dwarf.AttrAbstractOrigin)
		if !ok {
			break
		}
		off = next
	}
	return off
}

// Instances are all code of a function, given by any of its DIEs: its own, then all copies in the order of the file.
func (f *File) Instances(off Offset) []Instance {
	root := f.Root(off)
	e, err := f.Entry(root)
	if err != nil {
		return nil
	}
	var all []Instance
	add := func(e *Entry) {
		if ranges := f.Ranges(e); len(ranges) > 0 {
			all = append(all, Instance{e, e.Tag == dwarf.TagInlinedSubroutine, f.entryPC(e, ranges), ranges})
		}
	}
	add(e)
	for _, list := range [][]inlinedCopy{e.Unit.inlined(), f.crossUnit()} {
		i := sort.Search(len(list), func(i int) bool { return list[i].root >= root })
		for ; i < len(list) && list[i].root == root; i++ {
			if e, err := f.Entry(list[i].copy); err == nil {
				add(e)
			}
		}
	}
	return all
}

// entryPC is where a function or an inlined copy is entered: where DW_AT_entry_pc says, or at the beginning of its first range.
func (f *File) entryPC(e *Entry, ranges []Range) arch.Addr {
	v, ok := e.Value(dwarf.AttrEntrypc)
	switch {
	case !ok:
		return ranges[0].Begin
	case v.Class == ClassAddress:
		return v.Addr()
	}
	return ranges[0].Begin + arch.Addr(v.num)
}

// findInlined lists the copies in a unit of functions of the same unit, which is where all of them are without -flto. So the
// copies of one function cost the reading of one unit.
func (u *Unit) findInlined() []inlinedCopy {
	return slices.DeleteFunc(u.copies(), func(c inlinedCopy) bool { return !u.has(c.root) })
}

func (u *Unit) has(off Offset) bool {
	return off >= u.space.base+Offset(u.start) && off < u.space.base+Offset(u.end)
}

// findCrossUnit lists the copies of functions of other units, which link-time optimization makes, in GCC 12 by abstract instances
// in one unit and code in others. Units without a DW_FORM_ref_addr origin are not read again.
func (f *File) findCrossUnit() []inlinedCopy {
	x := f.names()
	found := make([][]inlinedCopy, len(f.units))
	f.eachUnit(func(i int, u *Unit) {
		if x.refersOutside[i] {
			found[i] = slices.DeleteFunc(u.copies(), func(c inlinedCopy) bool { return u.has(c.root) })
		}
	})
	all := slices.Concat(found...)
	slices.SortFunc(all, byRoot)
	return all
}

// copies lists all concrete instances of a unit: inlined copies, and functions that have code apart from their abstract instance or
// their declaration, such as the out-of-line copy of an inline function, a clone (.constprop) or a part split off (.cold).
func (u *Unit) copies() []inlinedCopy {
	var all []inlinedCopy
	u.eachEntry(func(at uint64, a *abbrev) {
		if a.traits&hasCode == 0 || a.tag != dwarf.TagInlinedSubroutine && a.tag != dwarf.TagSubprogram {
			return
		}
		e, _ := u.entry(at)
		for _, attr := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
			if origin, ok := e.Ref(attr); ok {
				all = append(all, inlinedCopy{u.space.file.Root(origin), e.Offset})
			}
		}
	})
	slices.SortFunc(all, byRoot)
	return all
}
