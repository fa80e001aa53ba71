package tracetext

import (
	"slices"

	"tracewell/tdesc"
)

// register is the place of a register in an R block. One without a name is a range that no name can stand for: of a register
// whose name is no word of the text or is that of another, behind the registers, or all of the block.
type register struct {
	name   string
	offset int
	size   int
}

// registers are how an R block is shown: the named and nameless parts that it consists of.
type registers struct {
	parts  []register
	byName map[string]register
	width  int // of the longest name
}

// divide divides a block of size bytes by the registers of a target description.
func divide(slots []tdesc.Slot, size int) registers {
	all := registers{byName: make(map[string]register)}
	at := 0
	for _, slot := range slots {
		name := slot.Reg.Name
		if slot.Size == 0 || slot.Offset+slot.Size > size || !canName(name) || all.byName[name].size > 0 {
			continue
		}
		r := register{name, slot.Offset, slot.Size}
		if at < r.offset {
			all.parts = append(all.parts, register{"", at, r.offset - at})
		}
		at = r.offset + r.size
		all.parts = append(all.parts, r)
		all.byName[name] = r
		all.width = max(all.width, len(name))
	}
	if at < size {
		all.parts = append(all.parts, register{"", at, size - at})
	}
	return all
}

// layoutOf returns where the registers of a target description lie. A description that cannot be used is as none.
func layoutOf(description string) *tdesc.Layout {
	if description == "" {
		return new(tdesc.Layout)
	}
	target, _, err := tdesc.Parse([]byte(description), nil)
	if err != nil {
		return new(tdesc.Layout)
	}
	layout, err := target.Layout()
	if err != nil {
		return new(tdesc.Layout)
	}
	return layout
}

// canName reports whether a register can stand in the text by its name: the name has to be one that cannot be taken for the
// beginning of another line.
func canName(name string) bool {
	for i := range len(name) {
		switch b := name[i]; {
		case b == '_', 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z':
		case i > 0 && '!' < b && b <= '~' && b != '#':
		default:
			return false
		}
	}
	return name != "" && !slices.Contains(frameKeywords, name)
}
