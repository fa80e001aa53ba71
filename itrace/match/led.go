package match

import "slices"

// recentGroups is how many instructions before a parting of the ways are looked at for what has decided it: a branch, its delay
// slot, and the comparison before it.
const recentGroups = 4

// led reports whether the two sides can have gone different ways because of something that was wrong before: a branch was executed
// last, or before the instruction in its delay slot, that read a register of which they hold different values, or flags that were
// set by such a register; and where they have gone are its two ways. A parting behind anything else is a matter of its own.
func (a *aligner) led() bool {
	before := a.queue[reference].before()
	n := len(before)
	for k := 1; k <= min(2, n); k++ {
		g := before[n-k]
		if g == nil || !mayBranch(g) || !a.parts(g) {
			continue
		}
		if a.reads(reference, g, g.index, anywhere) {
			return true
		}
		if a.readsFlags(g) && a.wrongFlags(before[max(0, n-recentGroups):n-k]) {
			return true
		}
	}
	return false
}

// strayed reports whether a stretch that begins where both sides are at the same instruction, so that they have not parted there,
// comes of something that was wrong before: something in it reads a register of which they hold different values.
func (a *aligner) strayed(s stretch) bool {
	r, o := &a.queue[reference], &a.queue[other]
	if r.len() == 0 || o.len() == 0 || r.at(0).pc != o.at(0).pc {
		return false
	}
	for side := range a.queue {
		q := &a.queue[side]
		for _, g := range q.groups[q.start : q.start+min(s.groups[side], strayedWithin)] {
			if a.blurred(side, g) {
				return true
			}
		}
	}
	return false
}

// strayedWithin is how many instructions of a stretch are looked at for what they read.
const strayedWithin = 64

// mayBranch reports whether an instruction can be a branch by its effects: a branch has none but the address to return to, unless
// it takes its target from memory.
func mayBranch(g *group) bool {
	return !slices.ContainsFunc(g.effects, func(e effect) bool {
		return e.kind == stores || e.kind == writesRegister && (e.value-g.pc == 0 || e.value-g.pc > nearby)
	})
}

// parts reports whether the instructions at hand can be where a branch leads, one way and the other: of one that names a target,
// that target and what follows it.
func (a *aligner) parts(branch *group) bool {
	r, o := &a.queue[reference], &a.queue[other]
	if r.len() == 0 || o.len() == 0 {
		return true
	}
	x, y := r.at(0).pc, o.at(0).pc
	_, operands, _ := a.c.words(reference, branch)
	named := false
	for _, operand := range operands {
		target, ok := operand.target(branch.pc)
		if !ok || operand.address || a.register(operand.word) != nil {
			continue
		}
		if target == x && fallsThrough(branch.pc, y) || target == y && fallsThrough(branch.pc, x) {
			return true
		}
		named = true
	}
	return !named
}

// fallsThrough reports whether an instruction is where one goes on that does not branch, behind its delay slot if it has one.
func fallsThrough(pc, next uint64) bool { return next > pc && next-pc <= nearby }

// readsFlags reports whether an instruction names a target but no register, and so decides by flags if by anything.
func (a *aligner) readsFlags(g *group) bool {
	_, operands, ok := a.c.words(reference, g)
	return ok && len(operands) > 0 && !slices.ContainsFunc(operands, func(o operand) bool {
		r := a.register(o.word)
		return r != nil && r.sides[reference].known
	})
}
