package jump

import (
	"cmp"
	"maps"
	"slices"

	"tracewell/arch"
)

// pageSize is the size of a page: what is mapped at a time, and what one write of a patch must not go beyond.
const pageSize = 4096

// Room hands out addresses for trampolines: in pages that it has opened already where it can, else in another page of the gaps
// of an address space. It is for one goroutine.
type Room struct {
	gaps   []Range // addresses at which nothing is, in whole pages, in order
	spans  []Range // free parts of opened pages, in order
	opened []arch.Addr
	last   arch.Addr // the page that was opened last

	withdrawn map[arch.Addr]bool // pages that turned out not to be free
}

// maxTries is how many free parts of pages are tried before another page is opened. With very many trampolines most parts are
// small, and at the wrong places.
const maxTries = 64

// NewRoom returns the room that gaps of an address space have, whole pages in order of their addresses.
func NewRoom(gaps []Range) *Room {
	return &Room{gaps: slices.Clone(gaps), withdrawn: make(map[arch.Addr]bool)}
}

// Fork returns the room of a copy of the address space.
func (r *Room) Fork() *Room {
	child := *r
	child.gaps, child.spans, child.opened = slices.Clone(r.gaps), slices.Clone(r.spans), slices.Clone(r.opened)
	child.withdrawn = maps.Clone(r.withdrawn)
	return &child
}

// Renew tells the gaps that there are now. Pages that were opened are not in them.
func (r *Room) Renew(gaps []Range) {
	r.gaps = slices.Clone(gaps)
	clear(r.withdrawn)
}

// Withdraw has no more addresses of a page handed out, because the program has got something there in the meantime. Plans with a
// trampoline there are to be released, before or after, and may be made again.
func (r *Room) Withdraw(page arch.Addr) {
	r.withdrawn[page] = true
	r.spans = slices.DeleteFunc(r.spans, func(s Range) bool { return s.Start&^(pageSize-1) == page })
}

// Opened returns the pages that trampolines were given room in since the last call. They have to be mapped before the trampolines
// are written.
func (r *Room) Opened() []arch.Addr {
	opened := r.opened
	r.opened = nil
	return opened
}

// Take takes size bytes, all in one page and within limits, at an address of places.
func (r *Room) Take(places *Places, size int, limits Range) (arch.Addr, bool) {
	newest := Range{max(limits.Start, r.last), limits.End}
	for _, limits := range []Range{limits, newest} {
		if i, at, ok := find(r.spans, places, size, limits, maxTries); ok {
			r.spans = cut(r.spans, i, Range{at, at + arch.Addr(size)})
			return at, true
		}
	}
	i, at, ok := find(r.gaps, places, size, limits, 4*len(r.gaps)+4)
	if !ok {
		return 0, false
	}
	r.last = at &^ (pageSize - 1)
	r.gaps = cut(r.gaps, i, Range{r.last, r.last + pageSize})
	r.opened = append(r.opened, r.last)
	r.Give(r.last, pageSize)
	return r.Take(places, size, Range{at, at + arch.Addr(size)})
}

// Give gives back what Take took. Its page stays open, unless it is withdrawn.
func (r *Room) Give(at arch.Addr, size int) {
	if r.withdrawn[at&^(pageSize-1)] {
		return
	}
	i, _ := slices.BinarySearchFunc(r.spans, at, func(s Range, at arch.Addr) int { return cmp.Compare(s.Start, at) })
	r.spans = slices.Insert(r.spans, i, Range{at, at + arch.Addr(size)})
	for _, left := range []int{i, i - 1} { // join what touches, but not over the end of a page
		if left >= 0 && left+1 < len(r.spans) && r.spans[left].End == r.spans[left+1].Start && r.spans[left].End%pageSize != 0 {
			r.spans[left].End = r.spans[left+1].End
			r.spans = slices.Delete(r.spans, left+1, left+2)
		}
	}
}

// find returns the first place in one of the ranges, with the number of that. It gives up after so many of them.
func find(ranges []Range, places *Places, size int, limits Range, tries int) (i int, at arch.Addr, ok bool) {
	at, ok = places.Next(limits.Start)
	for ; ok && tries >= 0; tries-- {
		i, _ = slices.BinarySearchFunc(ranges, at, func(r Range, at arch.Addr) int {
			if r.End <= at {
				return -1
			}
			return 1
		})
		switch end := at + arch.Addr(size); {
		case i == len(ranges) || end > limits.End:
			return 0, 0, false
		case at < ranges[i].Start:
			at, ok = places.Next(ranges[i].Start)
		case end > ranges[i].End:
			at, ok = places.Next(ranges[i].End)
		case at/pageSize != (end-1)/pageSize:
			at, ok = places.Next(end &^ (pageSize - 1))
		default:
			return i, at, true
		}
	}
	return 0, 0, false
}

// cut takes a part out of range i.
func cut(ranges []Range, i int, part Range) []Range {
	whole := ranges[i]
	var rest []Range
	if whole.Start < part.Start {
		rest = append(rest, Range{whole.Start, part.Start})
	}
	if part.End < whole.End {
		rest = append(rest, Range{part.End, whole.End})
	}
	return slices.Replace(ranges, i, i+1, rest...)
}
