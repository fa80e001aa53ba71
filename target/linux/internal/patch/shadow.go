package patch

import (
	"math/bits"
	"slices"

	"tracewell/arch"
)

// Shadow is the patches of a Space at a moment, for whoever has read the memory then and is not the goroutine of the Space. It never
// changes.
type Shadow struct {
	patches []Patch // in the order of their addresses
	pages   pageSet // that have any
}

// pageSet is a set of pages by the last six bits of their numbers, so another page may seem to be in it.
type pageSet uint64

// pagesOf is the pages of a range.
func pagesOf(addr arch.Addr, size int) pageSet {
	const pageBits, all = 12, ^pageSet(0)
	first := addr >> pageBits
	n := (addr+arch.Addr(max(size, 1))-1)>>pageBits - first
	if n >= 63 {
		return all
	}
	return pageSet(bits.RotateLeft64(1<<(n+1)-1, int(first%64)))
}

// Shadow returns the patches that there are.
func (s *Space) Shadow() *Shadow {
	shadow := &Shadow{patches: make([]Patch, 0, len(s.patches))}
	for _, p := range s.patches {
		if !p.lifted {
			shadow.pages |= pagesOf(p.addr, int(p.End()-p.addr))
			shadow.patches = append(shadow.patches, Patch{addr: p.addr, original: slices.Clone(p.original), inserted: p.inserted, lid: p.lid})
		}
	}
	return shadow
}

// Near reports whether there may be a patch in a range, at once: it looks at no patch.
func (s *Shadow) Near(addr arch.Addr, size int) bool { return s.pages&pagesOf(addr, size) != 0 }

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
