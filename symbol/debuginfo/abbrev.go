package debuginfo

import "debug/dwarf"

// abbrev is the plan by which DIEs are laid out: their tag, whether they have children, their attributes. What a pass over all
// DIEs wants to know of them is worked out here, once: steps is how to get from the first attribute to the next DIE with a stop
// at each attribute that such a pass reads, runs of others of known size having become one step.
type abbrev struct {
	tag      dwarf.Tag
	children bool
	traits   traits
	kind     Kind // for the index of names
	specs    []attrSpec
	steps    []step
}

// traits are what a DIE says by having an attribute at all.
type traits uint8

const (
	declares     traits = 1 << iota // DW_AT_declaration: the thing itself is described elsewhere
	inlines                         // DW_AT_inline: an abstract instance
	hasCode                         // DW_AT_low_pc, DW_AT_ranges or DW_AT_entry_pc
	hasPlace                        // DW_AT_location or DW_AT_const_value
	copies                          // DW_AT_abstract_origin: a concrete instance of something
	exports                         // DW_AT_export_symbols: an inline namespace
	refersAbroad                    // an origin may be in another unit
)

// step is one stop on the way over a DIE.
type step struct {
	kind stepKind
	form form
	size uint32 // of stepSkip
}

type stepKind uint8

const (
	stepSkip    stepKind = iota // size bytes
	stepForm                    // over what form says
	stepName                    // DW_AT_name
	stepOrigin                  // DW_AT_specification, DW_AT_abstract_origin
	stepSibling                 // DW_AT_sibling
)

// abbrevs are the plans that a unit uses, by number. Compilers number from 1; other numbers are in sparse.
type abbrevs struct {
	dense  []abbrev
	sparse map[uint64]*abbrev
}

func (t *abbrevs) find(code uint64) *abbrev {
	if code-1 < uint64(len(t.dense)) {
		return &t.dense[code-1]
	}
	return t.sparse[code]
}

// readAbbrevs reads the table at an offset of the section, for units of a format. A damaged table ends where the damage is.
func readAbbrevs(section []byte, at uint64, f format) *abbrevs {
	t := &abbrevs{}
	c := cursorAt(section, at)
	for c.more() {
		code := c.uleb()
		if code == 0 {
			break
		}
		a := readAbbrev(&c)
		if c.bad {
			break
		}
		a.plan(f)
		if code == uint64(len(t.dense))+1 {
			t.dense = append(t.dense, a)
			continue
		}
		if t.sparse == nil {
			t.sparse = map[uint64]*abbrev{}
		}
		t.sparse[code] = &a
	}
	return t
}

// findAbbrev reads one plan and none of the others. It is for the first DIE of a unit that nobody may ever ask more of.
func findAbbrev(section []byte, at, code uint64) *abbrev {
	c := cursorAt(section, at)
	for c.more() {
		found := c.uleb()
		if found == 0 {
			return nil
		}
		a := readAbbrev(&c)
		if found == code && !c.bad {
			return &a
		}
	}
	return nil
}

func readAbbrev(c *cursor) abbrev {
	var specs [64]attrSpec
	a := abbrev{tag: dwarf.Tag(c.uleb()), children: c.u8() != 0}
	list := specs[:0]
	for !c.bad {
		s := attrSpec{attr: dwarf.Attr(c.uleb()), form: form(c.uleb())}
		if s.form == formImplicit {
			s.implicit = c.sleb()
		}
		if s.attr == 0 && s.form == 0 {
			break
		}
		list = append(list, s)
	}
	a.specs = append([]attrSpec(nil), list...)
	return a
}

// attributes of GNU that package dwarf does not name.
const (
	attrGNUdwoName    dwarf.Attr = 0x2130
	attrGNUdwoID      dwarf.Attr = 0x2131
	attrGNUrangesBase dwarf.Attr = 0x2132
	attrGNUaddrBase   dwarf.Attr = 0x2133
)

var attrTraits = map[dwarf.Attr]traits{
	dwarf.AttrDeclaration: declares, dwarf.AttrInline: inlines, dwarf.AttrLowpc: hasCode, dwarf.AttrRanges: hasCode,
	dwarf.AttrEntrypc: hasCode, dwarf.AttrLocation: hasPlace, dwarf.AttrConstValue: hasPlace,
	dwarf.AttrAbstractOrigin: copies, dwarf.AttrExportSymbols: exports,
}

var attrSteps = map[dwarf.Attr]stepKind{
	dwarf.AttrName: stepName, dwarf.AttrSpecification: stepOrigin, dwarf.AttrAbstractOrigin: stepOrigin, dwarf.AttrSibling: stepSibling,
}

// plan works out traits and steps.
func (a *abbrev) plan(f format) {
	steps := make([]step, 0, 8)
	for _, s := range a.specs {
		a.traits |= attrTraits[s.attr]
		kind := attrSteps[s.attr]
		if kind == stepOrigin && !s.form.local() {
			a.traits |= refersAbroad
		}
		size := f.size(s.form.shape().size)
		switch {
		case kind != stepSkip:
			steps = append(steps, step{kind: kind, form: s.form})
		case size < 0:
			steps = append(steps, step{kind: stepForm, form: s.form})
		case len(steps) > 0 && steps[len(steps)-1].kind == stepSkip:
			steps[len(steps)-1].size += uint32(size)
		case size > 0:
			steps = append(steps, step{kind: stepSkip, size: uint32(size)})
		}
	}
	a.steps = append([]step(nil), steps...)
	a.kind = a.indexed()
}

// local reports whether a reference of this form stays within its unit.
func (f form) local() bool {
	switch f {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		return true
	}
	return false
}
