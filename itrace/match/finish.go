package match

// finishPair reports the differences of two instructions, and takes their effects over. One pair of instructions makes one
// difference of its effects at most: what else is wrong with them is a consequence.
func (a *aligner) finishPair(x, y *group, p *pairing) {
	if p.split {
		a.c.rules.split.fire()
	}
	if p.wild {
		a.c.rules.digits.fire()
	}
	a.countExpanded(x, y)
	reported := a.reportFields(x, y, p)
	conditional := a.c.rules.named[RuleReserved] != nil && a.storesConditionally(reference, x)
	// What is accessed comes before the registers that follow from it.
	for _, registers := range []bool{false, true} {
		for _, w := range p.wrong {
			e, f := &x.effects[w[0]], &y.effects[w[1]]
			switch {
			case !e.accesses() != registers:
			case reported || a.follows(x, y, p, e, f):
				a.c.consequence(func() { a.c.wrong(a, x, e, y, f) })
			case registers && conditional && failedAlone(x, e, y, f):
				a.c.rules.named[RuleReserved].fire()
			default:
				a.c.wrong(a, x, e, y, f)
				reported = true
			}
		}
	}
	if p.disorder.some {
		if reported {
			a.c.consequence(func() { a.c.disordered(a, x, y, p.disorder) })
		} else {
			a.c.disordered(a, x, y, p.disorder)
			reported = true
		}
	}
	a.setWrongMemory(x, y, p)
	a.overtake(x, y, p)
	a.miss(x, y, p, reported || len(p.wrong) > 0 && !conditional, conditional)
	a.count(x)
	a.countLeft(x, p)
	if a.watched > 0 {
		a.watch(x, p)
	}
	stale := a.resolveLateEffects(x, y, p)
	a.state.apply(reference, x, stale[reference])
	a.state.apply(other, y, stale[other])
	if reported {
		a.watched = watchedPairs
	}
}

// countExpanded counts that an opcode of one side had to be expanded to be that of the other.
func (a *aligner) countExpanded(x, y *group) {
	if x.expanded != y.expanded {
		a.c.rules.named[RuleCompressed].fire()
	}
}

// watchedPairs is how many instructions behind a wrong value are looked at for whether it was only the record that was wrong.
const watchedPairs = 64

// watch looks whether an instruction shows that a register holds the same on both sides.
func (a *aligner) watch(x *group, p *pairing) {
	a.watched--
	if !p.disorder.some && len(p.fields)+len(p.wrong)+len(p.left[reference])+len(p.left[other])+len(p.late) == 0 {
		a.vindicate(x)
	}
}

// setWrongMemory notes which memory holds different things now, and which the same since both sides have accessed it alike.
func (a *aligner) setWrongMemory(x, y *group, p *pairing) {
	for side, g := range [2]*group{x, y} {
		for i := range g.effects {
			if p.used[side][i] && g.effects[i].accesses() {
				a.state.memory.set(&g.effects[i], false)
			}
		}
	}
	wrong := p.wrong
	if p.disorder.some {
		wrong = [][2]int{p.disorder.effects} // nothing else is wrong then
	}
	for _, w := range wrong {
		a.state.memory.setWritten(&x.effects[w[0]], true)
		a.state.memory.setWritten(&y.effects[w[1]], true)
	}
}

// resolveLateEffects deals with the effects that come late, and returns those of each side that are not what a register holds now.
func (a *aligner) resolveLateEffects(x, y *group, p *pairing) (stale [2][]int) {
	for _, l := range p.late {
		if a.resolveLate([2]*group{x, y}[l.side], l) {
			stale[l.side] = append(stale[l.side], l.effect)
		}
	}
	return stale
}

// reportFields reports differences of the instruction records, and reports whether there were any that effects follow from.
func (a *aligner) reportFields(x, y *group, p *pairing) (reported bool) {
	for _, class := range p.fields {
		switch {
		case class == ClassMode && a.sameModes(x, y), class == ClassSkipped && a.wrongFlags(a.lastPaired()):
			a.c.consequence(func() { a.c.field(a, class, x, y) })
		default:
			a.c.field(a, class, x, y)
		}
		reported = reported || class == ClassOpcode || class == ClassSkipped || class == ClassTrapped
	}
	return reported
}

// lastPaired are the instructions of the reference before the one at hand.
func (a *aligner) lastPaired() []*group {
	before := a.queue[reference].before()
	return before[max(0, len(before)-recentGroups):]
}

// sameModes reports whether the modes of two instructions differ as those of the instructions before did, of which that follows: a
// processor that is in a wrong mode stays in it.
func (a *aligner) sameModes(x, y *group) bool {
	before := a.modes
	a.modes = differing{of: [2]uint32{x.mode, y.mode}, until: a.records[reference] + int64(1+len(x.effects))}
	return before.of == a.modes.of && before.until == a.records[reference]
}

// differing is modes that differ, and the records of the reference up to the end of the instruction that is in them.
type differing struct {
	of    [2]uint32
	until int64
}

// count counts an instruction and its effects as compared.
func (a *aligner) count(x *group) {
	if !x.bare {
		a.c.report.Compared.Instructions++
	}
	for i := range x.effects {
		a.c.countEffect(&x.effects[i])
	}
}

func (c *comparison) countEffect(e *effect) { c.addEffect(e, 1) }

func (c *comparison) addEffect(e *effect, n int64) {
	switch e.kind {
	case writesRegister, readsRegister:
		c.report.Compared.Registers += n
	case loads, stores:
		c.report.Compared.Memory += n
	}
}

// countLeft takes back that effects were counted that the other side has not shown.
func (a *aligner) countLeft(x *group, p *pairing) {
	for _, i := range p.left[reference] {
		a.c.addEffect(&x.effects[i], -1)
	}
}
