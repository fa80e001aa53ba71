package debuginfo

import (
	"bytes"
	"debug/dwarf"
	"math/bits"
	"strings"
)

// index has all names of a file, ordered by the upper bits of their hashes: those from starts[b] up to starts[b+1] begin with b.
// There are about as many buckets as names, up to 2^24, so that a bucket has one or two. It is made once and never changed.
//
// It takes the place of .debug_names, .gdb_index and .debug_pubnames: all are optional, GCC 12 and
// Clang 14 write none of them unless asked to, and a program has units of several compilers.
type index struct {
	names         []named
	starts        []uint32
	shift         uint
	scopes        [][]scope       // of each unit
	refersOutside []bool          // of each unit: it refers to functions of others
	inline        map[uint32]bool // the hashes of the names of inline namespaces; dwz leaves descriptions of them that do not say so
}

// readNames reads the names of all units, on all processors. Units are numbered as in f.units, and results are joined in that
// order, so that the index is the same at each run but for the seed of the hash.
func (f *File) readNames() *index {
	scans := make([]unitScan, len(f.units))
	f.eachUnit(func(i int, u *Unit) {
		s := &scans[i]
		s.unit, s.number = u, uint32(i)
		s.names = make([]named, 0, (u.end-u.start)/usualName)
		s.run()
		s.abbrevs, s.open = nil, nil
	})
	x := &index{scopes: make([][]scope, len(scans)), refersOutside: make([]bool, len(scans)), inline: map[uint32]bool{}}
	total := 0
	for i := range scans {
		x.scopes[i], x.refersOutside[i] = scans[i].scopes, scans[i].refersOutside
		total += len(scans[i].names)
		for _, hash := range scans[i].inline {
			x.inline[hash] = true
		}
	}
	x.order(scans, total)
	// What was read of the files is a multiple of what will be asked for, which is there again at once.
	for _, m := range f.images {
		m.release()
	}
	return x
}

// usualName is how many bytes of debug information, about, there are for each name.
const usualName = 64

// order sorts the names by the upper bits of their hashes, in the order of units where these are the same: a counting sort, in
// three passes over the names without a comparison. At its end starts[b] has become where bucket b ends, which is where b+1
// begins.
func (x *index) order(scans []unitScan, total int) {
	wide := uint(max(bits.Len(uint(total)), 1))
	x.shift = 32 - min(wide, 24)
	x.starts = make([]uint32, 1<<(32-x.shift)+1)
	for i := range scans {
		for _, n := range scans[i].names {
			x.starts[n.hash>>x.shift+1]++
		}
	}
	for b := 1; b < len(x.starts); b++ {
		x.starts[b] += x.starts[b-1]
	}
	x.names = make([]named, total)
	for i := range scans {
		for _, n := range scans[i].names {
			b := n.hash >> x.shift
			x.names[x.starts[b]] = n
			x.starts[b]++
		}
		scans[i].names = nil
	}
	copy(x.starts[1:], x.starts)
	x.starts[0] = 0
}

// bucket has the names whose hashes begin as one does, others among them.
func (x *index) bucket(hash uint32) []named {
	b := hash >> x.shift
	return x.names[x.starts[b]:x.starts[b+1]]
}

// Functions are the functions of a name that have code or were inlined: the concrete ones and the abstract ones that these may
// be copies of, in all units. A name is the last part of a qualified one, or as many parts as it takes: push, List::push,
// ns::List<int>::push; with :: before it, it is the whole. Template arguments may be left out, as may anonymous and inline
// namespaces.
func (f *File) Functions(name string) []Offset { return f.lookup(KindFunction, name) }

// Variables are the variables of files, namespaces and classes of a name, as Functions has them.
func (f *File) Variables(name string) []Offset { return f.lookup(KindVariable, name) }

// Types are the structures, classes, unions, enumerations, type definitions and basic types of a name, as Functions has them;
// those that are only declared come last.
func (f *File) Types(name string) []Offset { return f.lookup(KindType, name) }

// Constants are the enumerators of a name, as Functions has them; the name of their enumeration may be left out.
func (f *File) Constants(name string) []Offset { return f.lookup(KindConstant, name) }

// Namespaces are the namespaces (modules, of Rust) of a name, as Functions has them.
func (f *File) Namespaces(name string) []Offset { return f.lookup(KindNamespace, name) }

// lookup finds the last part of a name by its hash, and compares the rest with the scopes of each that has it.
func (f *File) lookup(kind Kind, name string) []Offset {
	whole := strings.HasPrefix(name, "::")
	parts := splitName(strings.TrimPrefix(name, "::"))
	last := parts[len(parts)-1]
	x := f.names()
	hash := hashName([]byte(strings.TrimSpace(last)))
	var found, later []Offset
	for _, n := range x.bucket(hash) {
		if n.hash != hash || n.kind != kind || !f.matches(x, n, parts, whole) {
			continue
		}
		off := f.offsetOf(n)
		if n.declared {
			later = append(later, off)
		} else {
			found = append(found, off)
		}
	}
	return append(found, later...)
}

func (f *File) offsetOf(n named) Offset {
	u := f.units[n.unit]
	return u.space.base + Offset(u.start+uint64(n.at))
}

// matches reports whether the parts of a name are the last ones of a name in the index, innermost first. Scopes that a user may
// leave out are passed over where they do not match: anonymous and inline namespaces, and unscoped enumerations. With whole, none
// of the others may remain.
func (f *File) matches(x *index, n named, parts []string, whole bool) bool {
	if !sameName(parts[len(parts)-1], f.nameBytes(f.offsetOf(n))) {
		return false
	}
	parts = parts[:len(parts)-1]
	for _, s := range f.scopesOf(x, n) {
		switch {
		case len(parts) == 0 && !whole:
			return true
		case len(parts) > 0 && sameName(parts[len(parts)-1], s.name):
			parts = parts[:len(parts)-1]
		case !s.optional && !(s.namespace && x.inline[hashName(s.name)]):
			return false
		}
	}
	return len(parts) == 0
}

// scopeName is one part of a qualified name.
type scopeName struct {
	name      []byte
	optional  bool // it may be left out
	namespace bool
	hidden    bool // it is left out when the name is printed
}

var anonymousNamespace = []byte("(anonymous namespace)")

// scopesOf are the parts of a name before the last, innermost first.
func (f *File) scopesOf(x *index, n named) []scopeName {
	if n.scope < 0 {
		if origin := f.originElsewhere(n); origin != nil {
			return f.scopesAround(origin)
		}
		return nil
	}
	u := f.units[n.unit]
	var all []scopeName
	for i := n.scope; i >= 0; i = x.scopes[n.unit][i].parent {
		if e, _ := u.entry(u.start + uint64(x.scopes[n.unit][i].at)); e != nil {
			all = append(all, f.scopeName(e))
		}
	}
	return all
}

// originElsewhere is what a DIE of the index completes, if that is in another unit; its scopes are not in the index.
func (f *File) originElsewhere(n named) *Entry {
	e, err := f.Entry(f.offsetOf(n))
	if err != nil {
		return nil
	}
	if origin := f.declaration(e); origin != e {
		return origin
	}
	return nil
}

// declaration is the last of what a DIE completes: the one whose place says what its qualified name is.
func (f *File) declaration(e *Entry) *Entry {
	for range longestChain {
		origin := f.Origin(e)
		if origin == nil {
			break
		}
		e = origin
	}
	return e
}

// scopesAround are the parts of the name of a DIE before the last, innermost first.
func (f *File) scopesAround(e *Entry) []scopeName {
	var all []scopeName
	for range 64 {
		if e = f.Parent(f.declaration(e)); e == nil {
			break
		}
		if isScope(e.Tag) || e.Tag == dwarf.TagSubprogram {
			all = append(all, f.scopeName(e))
		}
	}
	return all
}

// scopeName is what a DIE adds to the names below it. rustc calls the namespaces of impl blocks {impl#0} and so on: a user who
// names a method leaves that out.
func (f *File) scopeName(e *Entry) scopeName {
	v, _ := f.Lookup(e, dwarf.AttrName)
	s := scopeName{name: v.bytes, namespace: e.Tag == dwarf.TagNamespace}
	switch {
	case e.Tag == dwarf.TagNamespace && len(s.name) == 0:
		s.name, s.optional = anonymousNamespace, true
	case e.Tag == dwarf.TagNamespace:
		s.optional = bytes.HasPrefix(s.name, []byte("{impl#"))
	case e.Tag == dwarf.TagEnumerationType:
		s.optional = !e.Bool(dwarf.AttrEnumClass)
		s.hidden = s.optional
	case len(s.name) == 0:
		s.optional, s.hidden = true, true
	}
	return s
}

// QualifiedName is the full name of a DIE: ns::Class::method. In C and Go that is its name.
func (f *File) QualifiedName(e *Entry) string {
	return qualified(f.scopesAround(e), f.Name(e))
}

// qualified joins scopes, which are given innermost first, and a name.
func qualified(scopes []scopeName, name string) string {
	if len(scopes) == 0 {
		return name
	}
	var b strings.Builder
	for i := len(scopes) - 1; i >= 0; i-- {
		if !scopes[i].hidden {
			b.Write(scopes[i].name)
			b.WriteString("::")
		}
	}
	b.WriteString(name)
	return b.String()
}

// EachName calls a function with the qualified name of everything of a kind, in no order, until it returns false. What is
// described several times comes several times.
func (f *File) EachName(kind Kind, found func(name string, off Offset) bool) {
	x := f.names()
	for _, n := range x.names {
		if n.kind != kind {
			continue
		}
		off := f.offsetOf(n)
		if !found(qualified(f.scopesOf(x, n), string(f.nameBytes(off))), off) {
			return
		}
	}
}

// Load reads the names now instead of when the first is asked for.
func (f *File) Load() { f.names() }
