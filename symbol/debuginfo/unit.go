package debuginfo

import (
	"debug/dwarf"
	"path"
	"sort"
	"sync"

	"tracewell/arch"
)

// Unit is what a compiler saw in one go, or a part of that which several units share.
type Unit struct {
	Version  int
	AddrSize int
	Tag      dwarf.Tag // of its DIE: a compile, partial or type unit
	Name     string    // of the source file, as it was given to the compiler
	CompDir  string    // where the compiler ran
	Producer string    // the compiler
	Language Language

	space      *space
	start, end uint64 // in the section, header included
	first      uint64 // its DIE
	format     format
	abbrevAt   uint64
	signature  uint64 // of a type unit
	typeAt     uint64 // in a type unit, from start
	dwoID      uint64
	dwoName    string
	skeleton   *Unit // of a unit in a .dwo file: the one that stands for it in the linked file
	split      *Unit // the other way round

	low                                                 arch.Addr // what relative addresses are relative to
	strOffsetsBase, addrBase, rnglistsBase, loclistBase uint64
	rangesBase                                          uint64 // GNU's, of split units before DWARF 5
	linesAt                                             uint64
	hasLines                                            bool

	abbrevs   func() *abbrevs
	nesting   func() []nest
	lines     func() *LineTable
	inlined   func() []inlinedCopy
	functions func() []functionRange
}

// Language is the number that DWARF has for a language.
type Language uint16

// Languages that programs are asked about.
const (
	LanguageC89  Language = 0x01
	LanguageC    Language = 0x02
	LanguageCPP  Language = 0x04
	LanguageC99  Language = 0x0c
	LanguageGo   Language = 0x16
	LanguageCP03 Language = 0x19
	LanguageCP11 Language = 0x1a
	LanguageRust Language = 0x1c
	LanguageC11  Language = 0x1d
	LanguageCP14 Language = 0x21
	LanguageC17  Language = 0x2c
	LanguageCP17 Language = 0x2a
	LanguageCP20 Language = 0x2b
	LanguageAsm  Language = 0x8001 // as the GNU assembler says it
)

// IsCPP reports whether the language is some C++.
func (l Language) IsCPP() bool {
	switch l {
	case LanguageCPP, LanguageCP03, LanguageCP11, LanguageCP14, LanguageCP17, LanguageCP20:
		return true
	}
	return false
}

// IsC reports whether the language is some C.
func (l Language) IsC() bool {
	switch l {
	case LanguageC, LanguageC89, LanguageC99, LanguageC11, LanguageC17:
		return true
	}
	return false
}

// The kinds of units that DWARF 5 tells apart.
const (
	unitType         = 0x02
	unitSkeleton     = 0x04
	unitSplitCompile = 0x05
	unitSplitType    = 0x06
)

// readUnits reads the headers of all units of a space, and of each its DIE.
func (s *space) readUnits() {
	c := s.image.cursorAt(s.data, 0)
	for c.more() {
		u := &Unit{space: s, start: c.at}
		size, dwarf64 := c.length()
		body := c.part(size)
		u.end = c.at
		u.format.dwarf64 = dwarf64
		if c.bad || !u.readHeader(&body) {
			s.file.warn("%s: the unit at %#x of %s is damaged or of an unknown kind", s.image.path, u.start, s.name)
			continue
		}
		u.first = body.at
		u.abbrevs = sync.OnceValue(func() *abbrevs { return readAbbrevs(s.abbrev, u.abbrevAt, u.format) })
		u.nesting = sync.OnceValue(u.readNesting)
		u.lines = sync.OnceValue(u.readLines)
		u.functions = sync.OnceValue(u.readFunctions)
		u.inlined = sync.OnceValue(u.findInlined)
		u.readRoot()
		s.units = append(s.units, u)
	}
}

// readHeader reads what follows the length of a unit.
func (u *Unit) readHeader(c *cursor) bool {
	u.Version = int(c.u16())
	kind := uint8(0)
	if u.Version >= 5 {
		kind = c.u8()
		u.format.addrSize = c.u8()
		u.abbrevAt = c.offset(u.format.dwarf64)
	} else {
		u.abbrevAt = c.offset(u.format.dwarf64)
		u.format.addrSize = c.u8()
		if u.space.types {
			kind = unitType
		}
	}
	switch kind {
	case unitSkeleton, unitSplitCompile:
		u.dwoID = c.u64()
	case unitType, unitSplitType:
		u.signature = c.u64()
		u.typeAt = c.offset(u.format.dwarf64)
	}
	u.format.version = uint16(u.Version)
	u.AddrSize = int(u.format.addrSize)
	return !c.bad && u.Version >= 2 && u.Version <= 5 && addrSizes[u.AddrSize]
}

// addrSizes are the sizes of addresses that there are.
var addrSizes = map[int]bool{2: true, 4: true, 8: true}

// isType reports whether the unit is there for one type.
func (u *Unit) isType() bool { return u.signature != 0 || u.Tag == dwarf.TagTypeUnit }

// readRoot reads what the DIE of the unit says of all of it. The bases come first: strings and addresses need them.
func (u *Unit) readRoot() {
	c := u.cursor(u.first)
	a := findAbbrev(u.space.abbrev, u.abbrevAt, c.uleb())
	if a == nil {
		return
	}
	u.Tag = a.tag
	if u.space.dwo && u.Version >= 5 { // behind the header of the one table that there is
		header := uint64(4 + u.format.offsetSize())
		if u.format.dwarf64 {
			header += 4
		}
		u.strOffsetsBase = header
		u.rnglistsBase, u.loclistBase = header+4, header+4
	}
	for _, pass := range []map[dwarf.Attr]func(*Unit, Value){rootBases, rootFacts} {
		at := c
		for _, s := range a.specs {
			if set := pass[s.attr]; set == nil {
				u.format.skipForm(&at, s.form)
			} else if v, ok := u.value(&at, s); ok {
				set(u, v)
			}
		}
	}
}

var rootBases = map[dwarf.Attr]func(*Unit, Value){
	dwarf.AttrStrOffsetsBase: func(u *Unit, v Value) { u.strOffsetsBase = v.num },
	dwarf.AttrAddrBase:       func(u *Unit, v Value) { u.addrBase = v.num },
	dwarf.AttrRnglistsBase:   func(u *Unit, v Value) { u.rnglistsBase = v.num },
	dwarf.AttrLoclistsBase:   func(u *Unit, v Value) { u.loclistBase = v.num },
	attrGNUaddrBase:          func(u *Unit, v Value) { u.addrBase = v.num },
	attrGNUrangesBase:        func(u *Unit, v Value) { u.rangesBase = v.num },
	attrGNUdwoID:             func(u *Unit, v Value) { u.dwoID = v.num },
}

var rootFacts = map[dwarf.Attr]func(*Unit, Value){
	dwarf.AttrName:     func(u *Unit, v Value) { u.Name = v.String() },
	dwarf.AttrCompDir:  func(u *Unit, v Value) { u.CompDir = v.String() },
	dwarf.AttrProducer: func(u *Unit, v Value) { u.Producer = v.String() },
	dwarf.AttrLanguage: func(u *Unit, v Value) { u.Language = Language(v.num) },
	dwarf.AttrLowpc:    func(u *Unit, v Value) { u.low = v.Addr() },
	dwarf.AttrStmtList: func(u *Unit, v Value) { u.linesAt, u.hasLines = v.num, true },
	dwarf.AttrDwoName:  func(u *Unit, v Value) { u.dwoName = v.String() },
	attrGNUdwoName:     func(u *Unit, v Value) { u.dwoName = v.String() },
}

// Root is the offset of the DIE of the unit itself.
func (u *Unit) Root() Offset { return u.space.base + Offset(u.first) }

// Path is the unit's source file: Name, below CompDir where it is relative.
func (u *Unit) Path() string {
	if path.IsAbs(u.Name) || u.CompDir == "" {
		return path.Clean(u.Name)
	}
	return path.Join(u.CompDir, u.Name)
}

// linked is the unit in the linked file: the skeleton, of a split one.
func (u *Unit) linked() *Unit {
	if u.skeleton != nil {
		return u.skeleton
	}
	return u
}

// unitOf is the unit that has an offset of a space, nil when none has.
func (s *space) unitOf(at uint64) *Unit {
	i := sort.Search(len(s.units), func(i int) bool { return s.units[i].end > at })
	if i == len(s.units) || at < s.units[i].first {
		return nil
	}
	return s.units[i]
}
