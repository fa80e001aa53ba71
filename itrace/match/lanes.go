package match

import (
	"maps"
	"slices"

	"tracewell/itrace"
)

// A tracer at a processor's port tells accesses as the bus has them: whole words, aligned, and two of them where the program's
// access lies across. A simulator tells those of the program. Under RuleLanes, what one side accesses may be words of a bus that
// hold what the other accesses: the bytes that the program does not access make no difference.

// leastWord is the smallest word of a bus, in bytes.
const leastWord = 4

// fitLanes pairs the accesses that are left of two instructions if those of one side are words of a bus around those of the other.
func (a *aligner) fitLanes(x, y *group, p *pairing) {
	groups := [2]*group{x, y}
	for _, kind := range []effectKind{loads, stores} {
		var own [2][]int
		for side, g := range groups {
			for _, i := range p.left[side] {
				if g.effects[i].kind == kind {
					own[side] = append(own[side], i)
				}
			}
		}
		if len(own[reference]) == 0 || len(own[other]) == 0 {
			continue
		}
		if fits(x, own[reference], y, own[other]) || fits(y, own[other], x, own[reference]) {
			a.c.rules.named[RuleLanes].fire()
			for side := range groups {
				p.left[side] = without(p.left[side], own[side])
			}
		}
	}
}

// fits reports whether accesses are to the words of a bus that others of a program need.
func fits(bus *group, words []int, program *group, accesses []int) bool {
	if !slices.ContainsFunc(words, func(i int) bool { return bus.effects[i].size > 0 }) {
		return fitAddresses(bus, words, program, accesses)
	}
	wide, narrow := make(map[uint64][2]byte), make(map[uint64][2]byte)
	for _, i := range words {
		if e := &bus.effects[i]; e.size < leastWord || e.size > mostSpread || e.size&(e.size-1) != 0 || e.at%uint64(e.size) != 0 {
			return false
		}
		bus.spreadLow(&bus.effects[i], wide)
	}
	for _, i := range accesses {
		if e := &program.effects[i]; e.size == 0 || e.size > mostSpread {
			return false
		}
		program.spreadLow(&program.effects[i], narrow)
	}
	for _, i := range words { // each is there for some byte
		e := &bus.effects[i]
		if !slices.ContainsFunc(slices.Collect(maps.Keys(narrow)), func(addr uint64) bool { return addr-e.at < uint64(e.size) }) {
			return false
		}
	}
	for addr, digits := range narrow {
		if word, there := wide[addr]; !there || !itrace.DigitsMatch(digits[:], word[:]) {
			return false
		}
	}
	return true
}

// fitAddresses is fits for accesses of which the addresses alone are told: each is in a word of 4 bytes, and no word without one.
func fitAddresses(bus *group, words []int, program *group, accesses []int) bool {
	within := func(e, word *effect) bool { return e.at&^(leastWord-1) == word.at }
	for _, i := range words {
		if word := &bus.effects[i]; !slices.ContainsFunc(accesses, func(j int) bool { return within(&program.effects[j], word) }) {
			return false
		}
	}
	return !slices.ContainsFunc(accesses, func(j int) bool {
		return !slices.ContainsFunc(words, func(i int) bool { return within(&program.effects[j], &bus.effects[i]) })
	})
}

// spreadLow takes an access apart into bytes of two digits, the lowest first: digits above its size belong to the register that it
// came from.
func (g *group) spreadLow(e *effect, bytes map[uint64][2]byte) {
	digits := g.digitsOf(e)
	for n := range uint64(e.size) {
		bytes[e.at+n] = byteOf(digits, e.size, n, false)
	}
}
