package jump

import (
	"fmt"
	"slices"

	"tracewell/arch"
)

// The lengths of jumps without prefixes, and what a near one reaches in either direction.
const (
	shortLength = 2
	nearLength  = 5
	nearReach   = 1 << 31
)

// plan completes a shape: it finds the places that the jump can go to, and takes one. The cause is why there is none.
func (l *ladder) plan(s *shape) (plan *Plan, cause string) {
	at, length := l.site.Addr, s.length()
	plan = &Plan{
		Addr: at, Rung: s.rung, Run: s.run, Next: s.run[len(s.run)-1].Next(),
		Held: Range{at, at + arch.Addr(length)}, prefixes: s.prefixes, width: s.width,
	}
	if len(l.site.Code) < length {
		return nil, fmt.Sprintf("the memory ends at %v, under the jump", at+arch.Addr(len(l.site.Code)))
	}
	if held := l.overlapping(plan.Held); len(held) > 0 {
		return nil, held[0].String()
	}
	written := min(length, l.span(len(s.run)))
	if i, _ := slices.BinarySearch(l.Wanted, at+arch.Addr(written)); i < len(l.Wanted) && l.Wanted[i] < plan.Held.End {
		return nil, fmt.Sprintf("the jump would end in bytes at %v, which are to be patched themselves", l.Wanted[i])
	}
	if crossesPage(at, written) {
		return nil, "the jump would lie over the end of a page, and cannot be written in one piece"
	}
	plan.old = l.site.Code[:written:written]
	places, ok := l.places(s, written)
	if !ok {
		return nil, "an instruction begins under a byte of the jump that cannot trap"
	}
	to, cause := l.lead(plan, &places)
	if cause != "" {
		return nil, cause
	}
	plan.Guards = guards(plan, to)
	return plan, ""
}

// places returns where the jump of a shape can go to. It is not ok if an instruction begins under the jump's prefixes or opcode.
func (l *ladder) places(s *shape, written int) (places Places, ok bool) {
	head := s.prefixes + 1
	places = Places{from: l.site.Addr + arch.Addr(s.length()), width: s.width}
	for i := range s.width {
		if places.restrict(i, anyByte); head+i >= written {
			places.restrict(i, only(l.site.Code[head+i]))
		}
	}
	for _, in := range s.run[1:] {
		offset := int(in.At() - l.site.Addr)
		if offset < head {
			return places, false
		}
		places.restrict(offset-head, guardBytes)
	}
	return places, true
}

// lead reserves what the jump goes to on its way to a pad, and returns its address; 0 if the jump can go to any pad itself.
func (l *ladder) lead(plan *Plan, places *Places) (to arch.Addr, cause string) {
	if plan.width == 1 {
		f, at, ok := l.hop(places)
		if !ok {
			return 0, "a short jump reaches no padding between functions"
		}
		plan.Hop, plan.hopOld = at, f.Code[at-f.At:][:nearLength:nearLength]
		onward := anywhere(at + nearLength)
		if _, cause = l.land(plan, &onward); cause != "" {
			return 0, cause
		}
		return at, ""
	}
	return l.land(plan, places)
}

// land reserves a trampoline at one of the places, unless the jump can go to any pad.
func (l *ladder) land(plan *Plan, places *Places) (to arch.Addr, cause string) {
	if places.free() && places.low() <= int64(l.Pads.Start) && int64(l.Pads.End) <= places.high() {
		return 0, ""
	}
	limits := Range{l.Pads.End - min(l.Pads.End, nearReach), l.Pads.Start + nearReach - nearLength}
	at, ok := l.Room.Take(places, Trampoline, limits)
	switch {
	case !ok && places.free():
		return 0, "no free address is near enough to both the location and the pads"
	case !ok:
		return 0, "no free address leaves the jump bytes that trap where instructions begin"
	}
	plan.Landing = at
	return at, ""
}

// hop finds room for a jump in padding.
func (l *ladder) hop(places *Places) (f *Filler, at arch.Addr, ok bool) {
	for at, ok = places.Next(0); ok; at, ok = places.Next(at + 1) {
		if f = l.filler(at); f != nil && at+nearLength <= f.Range().End && !crossesPage(at, nearLength) &&
			len(l.overlapping(Range{at, at + nearLength})) == 0 {
			return f, at, true
		}
	}
	return nil, 0, false
}

// guards lists the boundaries under the jump of a plan that goes to an address.
func guards(plan *Plan, to arch.Addr) (list []Guard) {
	if len(plan.Run) < 2 {
		return nil
	}
	code, err := encode(plan.Addr, to, plan.prefixes, plan.width)
	if err != nil {
		panic(err) // the place was chosen because the jump reaches it
	}
	for _, in := range plan.Run[1:] {
		opcode := code[in.At()-plan.Addr]
		list = append(list, Guard{in.At(), opcode, trapping[opcode]})
	}
	return list
}

// crossesPage reports whether bytes at an address are in two pages.
func crossesPage(at arch.Addr, size int) bool { return at/pageSize != (at+arch.Addr(size)-1)/pageSize }
