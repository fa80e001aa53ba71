package match

import (
	"math"
	"slices"
)

// An effect may stand some records behind the instruction that has it: processors and models write results back when they are
// ready. So an effect that one side has and the other has not is put aside, and is no difference as long as the other side can
// still show it. The order of effects that do not commute is kept: an effect that comes behind a later one on the same register,
// or on the same byte if one of them writes it, is reordered, however little late it is.

// lateEffect is an effect that one side has shown and the other has not.
type lateEffect struct {
	of     *missed
	group  *group // a copy of what it is an effect of, without effects; nil once the other side has shown it
	effect effect
	passed int64 // records of the other side when it was missed
	at     int64 // records of its own side up to it
	lacks  instruction
	// overtaken says that the other side has shown an effect that does not commute with it and that comes behind it on its own.
	overtaken bool
}

// instruction is one of the side that lacks an effect, by its place and address.
type instruction struct {
	index int64
	pc    uint64
}

// missed is what the two sides have not in common of one pair of instructions. It makes one difference at most.
type missed struct {
	reported bool // as a difference
	// conditional says that RuleReserved leaves out what is missing.
	conditional bool
	blurred     bool // the instruction reads what was wrong before, from which may follow that it has other effects
	ending      bool // it is the last effects of one side that the other lacks, which may have ended before them
	order       int64
	view        view
}

// lateness is an effect, by its side and place, and the earlier one of the other side on the same register or address, by its
// place in the aligner's list.
type lateness struct {
	side, effect, earlier int
	wrong                 bool // the values differ
	by                    int64
}

// anyTime is the window without bounds.
const anyTime = math.MaxInt64

// latest is how many records late an effect may come: the window holds so many records besides it.
func (o *Options) latest() int64 { return o.Window - 1 }

// patience is how many records an effect is waited for before it is taken as missing. It is longer than the window so that one
// that comes too late is told from one that never comes.
func (o *Options) patience() int64 { return max(64, 4*o.Window) }

// findLate looks for effects that are equal to one that the other side has shown up to so many records earlier.
func (a *aligner) findLate(x, y *group, p *pairing, window int64) {
	for side, g := range [2]*group{x, y} {
		for k := range a.late[1-side] {
			l := &a.late[1-side][k]
			if l.group == nil || taken(p, side, k) {
				continue
			}
			for i := range g.effects {
				e := &g.effects[i]
				if by := a.lateBy(side, g, i, l); by <= window && a.free(p, side, i, window) && equalEffects(g, e, l.group, &l.effect) {
					p.late = append(p.late, lateness{side: side, effect: i, earlier: k, by: by})
					a.take(p, side, i)
					break
				}
			}
		}
	}
}

// findWrongLate looks for effects on what the other side has given another value earlier.
func (a *aligner) findWrongLate(x, y *group, p *pairing) {
	for side, g := range [2]*group{x, y} {
		p.left[side] = slices.DeleteFunc(p.left[side], func(i int) bool {
			for k := range a.late[1-side] {
				l := &a.late[1-side][k]
				if l.group != nil && !l.of.reported && !taken(p, side, k) && samePlace(&g.effects[i], &l.effect) {
					p.late = append(p.late, lateness{side: side, effect: i, earlier: k, by: a.lateBy(side, g, i, l), wrong: true})
					return true
				}
			}
			return false
		})
	}
}

// taken reports whether an effect that was put aside has been found.
func taken(p *pairing, side, earlier int) bool {
	return slices.ContainsFunc(p.late, func(q lateness) bool { return q.side == side && q.earlier == earlier })
}

// free reports whether an effect is still to be paired, which p.left tells once equal ones have been.
func (a *aligner) free(p *pairing, side, i int, window int64) bool {
	if window == anyTime {
		return slices.Contains(p.left[side], i)
	}
	return !p.used[side][i]
}

// take marks an effect as paired with a late one.
func (a *aligner) take(p *pairing, side, i int) {
	p.used[side][i] = true
	p.left[side] = without(p.left[side], []int{i})
}

// lateBy is how many records stand between where an effect of the instruction at hand would have to be, and where it is. Behind the
// first effects of a long instruction it is not late.
func (a *aligner) lateBy(side int, g *group, i int, l *lateEffect) int64 {
	if g.bare && l.lacks == (instruction{g.index, g.pc}) {
		return 0
	}
	return a.records[side] + int64(i+1) - l.passed
}

// miss puts the effects aside that only one side has shown; they may come late on the other, and those of a conditional store need
// not, but where another attempt stores something else.
func (a *aligner) miss(x, y *group, p *pairing, reported, conditional bool) {
	if len(p.left[reference])+len(p.left[other]) == 0 {
		return
	}
	m := &missed{reported: reported, conditional: conditional,
		blurred: a.blurred(reference, x) || a.blurred(other, y), order: x.line, view: a.view(),
		ending: isEnding(p.left[reference], len(x.effects)) && len(p.left[other]) == 0 ||
			isEnding(p.left[other], len(y.effects)) && len(p.left[reference]) == 0}
	for side, g := range [2]*group{x, y} {
		if len(p.left[side]) == 0 {
			continue
		}
		c := *g
		c.text, c.wide, c.effects = slices.Clone(g.text), slices.Clone(g.wide), nil
		lacks := [2]*group{x, y}[1-side]
		passed := a.records[1-side] + int64(1+len(lacks.effects))
		for _, i := range p.left[side] {
			a.state.memory.setWritten(&g.effects[i], true)
			a.late[side] = append(a.late[side], lateEffect{of: m, group: &c, effect: g.effects[i], passed: passed,
				lacks: instruction{lacks.index, lacks.pc}, at: a.records[side] + int64(i+1), overtaken: overtaken(g, i, p.left[side])})
		}
	}
}

// isEnding reports whether places in their order are the last of so many.
func isEnding(places []int, n int) bool { return len(places) > 0 && places[0] == n-len(places) }

// overtaken reports whether, of an instruction whose effects the other side has shown but for those that are left, one that it
// has shown comes behind a place and does not commute with the effect there.
func overtaken(g *group, i int, left []int) bool {
	for j := i + 1; j < len(g.effects); j++ {
		if g.effects[i].conflicts(&g.effects[j]) && !slices.Contains(left, j) {
			return true
		}
	}
	return false
}

// overtake notes which of the effects that are waited for the effects of the instructions at hand overtake. Those that were
// waited for themselves and come first on the other side do not.
func (a *aligner) overtake(x, y *group, p *pairing) {
	for side, g := range [2]*group{x, y} {
		found := func(i int) int {
			return slices.IndexFunc(p.late, func(l lateness) bool { return l.side == side && l.effect == i })
		}
		for k := range a.late[1-side] {
			l := &a.late[1-side][k]
			for i := range g.effects {
				at := found(i)
				if at >= 0 && p.late[at].earlier == k {
					break
				}
				inOrder := at >= 0 && a.late[1-side][p.late[at].earlier].at < l.at
				if l.group != nil && !inOrder && l.effect.conflicts(&g.effects[i]) && !equalEffects(g, &g.effects[i], l.group, &l.effect) {
					l.overtaken = true
				}
			}
		}
	}
}

// resolveLate deals with an effect that comes late. It reports whether the register has been written since, so that the value
// is that of the past.
func (a *aligner) resolveLate(g *group, l lateness) (overtaken bool) {
	e := &g.effects[l.effect]
	found := &a.late[1-l.side][l.earlier]
	early := *found
	found.group = nil
	a.state.memory.setWritten(e, l.wrong)
	tell := func() {
		if l.wrong {
			a.c.wrongLate(a, l.side, &early, g, e)
		} else {
			a.c.reordered(a, l.side, &early, g, e, l.by)
		}
	}
	switch {
	case l.by <= a.c.options.latest() && !early.overtaken && !l.wrong:
		a.c.rules.window.fire()
	case early.of.reported, l.wrong && early.of.blurred:
		a.c.consequence(tell)
	default:
		tell()
		early.of.reported = true
	}
	if l.side == other {
		a.c.countEffect(e)
	}
	return early.overtaken
}

// resolveStray deals with an effect in a stretch that is passed over: it may be one that comes late, or overtake one.
func (a *aligner) resolveStray(side int, g *group, e *effect) {
	for k := range a.late[1-side] {
		if l := &a.late[1-side][k]; l.group != nil && equalEffects(g, e, l.group, &l.effect) {
			a.c.consequence(func() {
				var at sides
				at[1-side], at[side] = a.c.effect(1-side, l.group, &l.effect), a.c.effect(side, g, e)
				a.c.note(a, ClassReordered, l.of.order, at, nil).What = a.c.place(e)
			})
			l.group = nil
			return
		} else if l.group != nil && l.of.conditional && samePlace(e, &l.effect) {
			a.c.wrongLate(a, side, l, g, e)
			l.of.reported = true
			l.group = nil
			return
		} else if l.group != nil && e.conflicts(&l.effect) {
			l.overtaken = true
		}
	}
}

// expireLate gives up on effects that have not come for long, or cannot come any more.
func (a *aligner) expireLate() {
	for side := range a.late {
		if len(a.late[side]) == 0 {
			continue
		}
		over := a.records[1-side] - a.c.options.patience()
		if q := &a.queue[1-side]; q.ended && q.len() == 0 {
			over = a.records[1-side] + 1
		}
		a.late[side] = slices.DeleteFunc(a.late[side], func(l lateEffect) bool {
			switch {
			case l.group == nil:
				return true
			case l.passed >= over:
				return false
			case l.of.reported || l.of.blurred:
				a.c.consequence(func() { a.c.absent(a, side, &l) })
			case l.of.conditional:
				a.c.rules.named[RuleReserved].fire()
			case l.of.ending && l.passed == a.records[1-side] && a.queue[1-side].ended:
				a.cutOff(side, &l)
			default:
				a.c.absent(a, side, &l)
				l.of.reported = true
			}
			return true
		})
	}
}
