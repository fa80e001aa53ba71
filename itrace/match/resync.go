package match

import "slices"

// Two traces that have parted are brought together again at the nearest place from which both go on alike: the one with the fewest
// instructions passed over on both sides. Best is a place from where instructions and effects are the same, which tells one
// round of a loop from another; where values stay wrong, one from where the instructions alone are, in a longer run. A few
// instructions ahead are looked at first, then more and more, and for the second kind always fewer than for the first.
//
// A run has to hold so many different instructions: through a loop whose rounds are all the same it goes on until it has left the
// loop, since before that any round would do.
//
// Candidates are found by hash, not by trying all pairs. A hash that comes again and again, as in a loop, is followed only to
// its first places, since the nearest place is wanted.

const (
	firstLookahead = 64 // instructions, at first
	moreLookahead  = 8  // times as many, the next time
	equalRun       = 8  // different instructions, with their effects, that must follow alike
	alikeRun       = 12 // different instructions alone
	samePlaces     = 16 // places of one hash that are tried
)

// reach is how far ahead is looked for what a difference is, in instructions.
type reach struct {
	run     int // after which it does not matter any more how many of a run are different
	explain int // in which a stretch must be that explains a wrong value
	missing int // in which there must be hardly a difference if one side lacks it
}

// Where only the first difference is wanted, less is looked at, so that two live traces need not go on for long behind it.
var (
	farReach  = reach{run: 256, explain: 256, missing: 1024}
	nearReach = reach{run: 64, explain: 64, missing: 128}
)

// stretch is what is passed over on each side, in groups.
type stretch struct{ groups [2]int }

// side is that of a stretch which one alone has, and how long it is.
func (s stretch) side() (side, n int) {
	if s.groups[reference] > 0 {
		return reference, s.groups[reference]
	}
	return other, s.groups[other]
}

// step is a stretch to pass over, and the pairs of groups that follow.
type step struct {
	stretch
	pairs int
}

// resynchronise looks for the place from which both sides go on together, and passes over what is before it. It reports false if
// it wants to see more groups first.
func (a *aligner) resynchronise() bool {
	if !a.sees(a.wanted + a.reach.run) {
		return false
	}
	s, ok := a.search(true, a.wanted)
	if within := a.wanted / moreLookahead; !ok && within >= firstLookahead {
		s, ok = a.search(false, within)
	}
	all := a.wanted >= max(a.queue[reference].len(), a.queue[other].len())
	last := all || a.wanted >= a.c.options.Lookahead
	if !ok && last {
		s, ok = a.search(false, a.wanted)
	}
	switch {
	case ok:
		a.wanted = 0
		a.follow(a.refine(s))
	case all:
		a.wanted = 0
		a.passOver(stretch{[2]int{a.queue[reference].len(), a.queue[other].len()}})
	case last:
		// Nothing in sight. Half of it goes, and the search goes on.
		half := a.wanted / 2
		a.passOver(stretch{[2]int{min(half, a.queue[reference].len()), min(half, a.queue[other].len())}})
	default:
		a.wanted = min(a.wanted*moreLookahead, a.c.options.Lookahead)
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
	var different [alikeRun]uint64
	seen := 0
	n := min(a.reach.run, r.len()-i, o.len()-j)
	for k := range n {
		h := r.at(i + k).hash(full)
		if h != o.at(j+k).hash(full) {
			return false
		}
		if !slices.Contains(different[:seen], h) {
			different[seen] = h
			if seen++; seen == run {
				return true
			}
		}
	}
	return n > 0
}

// follow passes over stretches and pairs what is between them.
func (a *aligner) follow(steps []step) {
	for _, s := range steps {
		if s.groups != [2]int{} {
			a.passOver(s.stretch)
		}
		for range s.pairs {
			if a.done() {
				return
			}
			x, y := a.queue[reference].at(0), a.queue[other].at(0)
			a.level(x, y)
			a.pairFirst(x, y, a.compare(x, y))
		}
	}
}

// parting is a stretch that has been passed over; the zero value is none. What is passed over directly behind it is part of it,
// unless a rule has left it out.
type parting struct {
	groups     [2]int64
	difference *Difference // nil for a consequence, and where a rule has left the stretch out
	excused    bool        // by a rule
}

// passOver takes a stretch off the queues and tells of it.
func (a *aligner) passOver(s stretch) {
	if a.parting.groups == [2]int64{} || a.parting.excused {
		a.parting.difference, a.parting.excused = a.c.parted(a, s)
	}
	a.shifts.add(int64(s.groups[other]-s.groups[reference]), a.parting.difference == nil && !a.parting.excused)
	a.state.passing = true
	for side, n := range s.groups {
		for range n {
			g := a.queue[side].at(0)
			a.extend(side, g)
			for i := range g.effects {
				a.state.memory.setWritten(&g.effects[i], true)
				a.resolveStray(side, g, &g.effects[i])
			}
			a.state.apply(side, g, nil)
			a.pass(side)
		}
	}
	a.state.passing = false
	a.expireLate()
}

// extend makes a group part of the stretch that is passed over.
func (a *aligner) extend(side int, g *group) {
	a.parting.groups[side]++
	d := a.parting.difference
	if d == nil {
		return
	}
	d.Groups++
	d.Records += int64(len(g.effects))
	if !g.bare {
		d.Records++
	}
}
