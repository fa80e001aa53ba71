package match

import (
	"cmp"
	"slices"

	"tracewell/itrace"
)

// The order of an instruction's effects makes no difference as long as they commute. Two writes of one register do not, nor do two
// accesses to one byte of which one is a write. Where such effects stand in another order, it is the outcome that is compared: what
// each register and each byte holds in the end, and what each read of a byte comes behind. The hash of a group is finer: it
// depends on the order of all effects that do not commute, so groups of equal hashes have equal outcomes, and the outcomes of
// others are compared only where all their effects could be paired.

// mostCommuting bounds the effects of a group whose hash does not depend on the order of those that commute. Of more, the hash
// depends on the order of all, and a look at the outcome tells whether that matters.
const mostCommuting = 32

// conflicts reports whether two effects do not commute.
func (e *effect) conflicts(f *effect) bool {
	if !e.accesses() || !f.accesses() {
		return e.kind == writesRegister && f.kind == writesRegister && e.at == f.at
	}
	return (e.kind == stores || f.kind == stores) && e.overlaps(f)
}

// overlaps reports whether two accesses have a byte in common.
func (e *effect) overlaps(f *effect) bool {
	return e.at-f.at < uint64(f.size) || f.at-e.at < uint64(e.size)
}

// orderHash notes whether a group has effects that do not commute, and returns a hash of their order, 0 if there are none.
func (g *group) orderHash() (hash uint64) {
	g.ordered = len(g.effects) > mostCommuting
	if g.ordered {
		for i := range g.effects {
			hash = mix(hash, g.effectHash(i))
		}
		return hash
	}
	for j := 1; j < len(g.effects); j++ {
		f := &g.effects[j]
		for i := range j {
			if e := &g.effects[i]; e.conflicts(f) {
				g.ordered = true
				hash += mix(mix(g.effectHash(i), 1), g.effectHash(j))
			}
		}
	}
	return hash
}

// hash is that of an effect. It begins with a number that no register or address has, since mix makes 0 of two equal ones, and an
// effect of hash 0 would not be missed.
func (e *effect) hash() uint64 {
	return mix(mix(mix(0xd1b54a32d192ed03+uint64(e.kind), e.at), uint64(e.size)), e.value)
}

// disorder is where effects that two instructions have in common come to another outcome for their order: a write that is the last
// of its register or byte, or a read that another write comes before, by their places in the two groups.
type disorder struct {
	some    bool
	effects [2]int
}

// findDisorder compares the outcomes of those effects of two instructions that have been paired with one another.
func (a *aligner) findDisorder(x, y *group, p *pairing) disorder {
	if !x.ordered && !y.ordered || len(p.wrong) > 0 {
		return disorder{}
	}
	groups := [2]*group{x, y}
	var paired [2][]int
	for side, g := range groups {
		for i := range g.effects {
			late := slices.ContainsFunc(p.late, func(l lateness) bool { return l.side == side && l.effect == i })
			if !late && !slices.Contains(p.left[side], i) {
				paired[side] = append(paired[side], i)
			}
		}
	}
	if slices.EqualFunc(paired[reference], paired[other],
		func(i, j int) bool { return equalEffects(x, &x.effects[i], y, &y.effects[j]) }) {
		return disorder{}
	}
	if d := registerDisorder(groups, paired); d.some {
		return d
	}
	little := memoryDisorder(groups, paired, false)
	if big := memoryDisorder(groups, paired, true); !big.some {
		return disorder{}
	}
	return little
}

// registerDisorder compares what registers hold in the end.
func registerDisorder(groups [2]*group, paired [2][]int) disorder {
	var last [2]map[uint64]int
	for side, g := range groups {
		last[side] = make(map[uint64]int)
		for _, i := range paired[side] {
			if e := &g.effects[i]; e.kind == writesRegister {
				last[side][e.at] = i
			}
		}
	}
	var d disorder
	for register, i := range last[reference] {
		j := last[other][register]
		if !equalValues(groups[reference], &groups[reference].effects[i], groups[other], &groups[other].effects[j]) {
			d.take(i, j)
		}
	}
	return d
}

// take notes a place, if it is the first of the reference.
func (d *disorder) take(i, j int) {
	if at := [2]int{i, j}; !d.some || slices.Compare(at[:], d.effects[:]) < 0 {
		*d = disorder{true, at}
	}
}

// byteOutcome is what a group makes of a byte of memory.
type byteOutcome struct {
	last  byteAccess
	reads []byteRead
}

// byteAccess is an access to a byte, by the effect and the two digits of it; the zero value is none.
type byteAccess struct {
	some   bool
	effect int
	digits [2]byte
}

// byteRead is a read of a byte and the last write before it.
type byteRead struct{ read, behind byteAccess }

// memoryDisorder compares what bytes hold in the end, and what reads of them come behind, in one byte order. Of long accesses it
// compares the beginning.
func memoryDisorder(groups [2]*group, paired [2][]int, big bool) disorder {
	var outcomes [2]map[uint64]*byteOutcome
	for side, g := range groups {
		outcomes[side] = byteOutcomes(g, paired[side], big)
	}
	var d disorder
	for addr, x := range outcomes[reference] {
		y := outcomes[other][addr]
		if y == nil {
			continue // it is in an access that is too long
		}
		if x.last.some && y.last.some && !x.last.matches(y.last) {
			d.take(x.last.effect, y.last.effect)
		}
		x.compareReads(y, &d)
	}
	return d
}

func byteOutcomes(g *group, effects []int, big bool) map[uint64]*byteOutcome {
	outcomes := make(map[uint64]*byteOutcome)
	for _, i := range effects {
		e := &g.effects[i]
		if !e.accesses() {
			continue
		}
		digits := g.digitsOf(e)
		for n := range uint64(min(e.size, mostSpread)) {
			o := outcomes[e.at+n]
			if o == nil {
				o = &byteOutcome{}
				outcomes[e.at+n] = o
			}
			if access := (byteAccess{true, i, byteOf(digits, e.size, n, big)}); e.kind == stores {
				o.last = access
			} else {
				o.reads = append(o.reads, byteRead{access, o.last})
			}
		}
	}
	return outcomes
}

// byteOf gives the digits of the byte of an access at so many bytes behind its address.
func byteOf(digits []byte, size uint32, n uint64, big bool) [2]byte {
	if big {
		n = uint64(size) - 1 - n
	}
	pair := [2]byte{'0', '0'}
	for k := range uint64(2) {
		if at := len(digits) - 1 - int(2*n+k); at >= 0 {
			pair[1-k] = digits[at]
		}
	}
	return pair
}

// matches reports whether two accesses are of the same value, or both none.
func (a byteAccess) matches(b byteAccess) bool {
	return a.some == b.some && (!a.some || itrace.DigitsMatch(a.digits[:], b.digits[:]))
}

// compareReads pairs the reads of a byte that read the same behind the same, and takes the first that is left of each side.
func (o *byteOutcome) compareReads(p *byteOutcome, d *disorder) {
	left := slices.Clone(p.reads)
	var alone []byteRead
	for _, r := range o.reads {
		at := slices.IndexFunc(left, func(s byteRead) bool { return r.read.matches(s.read) && r.behind.matches(s.behind) })
		if at < 0 {
			alone = append(alone, r)
		} else {
			left = slices.Delete(left, at, at+1)
		}
	}
	if len(alone) > 0 && len(left) > 0 {
		first := func(r, s byteRead) int { return cmp.Compare(r.read.effect, s.read.effect) }
		d.take(slices.MinFunc(alone, first).read.effect, slices.MinFunc(left, first).read.effect)
	}
}
