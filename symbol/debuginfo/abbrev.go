package debuginfo

import (
	"debug/dwarf"
	"slices"
)

// abbrev is an abbreviation declaration (DWARF 5, 7.5.3): the layout that all DIEs with its code share, that is their tag, whether
// they have children, and the attributes with their forms.
//
// A pass over all DIEs of a large program looks at few attributes of each. What it needs is computed here, once per declaration:
// steps leads from the first attribute to the next DIE with a stop at each attribute that a pass reads. Attributes of fixed size in
// between are merged into one step.
type abbrev struct {
	tag      dwarf.Tag
	children bool
	traits   traits
	kind     Kind // for the index of names
	specs    []attrSpec
	steps    []step
}

// traits are the facts that the presence of an attribute states, whatever its value is, so that the declaration tells them of
// all its DIEs. A flag with the value false
// would be misread; compilers leave the attribute out instead.
type traits uint8

const (
	declares      traits = 1 << iota // DW_AT_declaration: the thing itself is described elsewhere
	inlines                          // DW_AT_inline: an abstract instance
	hasCode                          // DW_AT_low_pc, DW_AT_ranges or DW_AT_entry_pc
	hasLocation                      // DW_AT_location or DW_AT_const_value
	copies                           // DW_AT_abstract_origin: a concrete instance of something
	exports                          // DW_AT_export_symbols: an inline namespace
	refersOutside                    // an origin may be in another unit
)

// step is one stop on the way over a DIE. A pass that has no use for the attribute skips it by its form.
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

// abbrevs is the table of .debug_abbrev that a unit uses, by code. Compilers number from 1 without gaps, which makes dense a plain
// array; the standard allows any numbers, and those behind a gap are in sparse.
type abbrevs struct {
	dense  []abbrev
	sparse map[uint64]*abbrev
}

// find returns the declaration of a code, nil if the table has none: the unit is damaged from there on.
func (t *abbrevs) find(code uint64) *abbrev {
	if code-1 < uint64(len(t.dense)) {
		return &t.dense[code-1]
	}
	return t.sparse[code]
}

// readAbbrevs reads the table at an offset of the section, for units of a format. A damaged table ends where the damage is.
func readAbbrevs(section []byte, at uint64, f format) *abbrevs {
	t := &abbrevs{}
	t.read(section, at, f)
	return t
}

// read reads a table in place of the one that there was, whose memory it uses: a program has thousands of units.
func (t *abbrevs) read(section []byte, at uint64, f format) {
	t.dense, t.sparse = t.dense[:0], nil
	c := cursorAt(section, at)
	for c.more() {
		code := c.uleb()
		if code == 0 {
			break
		}
		a := &abbrev{}
		dense := code == uint64(len(t.dense))+1
		if dense {
			t.dense = slices.Grow(t.dense, 1)[:len(t.dense)+1]
			a = &t.dense[code-1]
		}
		a.read(&c)
		switch a.prepare(f); {
		case c.bad && dense:
			t.dense = t.dense[:code-1]
		case c.bad || dense:
		case t.sparse == nil:
			t.sparse = map[uint64]*abbrev{code: a}
		default:
			t.sparse[code] = a
		}
	}
}

// findAbbrev reads the table up to one declaration, nil if it is missing. Opening a file reads the root DIE of every unit, and most
// units are never asked for more: parsing the whole table for each would cost more than all the rest of opening.
func findAbbrev(section []byte, at, code uint64) *abbrev {
	a := &abbrev{}
	for c := cursorAt(section, at); c.more(); {
		found := c.uleb()
		if found == 0 {
			return nil
		}
		if a.read(&c); found == code && !c.bad {
			return a
		}
	}
	return nil
}

// read reads a declaration behind its code. The list of attributes ends with a pair of zeros. DW_FORM_implicit_const has its
// value here and takes no byte in the DIE.
func (a *abbrev) read(c *cursor) {
	*a = abbrev{tag: dwarf.Tag(c.uleb()), children: c.u8() != 0, specs: a.specs[:0], steps: a.steps[:0]}
	for !c.bad {
		s := attrSpec{attr: dwarf.Attr(c.uleb()), form: form(c.uleb())}
		if s.form == formImplicit {
			s.implicit = c.sleb()
		}
		if s.attr == 0 && s.form == 0 {
			break
		}
		a.specs = append(a.specs, s)
	}
}

// The attributes of GNU's split DWARF, as GCC and Clang write it with -gsplit-dwarf before DWARF 5. Package dwarf does not name
// them. DWARF 5 has DW_AT_dwo_name, a field of the unit's header, DW_AT_rnglists_base and DW_AT_addr_base in their place.
const (
	attrGNUdwoName    dwarf.Attr = 0x2130
	attrGNUdwoID      dwarf.Attr = 0x2131
	attrGNUrangesBase dwarf.Attr = 0x2132
	attrGNUaddrBase   dwarf.Attr = 0x2133
)

// attrTraits are the facts that an attribute states.
var attrTraits = map[dwarf.Attr]traits{
	dwarf.AttrDeclaration: declares, dwarf.AttrInline: inlines, dwarf.AttrLowpc: hasCode, dwarf.AttrRanges: hasCode,
	dwarf.AttrEntrypc: hasCode, dwarf.AttrLocation: hasLocation, dwarf.AttrConstValue: hasLocation,
	dwarf.AttrAbstractOrigin: copies, dwarf.AttrExportSymbols: exports,
}

// attrSteps are the attributes at which a pass stops.
var attrSteps = map[dwarf.Attr]stepKind{
	dwarf.AttrName: stepName, dwarf.AttrSibling: stepSibling,
	dwarf.AttrSpecification: stepOrigin, dwarf.AttrAbstractOrigin: stepOrigin,
}

// prepare computes traits, steps and kind. They depend on the unit's format, as DW_FORM_addr and DW_FORM_sec_offset have a size
// that only the format says; units with the same table and another format parse it again.
func (a *abbrev) prepare(f format) {
	steps := a.steps
	for _, s := range a.specs {
		a.traits |= attrTraits[s.attr]
		kind := attrSteps[s.attr]
		if kind == stepOrigin && !s.form.local() {
			a.traits |= refersOutside
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
	a.steps = steps
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
