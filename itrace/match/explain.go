package match

import "slices"

// Where both sides are at the same instruction and an effect differs, the value may be wrong; or one side may be about to go
// another way than the other, as where a device is ready on one side and not on the other, or rounds of a loop are missing.
// The second explains the first if there is a stretch of one side without which both go on alike, values and all. That alone
// would take a wrong value for something else which makes a loop go round once more and is forgotten behind it. So one of these
// must be true as well:
//
//   - The instruction loads other data from the same address. What comes from outside decides what follows.
//   - The other side lacks the stretch, and without it there is hardly a difference for a long way, and none in what the stretch
//     has stored.
//   - The stretch repeats what came just before, values and all, as a tracer does that writes twice.
//
// An instruction that computes something else of the same is a root cause. A limit: a loop variable that is wrong by whole
// rounds, where nothing else tells the rounds apart, is taken for missing or repeated rounds.

const (
	soon         = 32 // instructions behind a wrong value in which the two sides must have parted, or differ for good
	forGood      = 4  // differences in these
	fewDifferent = 2  // in a long way
)

// explain looks for a stretch that explains a certain difference of two instructions at the same address, and returns how to go on
// then. It returns nil if there is none, and reports false if it wants to see more groups first.
func (a *aligner) explain(x, y *group, p *pairing) (steps []step, enough bool) {
	if len(p.wrong) == 0 || a.blurred(reference, x) || a.blurred(other, y) || a.misled(x, y, p) {
		return nil, true
	}
	if !a.sees(soon) {
		return nil, false
	}
	if differ, part := a.ahead(0, 0, soon); !part && differ < forGood {
		return nil, true
	}
	if !a.sees(a.reach.explain + a.reach.run) {
		return nil, false
	}
	gap, ok := a.search(true, a.reach.explain)
	if !ok {
		return nil, true
	}
	steps = a.refine(gap)
	missing, extra := steps[0].groups[reference], steps[0].groups[other]
	switch {
	case (missing == 0) == (extra == 0) || !a.same(missing, extra):
		return nil, true
	case loadsOther(x, y, p) || a.repeats(reference, missing) && a.repeats(other, extra):
		return steps, true
	case a.c.rules.named[RuleWaiting] != nil && loadsUntold(x, y, p):
		return steps, true
	case a.c.rules.named[RuleReserved] != nil && (a.retries(reference, missing) || a.retries(other, extra)):
		return steps, true
	case missing == 0:
		return nil, true
	case !a.sees(missing + a.reach.missing):
		return nil, false
	}
	if differ, part := a.ahead(missing, 0, a.reach.missing); part || differ > fewDifferent || a.notStored(missing) {
		return nil, true
	}
	return steps, true
}

// same reports whether two groups are equal.
func (a *aligner) same(i, j int) bool {
	r, o := &a.queue[reference], &a.queue[other]
	return i < r.len() && j < o.len() && r.at(i).full == o.at(j).full
}

// loadsOther reports whether an instruction loads other data from the same address.
func loadsOther(x, y *group, p *pairing) bool {
	return slices.ContainsFunc(p.wrong, func(w [2]int) bool {
		e, f := &x.effects[w[0]], &y.effects[w[1]]
		return e.kind == loads && samePlace(e, f)
	})
}

// loadsUntold reports whether an instruction loads from the same address on both sides, and only the registers tell what.
func loadsUntold(x, y *group, p *pairing) bool {
	return loadsAlike(x, y, p) && !slices.ContainsFunc(x.effects, func(e effect) bool { return e.kind == loads && e.size > 0 })
}

// notStored reports whether, behind a stretch of the reference, the other side loads something else from where the stretch has
// stored: then the stretch is not only missing in the trace.
func (a *aligner) notStored(missing int) bool {
	r, o := &a.queue[reference], &a.queue[other]
	stored := newWrongMemory()
	for _, g := range r.groups[r.start : r.start+missing] {
		for i := range g.effects {
			stored.setWritten(&g.effects[i], true)
		}
	}
	for k := range min(a.reach.missing, r.len()-missing, o.len()) {
		x, y := r.at(missing+k), o.at(k)
		if x.full == y.full {
			continue
		}
		for i := range x.effects {
			e := &x.effects[i]
			if e.kind == loads && stored.wrong(e) && !slices.ContainsFunc(y.effects,
				func(f effect) bool { return equalEffects(x, e, y, &f) }) {
				return true
			}
		}
	}
	return false
}

// ahead counts the differences of so many pairs from two places on, until the two sides part.
func (a *aligner) ahead(i, j, n int) (differ int, part bool) {
	r, o := &a.queue[reference], &a.queue[other]
	for k := range min(n, r.len()-i, o.len()-j) {
		x, y := r.at(i+k), o.at(j+k)
		if x.head != y.head {
			return differ, true
		}
		if x.full != y.full {
			differ++
		}
	}
	return differ, false
}

// repeats reports whether a side's next groups are equal to as many before them.
func (a *aligner) repeats(side, n int) bool {
	q := &a.queue[side]
	before := q.before()
	if n > len(before) {
		return false
	}
	for i, g := range before[len(before)-n:] {
		if g == nil || g.full != q.at(i).full {
			return false
		}
	}
	return true
}
