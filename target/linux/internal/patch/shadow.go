package patch

import (
	"slices"

	"tracewell/arch"
)

// Shadow is the patches of a Space at a moment, for whoever has read the memory then and is not the goroutine of the Space. It
// never changes.
type Shadow struct {
	patches []Patch     // in the order of their addresses
	ends    []arch.Addr // of each, close together for Hide
}

// Shadow returns the patches that there are.
func (s *Space) Shadow() *Shadow {
	shadow := &Shadow{make([]Patch, 0, len(s.patches)), make([]arch.Addr, 0, len(s.patches))}
	for _, p := range s.patches {
		if !p.lifted {
			then := *p
			then.original = slices.Clone(p.original)
			shadow.patches = append(shadow.patches, then)
			shadow.ends = append(shadow.ends, p.End())
		}
	}
	return shadow
}

// Add adds a patch that was not made by a Space of this process. The Shadow is not in use yet.
func (s *Shadow) Add(addr arch.Addr, original, inserted []byte) {
	p := Patch{addr: addr, original: original, inserted: inserted}
	i := s.after(addr)
	s.patches, s.ends = slices.Insert(s.patches, i, p), slices.Insert(s.ends, i, p.End())
}

// after is the index of the first patch that ends behind addr. slices.BinarySearch takes twice as long.
func (s *Shadow) after(addr arch.Addr) int {
	low, high := 0, len(s.ends)
	for low < high {
		if middle := int(uint(low+high) / 2); s.ends[middle] <= addr {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// Hide is Space.Hide. It is for every memory block of every frame.
func (s *Shadow) Hide(addr arch.Addr, b []byte) {
	for i := s.after(addr); i < len(s.patches) && s.patches[i].addr < addr+arch.Addr(len(b)); i++ {
		s.patches[i].hide(addr, b)
	}
}
