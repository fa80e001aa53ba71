package scope

import (
	"debug/dwarf"

	"tracewell/arch"
	"tracewell/symbol/debuginfo"
)

// What is said of calls since DWARF 5, and by GCC before that.
const (
	tagCallSite         dwarf.Tag  = 0x48
	tagCallSiteParam    dwarf.Tag  = 0x49
	tagGNUCallSite      dwarf.Tag  = 0x4109
	tagGNUCallSiteParam dwarf.Tag  = 0x410a
	attrCallReturnPC    dwarf.Attr = 0x7d
	attrCallValue       dwarf.Attr = 0x7e
	attrCallOrigin      dwarf.Attr = 0x7f
	attrCallTailCall    dwarf.Attr = 0x82
	attrGNUCallValue    dwarf.Attr = 0x2111
	attrGNUTailCall     dwarf.Attr = 0x2115
)

// call is a call of which the debugging information tells.
type call struct {
	image  *Image
	caller *debuginfo.Entry // the function with the code
	entry  *debuginfo.Entry
	after  arch.Addr // where it returns to, in the file
}

// callee is what is called: a function of the file by its root, or any that the linker knows by its name.
type callee struct {
	root debuginfo.Offset
	name string
}

// calls are those in a file.
type calls struct {
	image   *Image
	of      map[callee][]call
	tails   map[debuginfo.Offset][]callee // what functions end with a jump to, by their roots
	unknown map[debuginfo.Offset]bool     // functions that end with a jump to what nobody knows
	budget  int
}

// mostEntries bounds how many descriptions of code are gone through for calls: a large program has more of them than anyone wants
// to wait for, and what is not known of its calls is told when the program runs into it.
const mostEntries = 1 << 18

// findCalls goes through the functions of a file.
func (m *Image) findCalls() *calls {
	all := &calls{image: m, of: make(map[callee][]call), tails: make(map[debuginfo.Offset][]callee),
		unknown: make(map[debuginfo.Offset]bool), budget: mostEntries}
	for _, unit := range m.file.Units() {
		if root, err := m.file.Entry(unit.Root()); err == nil {
			all.walk(root, nil, 0)
		}
	}
	return all
}

// walk goes through what lies in a description, of a function or around functions.
func (c *calls) walk(e, caller *debuginfo.Entry, depth int) {
	for child := range c.image.file.Children(e) {
		if c.budget--; c.budget < 0 || depth == deepest {
			return
		}
		switch child.Tag {
		case dwarf.TagSubprogram:
			c.walk(child, child, depth+1)
		case dwarf.TagNamespace, dwarf.TagModule:
			c.walk(child, nil, depth+1)
		case dwarf.TagLexDwarfBlock, dwarf.TagInlinedSubroutine:
			c.walk(child, caller, depth+1)
		case tagCallSite, tagGNUCallSite:
			if caller != nil {
				c.add(child, caller)
			}
		}
	}
}

// add takes in a call.
func (c *calls) add(e, caller *debuginfo.Entry) {
	origin, direct := e.Ref(attrCallOrigin)
	after, returns := e.Addr(attrCallReturnPC)
	if e.Tag == tagGNUCallSite {
		origin, direct = e.Ref(dwarf.AttrAbstractOrigin)
		after, returns = e.Addr(dwarf.AttrLowpc)
	}
	tail := e.Bool(attrCallTailCall) || e.Bool(attrGNUTailCall)
	from := c.image.file.Root(caller.Offset)
	if !direct {
		c.unknown[from] = c.unknown[from] || tail
		return
	}
	for _, to := range c.image.callees(origin) {
		switch {
		case tail:
			c.tails[from] = append(c.tails[from], to)
		case returns:
			c.of[to] = append(c.of[to], call{c.image, caller, e, after})
		}
	}
}

// callees are the ways to name a function.
func (m *Image) callees(off debuginfo.Offset) []callee {
	named := []callee{{root: m.file.Root(off)}}
	e, err := m.file.Entry(off)
	if err != nil {
		return named
	}
	if _, external := m.file.Lookup(e, dwarf.AttrExternal); external {
		named = append(named, callee{name: m.linkName(e)})
	}
	return named
}

// callers are the known calls of a function, of all files; ok is false if it can be reached from itself by jumps, after which
// it has been passed something else than the call before them did.
func (m *Image) callers(function *debuginfo.Entry) (found []call, ok bool) {
	wanted := m.callees(function.Offset)
	if m.calls().reaches(wanted) {
		return nil, false
	}
	seen := make(map[arch.Addr]bool)
	for _, image := range append([]*Image{m}, m.others()...) {
		for _, name := range wanted {
			if name.name == "" && image != m {
				continue
			}
			for _, call := range image.calls().of[name] {
				if at := call.after + image.bias; !seen[at] {
					seen[at] = true
					found = append(found, call)
				}
			}
		}
	}
	return found, true
}

// reaches reports whether a function may jump to itself, directly or by others of the file.
func (c *calls) reaches(wanted []callee) bool {
	todo := []debuginfo.Offset{wanted[0].root}
	seen := make(map[debuginfo.Offset]bool)
	for len(todo) > 0 {
		root := todo[0]
		todo = todo[1:]
		if seen[root] {
			continue
		}
		seen[root] = true
		if c.unknown[root] {
			return true
		}
		for _, to := range c.tails[root] {
			for _, name := range wanted {
				if to == name {
					return true
				}
			}
			if to.name == "" {
				todo = append(todo, to.root)
			}
		}
	}
	return false
}
