package match

import (
	"bytes"
	"slices"

	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
)

// Some rules are about stretches: what one side has executed and the other has not, and what comes of the time at which something
// happened and not of what was executed. A stretch is named first (naming.go); what it is named decides which rule may leave it
// out. Nothing else is left out with it: what it has written differs for its sake alone (register.strayed), and where it has left
// something behind that is read, that is a consequence.

// excused reports whether a stretch is no difference under the rules in force, but for runs of handlers (moved).
func (a *aligner) excused(class Class, s stretch) bool {
	named := a.c.rules.named
	side, n := s.side()
	for _, rule := range []struct {
		name  Rule
		holds func() bool
	}{
		{RuleTrapped, func() bool { return n == 1 && a.trappedAlone(side) }},
		{RuleExceptions, func() bool { return n == 1 && a.trappedUnsaid(side) }},
		{RuleReserved, func() bool { return class == ClassLoop && a.retries(side, n) }},
		{RuleWaiting, func() bool {
			return a.onlyWaits(side, n) || class == ClassLoop && a.asks(side, n) && a.leavesNothing(side, n)
		}},
	} {
		if c := named[rule.name]; c != nil && s.groups[1-side] == 0 && rule.holds() {
			c.fire()
			return true
		}
	}
	return false
}

// trappedAlone reports whether the next instruction of a side is one that had an exception, and the other side does not tell such.
func (a *aligner) trappedAlone(side int) bool {
	q, o := &a.queue[side], &a.queue[1-side]
	return q.at(0).trapped && o.len() > 0 && o.at(0).scope&itrace.TellsTrapped == 0
}

// trappedUnsaid reports whether the next instruction of a side is one that had an exception, which its trace does not say: it has
// no effects and can only be followed by the next one, but the trace goes on far from it.
func (a *aligner) trappedUnsaid(side int) bool {
	q := &a.queue[side]
	if q.len() < 2 {
		return false
	}
	g, next := q.at(0), q.at(1)
	return !g.bare && !g.wild && len(g.effects) == 0 && g.scope&itrace.NoOpcode == 0 && riscv.GoesOn(g.opcode) &&
		next.pc-g.pc > nearby && g.pc-next.pc > nearby
}

// retries reports whether a stretch of a side holds a conditional store.
func (a *aligner) retries(side, n int) bool {
	q := &a.queue[side]
	return slices.ContainsFunc(q.groups[q.start:q.start+n], func(g *group) bool { return a.storesConditionally(side, g) })
}

// storesConditionally reports whether an instruction stores unless something else has stored there.
func (a *aligner) storesConditionally(side int, g *group) bool {
	return a.is(side, g, riscv.StoresConditionally, mnemonics.Stores)
}

// failedAlone reports whether a conditional store failed on one side, as its results say and, as far as stores are told, these too.
func failedAlone(x *group, e *effect, y *group, f *effect) bool {
	if (e.value == 0) == (f.value == 0) {
		return false
	}
	if e.value == 0 {
		x = y
	}
	return !slices.ContainsFunc(x.effects, func(e effect) bool { return e.kind == stores })
}

// is reports whether an instruction is one of some, by its disassembly if it has one, or by its opcode.
func (a *aligner) is(side int, g *group, opcode func(uint64) bool, names []string) bool {
	if mnemonic, _, ok := a.c.words(side, g); ok {
		return slices.ContainsFunc(names, func(name string) bool { return bytes.EqualFold(mnemonic, []byte(name)) })
	}
	return g.scope&itrace.NoOpcode == 0 && !g.bare && !g.wild && opcode(g.opcode)
}

// onlyWaits reports whether the next instructions of a side do nothing but wait.
func (a *aligner) onlyWaits(side, n int) bool {
	q := &a.queue[side]
	return !slices.ContainsFunc(q.groups[q.start:q.start+n], func(g *group) bool { return !a.waits(side, g) })
}

// waits reports whether an instruction does nothing but wait.
func (a *aligner) waits(side int, g *group) bool {
	return len(g.effects) == 0 && a.is(side, g, riscv.Waits, mnemonics.Waits)
}

// idles reports whether the next instructions of a side, behind the end of the other, do nothing but wait, or go round in a loop
// without effects.
func (a *aligner) idles(side, n int) bool {
	q := &a.queue[side]
	behind := q.groups[q.start : q.start+n]
	before := q.before()
	times := make(map[uint64]int)
	for _, g := range slices.Concat(before[max(0, len(before)-recentGroups):], behind) {
		if g != nil {
			times[g.pc]++
		}
	}
	return !slices.ContainsFunc(behind, func(g *group) bool {
		return len(g.effects) > 0 || g.scope&(itrace.NoRegisters|itrace.NoStores) != 0 || times[g.pc] < 2 && !a.waits(side, g)
	})
}

// asks reports whether the last round of a stretch does what the round behind it does, but for what comes of a load that finds
// something else at the same address: so does a loop that asks again and again, and none that gets on with something. One without
// effects may end at any time.
func (a *aligner) asks(side, n int) bool {
	q, round := &a.queue[side], a.round(side, n)
	if most := a.c.options.Rounds; most > 0 && n > most*round {
		return false
	}
	spins := !slices.ContainsFunc(q.groups[q.start:q.start+n], func(g *group) bool { return len(g.effects) > 0 })
	for k := n; k < min(n+round, q.len()); k++ {
		if x, y := q.at(k-round), q.at(k); x.full != y.full {
			return x.pc != y.pc && spins || x.pc == y.pc && slices.ContainsFunc(x.effects, func(e effect) bool {
				return e.kind == loads && slices.ContainsFunc(y.effects, func(f effect) bool { return samePlace(&e, &f) })
			})
		}
	}
	return true
}

// round is how long the last round of a stretch of a side is.
func (a *aligner) round(side, n int) int {
	q := &a.queue[side]
	for k := n - 1; k > 0; k-- {
		if q.at(k).pc == q.at(0).pc {
			return n - k
		}
	}
	return n
}

// longestWait is how many instructions behind a stretch are looked at for whether they write again what it has written.
const longestWait = 64

// leavesNothing reports whether a stretch of a side has stored nothing, and what it has written to registers is written again,
// alike on both sides, before anything differs. So a loop that waits for something goes round; one that computes something leaves
// that behind. Of a trace that does not tell what is written nobody can know.
func (a *aligner) leavesNothing(side, n int) bool {
	q, o := &a.queue[side], &a.queue[1-side]
	left := make(map[uint64]*held)
	for _, g := range q.groups[q.start : q.start+n] {
		if g.scope&(itrace.NoRegisters|itrace.NoStores) != 0 {
			return false
		}
		for i := range g.effects {
			switch e := &g.effects[i]; e.kind {
			case stores, happens:
				return false
			case writesRegister:
				left[e.at] = g.held(e)
			}
		}
	}
	for register, h := range left {
		if there := &a.state.register(register).sides[1-side]; there.known && there.equal(h) {
			delete(left, register)
		}
	}
	for k := 0; k < longestWait && len(left) > 0; k++ {
		if n+k >= q.len() || k >= o.len() {
			return q.ended && o.ended
		}
		x := q.at(n + k)
		if x.full != o.at(k).full {
			return false
		}
		for i := range x.effects {
			if e := &x.effects[i]; e.kind == writesRegister {
				delete(left, e.at)
			}
		}
	}
	return len(left) == 0
}

// run is a run of a handler that one side has had and the other not yet.
type run struct {
	entry uint64 // the address of its first instruction
	side  int
	order int64
	Difference
}

// mostRuns bounds the runs that are waited for. What there are more of are differences at once.
const mostRuns = 1 << 10

// moved takes note of a run of a handler, and reports whether there is one less or one more to be waited for. The Difference is
// that of a run that the other side has not had yet, nil if it had.
func (a *aligner) moved(side, _ int) (waits bool, of *run) {
	rule, entry := a.c.rules.named[RuleInterrupts], a.queue[side].at(0).pc
	a.forgetTrap(side)
	at := slices.IndexFunc(a.runs, func(r *run) bool { return r.entry == entry && r.side != side })
	switch {
	case at >= 0:
		a.runs = slices.Delete(a.runs, at, at+1)
		rule.fire()
		return true, nil
	case len(a.runs) == mostRuns:
		return false, nil
	}
	of = &run{entry: entry, side: side}
	a.runs = append(a.runs, of)
	return true, of
}

// forgetTrap gives up waiting for what the way into a handler has written to registers of control and status, where the trace
// tells that of the instruction before.
func (a *aligner) forgetTrap(side int) {
	before := a.queue[side].before()
	if len(before) == 0 || before[len(before)-1] == nil {
		return
	}
	last := before[len(before)-1].index
	a.late[side] = slices.DeleteFunc(a.late[side], func(l lateEffect) bool {
		return l.group != nil && l.group.index == last && l.effect.system
	})
}

// finishRuns reports the runs of handlers that the other side has not had, but for one under RuleExtraInterrupt.
func (a *aligner) finishRuns() {
	for i, r := range a.runs {
		if extra := a.c.rules.named[RuleExtraInterrupt]; i == 0 && extra != nil {
			extra.fire()
			continue
		}
		d := a.c.note(a, ClassHandler, r.order, sides{r.Reference, r.Other}, r.Context)
		d.Note, d.Side, d.Groups, d.Records = r.Note, r.Side, r.Groups, r.Records
	}
	a.runs = nil
}
