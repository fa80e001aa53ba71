package patch

import (
	"slices"

	"tracewell/arch"
)

// Shadow is the patches of a Space at a moment, for whoever has read the memory then and is not the goroutine of the Space. It never
// changes.
type Shadow struct {
	patches []Patch // in the order of their addresses
}

// Shadow returns the patches that there are.
func (s *Space) Shadow() *Shadow {
	shadow := &Shadow{make([]Patch, 0, len(s.patches))}
	for _, p := range s.patches {
		if !p.lifted {
			shadow.patches = append(shadow.patches, Patch{addr: p.addr, original: slices.Clone(p.original), inserted: p.inserted, lid: p.lid})
		}
	}
	return shadow
}

// Near reports whether there may be a patch in a range, at once: it looks at no more than the first and the last one.
func (s *Shadow) Near(addr arch.Addr, size int) bool {
	return len(s.patches) > 0 && s.patches[0].addr < addr+arch.Addr(size) && addr < s.patches[len(s.patches)-1].End()
}

// Hide is Space.Hide.
func (s *Shadow) Hide(addr arch.Addr, b []byte) {
	i, _ := slices.BinarySearchFunc(s.patches, addr, func(p Patch, addr arch.Addr) int {
		if p.End() <= addr {
			return -1
		}
		return 1
	})
	for ; i < len(s.patches) && s.patches[i].addr < addr+arch.Addr(len(b)); i++ {
		s.patches[i].hide(addr, b)
	}
}
