package symbol

import (
	"debug/dwarf"

	"tracewell/arch"
	"tracewell/symbol/debuginfo"
)

// label finds a label of a function.
func (c *candidate) label(name string) []place {
	var places []place
	c.eachLabel(func(text string, addr arch.Addr) {
		if text == name {
			places = append(places, place{c.object, c.unit, addr})
		}
	})
	return places
}

// eachLabel calls found with the labels of a function that have an address. The optimiser removes those that nothing jumps to.
func (c *candidate) eachLabel(found func(name string, addr arch.Addr)) {
	if c.block == nil {
		return
	}
	// Labels have the scope of their whole function in C, so those of nested statements count; those of inlined functions do not.
	var walk func(e *debuginfo.Entry, depth int)
	walk = func(e *debuginfo.Entry, depth int) {
		for child := range c.unit.file.Children(e) {
			switch child.Tag {
			case dwarf.TagLabel:
				if addr, ok := child.Addr(dwarf.AttrLowpc); ok {
					found(c.unit.file.Name(child), addr)
				}
			case dwarf.TagLexDwarfBlock:
				if depth < deepest {
					walk(child, depth+1)
				}
			}
		}
	}
	walk(c.block.function.entry, 0)
}

// labels returns the labels of functions that are nearest to a name.
func labels(of []candidate, name string) []string {
	n := newNearest(name)
	for i := range of {
		of[i].eachLabel(func(text string, _ arch.Addr) { n.offer(text) })
	}
	return n.names()
}
