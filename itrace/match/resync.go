package match

import "slices"

// Two traces that have parted are brought together again at the nearest place from which both go on alike: the one with the fewest
// instructions passed over on both sides. First a place is looked for from where instructions and effects are the same, which
// tells one round of a loop from another; where values stay wrong, one from where the instructions alone are, in a longer run.
// A few instructions ahead are looked at first, then more and more.
//
// Candidates are found by hash, not by trying all pairs. A hash that comes again and again, as in a loop, is followed only to
// its first places, since the nearest place is wanted.

const (
	firstLookahead = 64 // instructions, at first
	moreLookahead  = 8  // times as many, the next time
	equalRun       = 8  // instructions, with their effects, that must follow alike
	alikeRun       = 16 // instructions alone
	samePlaces     = 16 // places of one hash that are tried
	soon           = 32 // instructions behind a wrong value in which the flow of control may part because of it
	explainWithin  = 256
)

// stretch is what is passed over on each side, in groups.
type stretch struct{ groups [2]int }

// resynchronise looks for the place from which both sides go on together, and passes over what is before it. It reports false if
// it wants to see more groups first.
func (a *aligner) resynchronise() bool {
	if !a.sees(a.wanted + alikeRun) {
		return false
	}
	for _, full := range []bool{true, false} {
		if s, ok := a.search(full, a.wanted); ok {
			a.wanted = 0
			a.passOver(s)
			return true
		}
	}
	ended := a.queue[reference].ended && a.queue[other].ended
	all := a.wanted >= max(a.queue[reference].len(), a.queue[other].len())
	switch {
	case ended && all:
		a.wanted = 0
		a.passOver(stretch{[2]int{a.queue[reference].len(), a.queue[other].len()}})
	case a.wanted < a.c.options.Lookahead:
		a.wanted = min(a.wanted*moreLookahead, a.c.options.Lookahead)
	default:
		// Nothing in sight. Half of it goes, and the search goes on.
		half := a.wanted / 2
		a.passOver(stretch{[2]int{min(half, a.queue[reference].len()), min(half, a.queue[other].len())}})
	}
	return true
}

// sees reports whether each queue holds so many groups, or all that there will be.
func (a *aligner) sees(n int) bool {
	for s := range a.queue {
		if q := &a.queue[s]; q.len() < n && !q.ended {
			return false
		}
	}
	return true
}

// hash is what groups are compared by.
func (g *group) hash(full bool) uint64 {
	if full {
		return g.full
	}
	return g.head
}

// search returns the nearest place within so many groups of each side from which both go on alike.
func (a *aligner) search(full bool, within int) (nearest stretch, ok bool) {
	r, o := &a.queue[reference], &a.queue[other]
	places := make(map[uint64][]int32)
	for j := range min(within, o.len()) {
		h := o.at(j).hash(full)
		if len(places[h]) < samePlaces {
			places[h] = append(places[h], int32(j))
		}
	}
	best := 2*within + 1
	for i := 0; i < min(within, r.len()) && i < best; i++ {
		for _, place := range places[r.at(i).hash(full)] {
			j := int(place)
			if i+j < best && i+j > 0 && a.together(i, j, full) {
				best, nearest, ok = i+j, stretch{[2]int{i, j}}, true
			}
		}
	}
	return nearest, ok
}

// together reports whether both sides go on alike from two places, long enough or to the end of one.
func (a *aligner) together(i, j int, full bool) bool {
	r, o := &a.queue[reference], &a.queue[other]
	run := alikeRun
	if full {
		run = equalRun
	}
	n := min(run, r.len()-i, o.len()-j)
	for k := range n {
		if r.at(i+k).hash(full) != o.at(j+k).hash(full) {
			return false
		}
	}
	return n > 0
}

// explain looks whether a certain difference of two instructions at the same address comes of one side's going another way: the flow of
// control parts soon, and there is a stretch of one side without which both are alike. It returns nil if not, and reports false if it
// wants to see more groups first.
func (a *aligner) explain(x, y *group, p *pairing) (s *stretch, enough bool) {
	if a.blurred(x) || a.blurred(y) || a.misled(x, y, p) {
		return nil, true
	}
	if !a.sees(soon) {
		return nil, false
	}
	r, o := &a.queue[reference], &a.queue[other]
	parts := false
	for k := 1; k < min(soon, r.len(), o.len()) && !parts; k++ {
		parts = r.at(k).pc != o.at(k).pc
	}
	if !parts {
		return nil, true
	}
	if !a.sees(explainWithin + equalRun) {
		return nil, false
	}
	found, ok := a.search(true, explainWithin)
	if ok && min(found.groups[reference], found.groups[other]) == 0 {
		return &found, true
	}
	return nil, true
}

// passOver takes a stretch off the queues and tells of it.
func (a *aligner) passOver(s stretch) {
	a.c.parted(a, s)
	a.shift += int64(s.groups[other] - s.groups[reference])
	for side, n := range s.groups {
		for range n {
			g := a.queue[side].at(0)
			for i := range g.effects {
				a.state.memory.setWritten(&g.effects[i], true)
			}
			a.state.apply(side, g)
			a.pass(side)
		}
	}
	a.settleLate()
}

// loops reports whether a stretch is more rounds of a loop: it begins where the other side goes on, and leads only where both have
// been just before, or where it has been itself.
func (a *aligner) loops(side, n int) bool {
	q := &a.queue[side]
	if n < 2 || n >= q.len() || q.at(0).pc != q.at(n).pc {
		return false
	}
	var been []uint64
	for _, g := range q.before() {
		if g != nil {
			been = append(been, g.pc)
		}
	}
	return slices.Contains(been, q.at(0).pc) || slices.Contains(been, q.at(n-1).pc) || a.returns(q, n)
}

// returns reports whether a stretch comes by its first address again.
func (a *aligner) returns(q *queue, n int) bool {
	for i := 1; i < n; i++ {
		if q.at(i).pc == q.at(0).pc {
			return true
		}
	}
	return false
}

// nearby is how far apart instructions are, in bytes, that follow one another without a jump.
const nearby = 16

// handles reports whether a stretch looks like a handler: it begins far from where the program was, and does not come by where it goes
// on.
func (a *aligner) handles(side, n int) bool {
	q := &a.queue[side]
	before := q.before()
	if n < 2 || n >= q.len() || len(before) == 0 || before[len(before)-1] == nil {
		return false
	}
	last, next := before[len(before)-1].pc, q.at(n).pc
	for i := range n {
		if q.at(i).pc == next {
			return false
		}
	}
	return q.at(0).pc-last > nearby && q.at(0).pc-next > nearby && next-last <= nearby
}
