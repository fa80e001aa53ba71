package debuginfo

import (
	"debug/dwarf"
	"hash/maphash"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"tracewell/internal/routine"
)

// Kind is what a name in the index stands for.
type Kind uint8

// The kinds of names.
const (
	KindFunction Kind = iota + 1 // with code, or inlined everywhere
	KindVariable                 // of a file, a namespace or a class
	KindType                     // defined or only declared
	KindConstant                 // an enumerator
	KindNamespace
)

// named is one name of the index, in 20 bytes without padding but for two: a large program has a million of them, which is why
// neither the name nor an Offset is kept. Units are smaller than 4 GB each, in the 32-bit format by definition.
type named struct {
	hash     uint32 // of the name without template arguments
	unit     uint32
	at       uint32 // from the beginning of the unit
	scope    int32  // in the unit's scopes, -1 for none
	kind     Kind
	declared bool // a declaration
}

// scope is a DIE whose name is part of the names below it: a namespace, a class, a function.
type scope struct {
	at, end uint32
	parent  int32
}

// tagKinds are the DIEs whose names are indexed.
var tagKinds = map[dwarf.Tag]Kind{
	dwarf.TagSubprogram: KindFunction, dwarf.TagVariable: KindVariable, dwarf.TagMember: KindVariable,
	dwarf.TagEnumerator: KindConstant, dwarf.TagNamespace: KindNamespace,
	dwarf.TagStructType: KindType, dwarf.TagClassType: KindType, dwarf.TagUnionType: KindType, dwarf.TagEnumerationType: KindType,
	dwarf.TagTypedef: KindType, dwarf.TagBaseType: KindType, dwarf.TagTemplateAlias: KindType, dwarf.TagInterfaceType: KindType,
	dwarf.TagUnspecifiedType: KindType,
}

// indexed is the kind under which the index lists DIEs of a declaration, 0 for none: not for functions that have neither code nor
// inlined copies (declarations; a copy without ranges), members that are no static ones with a value, and declared variables.
func (a *abbrev) indexed() Kind {
	kind := tagKinds[a.tag]
	switch {
	case a.tag == dwarf.TagSubprogram && a.traits&(hasCode|inlines) == 0 && a.traits&(declares|copies) != 0,
		a.tag == dwarf.TagMember && a.traits&hasLocation == 0,
		a.tag == dwarf.TagVariable && a.traits&declares != 0 && a.traits&hasLocation == 0:
		return 0
	}
	return kind
}

// each runs a function for every number below n, on as many processors as there are. Workers take the next number when they are
// done with one, since units differ in size by a factor of a thousand.
func each(n int, work func(i int)) {
	var next atomic.Int64
	var workers routine.Group
	for range min(runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}
	workers.Wait()
}

// eachUnit runs a function over all units and tells of the progress.
func (f *File) eachUnit(work func(i int, u *Unit)) {
	var done atomic.Int64
	total := int64(0)
	for _, u := range f.units {
		total += int64(u.end - u.start)
	}
	each(len(f.units), func(i int) {
		u := f.units[i]
		work(i, u)
		if now := done.Add(int64(u.end - u.start)); f.options.Progress != nil {
			f.options.Progress(now, total)
		}
	})
}

// unitScan is one pass over a unit that collects its names. It reads every DIE of the program once and is what opening a large file
// costs, so it decodes no attribute that the name does not need, and makes no Entry.
type unitScan struct {
	unit          *Unit
	number        uint32
	abbrevs       *abbrevs
	names         []named
	scopes        []scope
	open          []level
	refersOutside bool
	inline        []uint32 // hashes of the names of inline namespaces
}

// level is a DIE whose children are being read.
type level struct {
	at    uint32
	scope int32 // of what is below; that of the level above until one is needed
	outer int32 // the scope around what the DIE completes; unknown when it completes nothing
	own   bool  // it has a scope of its own
	local bool  // below a function: only functions are of interest
	needs bool  // it is to have a scope of its own when something below has a name
}

// hashSeed differs at each run: an index is never written to a file.
var hashSeed = maphash.MakeSeed()

func hashName(name []byte) uint32 { return uint32(maphash.Bytes(hashSeed, baseName(name))) }

// scanTables are tables of abbreviations that passes take turns with: most units are never read again, and need none of their own.
var scanTables = sync.Pool{New: func() any { return &abbrevs{} }}

// run reads all DIEs.
func (s *unitScan) run() {
	u := s.unit
	s.abbrevs = scanTables.Get().(*abbrevs)
	defer scanTables.Put(s.abbrevs)
	s.abbrevs.read(u.space.abbrev, u.abbrevAt, u.format)
	c := u.cursor(u.first)
	for c.more() {
		at := uint32(c.at - u.start)
		code := c.uleb()
		if code == 0 {
			if len(s.open) == 0 || s.pop(uint32(c.at-u.start)) {
				return
			}
			continue
		}
		a := s.abbrevs.find(code)
		if a == nil {
			return
		}
		outer := s.entry(&c, a, at)
		if c.bad {
			return
		}
		if a.children {
			s.push(a, at, outer)
		} else if len(s.open) == 0 {
			return
		}
	}
}

// push begins the children of a DIE. Scopes below a function are made only when something in them has a name that is indexed: most
// functions have nothing such.
func (s *unitScan) push(a *abbrev, at uint32, outer int32) {
	l := level{at: at, scope: -1, outer: outer}
	if n := len(s.open); n > 0 {
		l.scope, l.local = s.open[n-1].scope, s.open[n-1].local
	}
	if a.tag == dwarf.TagSubprogram {
		l.local, l.needs = true, true
	}
	l.needs = l.needs || isScope(a.tag)
	s.open = append(s.open, l)
	if a.tag != dwarf.TagSubprogram && isScope(a.tag) { // definitions elsewhere may complete what is declared here
		s.scope()
	}
}

// pop ends a list of children, and reports whether it was that of the unit.
func (s *unitScan) pop(end uint32) bool {
	l := s.open[len(s.open)-1]
	if l.own {
		s.scopes[l.scope].end = end
	}
	s.open = s.open[:len(s.open)-1]
	return len(s.open) == 0
}

// scope is that of what is on the innermost level; those that are missing are made.
func (s *unitScan) scope() int32 {
	parent := int32(-1)
	for i := range s.open {
		l := &s.open[i]
		if l.needs && !l.own {
			if l.outer != unknown {
				parent = l.outer
			}
			s.scopes = append(s.scopes, scope{l.at, uint32(s.unit.end - s.unit.start), parent})
			l.scope, l.own = int32(len(s.scopes)-1), true
		}
		if l.own {
			parent = l.scope
		}
	}
	return parent
}

// unknown is the scope of what has none of its own to say.
const unknown = -2

// entry reads what the index wants of a DIE, and steps over it. It returns the scope around what the DIE completes.
func (s *unitScan) entry(c *cursor, a *abbrev, at uint32) (outer int32) {
	u := s.unit
	local := len(s.open) > 0 && s.open[len(s.open)-1].local
	wanted := a.kind != 0 && (!local || a.kind == KindFunction)
	related := wanted || a.tag == dwarf.TagSubprogram || isScope(a.tag)
	var name []byte
	var origin Value
	s.refersOutside = s.refersOutside || a.traits&refersOutside != 0
	for _, step := range a.steps {
		switch {
		case step.kind == stepSkip:
			c.skip(uint64(step.size))
		case wanted && step.kind == stepName:
			v, _ := u.value(c, attrSpec{form: step.form})
			name = v.bytes
		case related && step.kind == stepOrigin:
			origin, _ = u.value(c, attrSpec{form: step.form})
		default:
			u.format.skipForm(c, step.form)
		}
	}
	outer = unknown
	if origin.Class == ClassReference {
		var full []byte
		if full, outer = s.origin(origin.Offset()); name == nil {
			name = full
		}
	}
	if !wanted || len(name) == 0 {
		return outer
	}
	where := outer
	if where == unknown {
		where = s.scope()
	}
	hash := hashName(name)
	if a.kind == KindNamespace && a.traits&exports != 0 {
		s.inline = append(s.inline, hash)
	}
	s.names = append(s.names, named{hash, s.number, at, where, a.kind, a.traits&declares != 0})
	return outer
}

// origin is the name of what a DIE completes, and the scope that it is in. It follows DW_AT_specification and
// DW_AT_abstract_origin within the unit by offsets alone. What leads out of the unit is read by File, which may do so while units
// are being scanned: it uses nothing of the index.
func (s *unitScan) origin(off Offset) (name []byte, where int32) {
	u := s.unit
	for range longestChain {
		at := uint64(off % spaceSize)
		if off < u.space.base || off-u.space.base >= spaceSize || at < u.first || at >= u.end {
			s.refersOutside = true
			return u.space.file.nameBytes(off), -1
		}
		c := u.cursor(at)
		a := s.abbrevs.find(c.uleb())
		if a == nil {
			return nil, -1
		}
		next := Value{}
		for _, step := range a.steps {
			switch step.kind {
			case stepName:
				v, _ := u.value(&c, attrSpec{form: step.form})
				name = v.bytes
			case stepOrigin:
				next, _ = u.value(&c, attrSpec{form: step.form})
			default:
				u.format.step(&c, step)
			}
		}
		if name != nil || next.Class != ClassReference {
			return name, s.scopeOf(uint32(at - u.start))
		}
		off = next.Offset()
	}
	return nil, -1
}

// scopeOf is the innermost scope around a place; those behind the place that is being read are not known yet.
func (s *unitScan) scopeOf(at uint32) int32 {
	i := sort.Search(len(s.scopes), func(i int) bool { return s.scopes[i].at >= at }) - 1
	for i >= 0 && s.scopes[i].end <= at {
		i = int(s.scopes[i].parent)
	}
	return int32(i)
}

// nameBytes is the name of a DIE anywhere, or of what it completes.
func (f *File) nameBytes(off Offset) []byte {
	e, err := f.Entry(off)
	if err != nil {
		return nil
	}
	v, _ := f.Lookup(e, dwarf.AttrName)
	return v.bytes
}
