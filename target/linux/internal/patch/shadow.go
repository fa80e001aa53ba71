package patch

import (
	"cmp"
	"slices"

	"tracewell/arch"
)

// Shadow is the patches of a Space at a moment, for whoever has read the memory then and is not the goroutine of the Space. It
// never changes.
//
// It is made of pieces, since one is made after each change, also where there are tens of thousands of patches: it shares with the
// one before it all pieces in which nothing has changed.
type Shadow struct {
	pieces []*piece    // in the order of their addresses; none is empty
	starts []arch.Addr // of the first patch of each, close together for Hide
}

// piece is some patches that follow one another.
type piece struct {
	patches []Patch
	ends    []arch.Addr // of each
}

// mostInPiece bounds how many patches a change copies. Besides it copies two words for each piece that there is.
const mostInPiece = 64

// change notes that a patch is not what it is in the last Shadow. After more changes than there are patches all are copied.
func (s *Space) change(p *Patch) {
	switch {
	case s.shadow == nil:
	case len(s.changed) > len(s.patches):
		s.shadow, s.changed = nil, nil
	default:
		s.changed = append(s.changed, p.addr)
	}
}

// Shadow returns the patches that there are.
func (s *Space) Shadow() *Shadow {
	next := &Shadow{}
	switch {
	case s.shadow == nil:
		s.cut(next, 0, 0)
	case len(s.changed) == 0:
		return s.shadow
	default:
		s.renew(next)
	}
	s.shadow, s.changed = next, s.changed[:0]
	return next
}

// renew makes a Shadow of the last one and what has changed since.
func (s *Space) renew(next *Shadow) {
	old := s.shadow
	next.pieces, next.starts = make([]*piece, 0, len(old.pieces)+2), make([]arch.Addr, 0, len(old.pieces)+2)
	slices.Sort(s.changed)
	same := 0 // pieces up to which next is complete
	for changed := s.changed; len(changed) > 0; {
		low, high := arch.Addr(0), arch.Addr(0)
		i := max(after(old.starts, changed[0])-1, 0) // what is before the first piece is new in that
		if i > 0 {
			low = old.starts[i]
		}
		if i+1 < len(old.starts) {
			high = old.starts[i+1]
		}
		next.share(old, same, i)
		s.cut(next, low, high)
		same = min(i+1, len(old.pieces))
		changed = changed[before(changed, high):]
	}
	next.share(old, same, len(old.pieces))
}

// before is how many of sorted addresses are below high, which is 0 for the end of all addresses.
func before(addrs []arch.Addr, high arch.Addr) int {
	if high == 0 {
		return len(addrs)
	}
	n, _ := slices.BinarySearch(addrs, high)
	return n
}

// cut appends pieces of the patches in memory that begin at low or behind it, and before high.
func (s *Space) cut(shadow *Shadow, low, high arch.Addr) {
	first, _ := slices.BinarySearch(s.places, low)
	there := make([]Patch, 0, before(s.places, high)-first)
	for _, p := range s.patches[first:before(s.places, high)] {
		if !p.lifted {
			there = append(there, *p)
		}
	}
	s.copied += len(there)
	shadow.fill(there)
}

// fill appends pieces of patches, which are in the order of their addresses.
func (s *Shadow) fill(patches []Patch) {
	n := (len(patches) + mostInPiece - 1) / mostInPiece
	for i := range n {
		from, to := len(patches)*i/n, len(patches)*(i+1)/n
		made := &piece{patches: patches[from:to:to]}
		for i := range made.patches {
			made.ends = append(made.ends, made.patches[i].End())
		}
		s.pieces, s.starts = append(s.pieces, made), append(s.starts, made.patches[0].addr)
	}
}

// share appends pieces of another Shadow.
func (s *Shadow) share(old *Shadow, from, to int) {
	s.pieces, s.starts = append(s.pieces, old.pieces[from:to]...), append(s.starts, old.starts[from:to]...)
}

// Made is a patch that was not made by a Space of this process: its bytes, and those of the program, as many, that it is over.
type Made struct {
	Addr           arch.Addr
	Original, Ours []byte
}

// NewShadow returns the Shadow of patches in any order.
func NewShadow(list []Made) *Shadow {
	patches := make([]Patch, 0, len(list))
	for _, m := range list {
		patches = append(patches, Patch{addr: m.Addr, original: m.Original, inserted: m.Ours})
	}
	slices.SortFunc(patches, func(a, b Patch) int { return cmp.Compare(a.addr, b.addr) })
	shadow := &Shadow{}
	shadow.fill(patches)
	return shadow
}

// after is the index of the first of sorted addresses that is behind addr. slices.BinarySearch takes twice as long.
func after(addrs []arch.Addr, addr arch.Addr) int {
	low, high := 0, len(addrs)
	for low < high {
		if middle := int(uint(low+high) / 2); addrs[middle] <= addr {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// Hide is Space.Hide. It is for every memory block of every frame.
func (s *Shadow) Hide(addr arch.Addr, b []byte) {
	for _, p := range s.pieces[max(after(s.starts, addr)-1, 0):] {
		for j := after(p.ends, addr); j < len(p.patches); j++ {
			if p.patches[j].addr >= addr+arch.Addr(len(b)) {
				return
			}
			p.patches[j].hide(addr, b)
		}
	}
}
