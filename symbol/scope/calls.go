package scope

import (
	"debug/dwarf"

	"tracewell/arch"
	"tracewell/symbol/debuginfo"
)

// How calls are described since DWARF 5 (3.4), and by GNU's extension before that, which GCC writes at -O1 and above. Package dwarf
// has no names for the tags and attributes of either.
const (
	tagCallSite         dwarf.Tag  = 0x48 // DW_TAG_call_site: a child of the function or block that calls
	tagCallSiteParam    dwarf.Tag  = 0x49 // its child: a register, and an expression for what it held at the call
	tagGNUCallSite      dwarf.Tag  = 0x4109
	tagGNUCallSiteParam dwarf.Tag  = 0x410a
	attrCallReturnPC    dwarf.Attr = 0x7d   // where the callee returns to; a tail call has none
	attrCallValue       dwarf.Attr = 0x7e   // of a parameter
	attrCallOrigin      dwarf.Attr = 0x7f   // the DIE of the callee; calls through pointers have none
	attrCallPC          dwarf.Attr = 0x81   // where the call is
	attrCallTailCall    dwarf.Attr = 0x82   // a flag: the call is a jump
	attrGNUCallValue    dwarf.Attr = 0x2111 // GNU's, of a parameter
	attrGNUTailCall     dwarf.Attr = 0x2115 // GNU's flag
)

// call is one call site that the debug information describes.
type call struct {
	image  *Image
	caller *debuginfo.Entry // the function with the code
	entry  *debuginfo.Entry
	after  arch.Addr // where it returns to, in the file
}

// callee identifies a called function: by its root within the file, or by its linkage name, which reaches into other files. One of
// the two is set, so that callees can be compared and be keys.
type callee struct {
	root debuginfo.Offset
	name string
}

// calls are the call sites of a file. They are collected at the first question and kept, as one entry value after the other asks.
type calls struct {
	image   *Image
	of      map[callee][]call
	tails   map[debuginfo.Offset][]callee // what functions end with a jump to, by their roots
	unknown map[debuginfo.Offset]bool     // functions that end with a jump to what nobody knows
	budget  int
}

// mostEntries bounds how many DIEs are searched for calls. A large program has more than anyone wants to wait for. A call that
// was not found makes an entry value unavailable at the hits that it leads to; it never makes a wrong one (see choose).
const mostEntries = 1 << 18

// findCalls searches the functions of all units for call sites.
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

// walk searches a DIE that is a function or may contain functions. The caller is the function with the code: calls in an inlined
// copy and in a lexical block return into the frame of that.
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

// add records a call site. GNU's has the callee in DW_AT_abstract_origin and the return address in DW_AT_low_pc. A call without an
// origin is one through a pointer: it cannot be told from others by what it calls, so that it is of no use, but as a tail call it
// makes the caller one that may have jumped anywhere.
func (c *calls) add(e, caller *debuginfo.Entry) {
	origin, direct := e.Ref(attrCallOrigin)
	after, returns := e.Addr(attrCallReturnPC)
	if e.Tag == tagGNUCallSite {
		origin, direct = e.Ref(dwarf.AttrAbstractOrigin)
		after, returns = e.Addr(dwarf.AttrLowpc)
	}
	// A tail call is a jump: the callee returns to where the caller would have, so that no return address tells of it.
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

// TailCalls finds the jumps by which a function calls another one in place of returning, by addresses of the file: LLVM tells where
// the jump is, GCC what is behind it.
func TailCalls(file *debuginfo.File, function *debuginfo.Entry) (jumps, behinds map[arch.Addr]bool) {
	jumps, behinds = make(map[arch.Addr]bool), make(map[arch.Addr]bool)
	var walk func(e *debuginfo.Entry, depth int)
	walk = func(e *debuginfo.Entry, depth int) {
		for child := range file.Children(e) {
			switch child.Tag {
			// Jumps of inlined copies leave the function that has the code.
			case dwarf.TagLexDwarfBlock, dwarf.TagInlinedSubroutine:
				if depth < deepest {
					walk(child, depth+1)
				}
			case tagCallSite, tagGNUCallSite:
				if !child.Bool(attrCallTailCall) && !child.Bool(attrGNUTailCall) {
					continue
				}
				if at, ok := child.Addr(attrCallPC); ok {
					jumps[at] = true
				}
				// GNU's form in DWARF 4 has it in DW_AT_low_pc.
				for _, attr := range []dwarf.Attr{attrCallReturnPC, dwarf.AttrLowpc} {
					if behind, ok := child.Addr(attr); ok {
						behinds[behind] = true
					}
				}
			}
		}
	}
	walk(function, 0)
	return jumps, behinds
}

// callees are the ways in which call sites refer to a function.
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

// callers are the known calls of a function, of all files; ok is false if it can be reached from itself by jumps (tail calls),
// after which it has been passed something else than the call before them did. GDB refuses such entry values as well.
func (m *Image) callers(function *debuginfo.Entry) (found []call, ok bool) {
	wanted := m.callees(function.Offset)
	if m.calls().reaches(wanted) {
		return nil, false
	}
	seen := make(map[arch.Addr]bool)
	for _, image := range m.all() {
		for _, name := range wanted {
			if name.name == "" && image != m { // a root means nothing in another file
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

// reaches reports whether a function may jump to itself, directly or by other functions of the file: a search along tail calls,
// breadth first. A tail call through a pointer may lead anywhere, so it counts as a yes.
func (c *calls) reaches(wanted []callee) bool {
	// wanted[0] is the function's own root; its linkage name, if it has one, follows.
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
