package match

import (
	"cmp"
	"slices"

	"tracewell/itrace"
)

// Traces of two producers do not tell the same. Of two instructions only that is compared which both traces tell (itrace.Scope);
// what is left out is counted by what it is, and is in the report. Groups that are still to be paired keep all that they have,
// since what they will be paired with may tell more; only their hashes are of what the other side tells, so that the two sides can
// be brought together.

// untold is a part of what one side tells and the other does not.
type untold struct {
	what string
	side int // that does not tell it
}

// NotTold is something that one trace tells and the other does not, so that it was not compared.
type NotTold struct {
	What    string `json:"what"`
	By      string `json:"by"`      // the trace that does not tell it: "reference" or "other"
	Records int64  `json:"records"` // that were left out
}

// onlyIn counts that a record of something was left out which a side does not tell.
func (r *rules) onlyIn(what string, side int) {
	key := untold{what, side}
	c := r.untold[key]
	if c == nil {
		c = new(counter)
		r.untold[key] = c
	}
	c.fire()
}

// notTold lists what was left out.
func (r *rules) notTold() (list []NotTold) {
	for key, c := range r.untold {
		list = append(list, NotTold{key.what, [2]string{"reference", "other"}[key.side], c.fired})
	}
	slices.SortFunc(list, func(a, b NotTold) int { return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(a.What, b.What)) })
	return list
}

// told says what of an effect is told in a scope.
func (e *effect) told(s itrace.Scope) (what string, some, data bool) {
	switch e.kind {
	case writesRegister:
		if e.system {
			return "registers of control and status", s&itrace.NoSystem == 0, true
		}
		return "registers", s&itrace.NoRegisters == 0, true
	case readsRegister:
		return "reads of registers", s&itrace.TellsReads != 0, true
	case loads:
		return "loads", s&itrace.NoLoads == 0, s&itrace.NoLoaded == 0
	case stores:
		return "stores", s&itrace.NoStores == 0, s&itrace.NoStored == 0
	}
	return "exceptions and interrupts", s&itrace.TellsEvents != 0, true
}

// without takes the data, and with it the size, from an access.
func (e effect) without() effect {
	e.size, e.value, e.wide, e.digits = 0, 0, false, span{}
	return e
}

// finishFor makes the hashes by what both the trace and another tell. Where one tells only changes of registers, whether a write is
// one is not known in advance.
func (g *group) finishFor(other itrace.Scope) {
	s := g.scope.Common(other)
	if s == g.scope && s&itrace.OnlyChanges == 0 {
		return
	}
	if s&itrace.OnlyChanges != 0 {
		s |= itrace.NoRegisters | itrace.NoSystem
	}
	whole := *g
	g.effects = nil
	for _, e := range whole.effects {
		if _, some, data := e.told(s); some && data {
			g.effects = append(g.effects, e)
		} else if some {
			g.effects = append(g.effects, e.without())
		}
	}
	g.blank(s)
	g.finish()
	whole.head, whole.full, whole.ordered = g.head, g.full, g.ordered
	*g = whole
}

// blank takes from an instruction record what is not told in a scope.
func (g *group) blank(s itrace.Scope) {
	if s&itrace.NoOpcode != 0 {
		g.opcode, g.wild, g.expanded = 0, false, false
	}
	if s&itrace.NoMode != 0 {
		g.mode, g.security = 0, 0
	}
	if s&itrace.TellsTrapped == 0 {
		g.trapped = false
	}
}

// leaveFlow leaves of an instruction record its address, and that it had an exception, as then the other trace may not tell it.
func (g *group) leaveFlow() {
	g.scope = g.scope&(itrace.TellsTrapped|itrace.Gaps) | itrace.FlowOnly
	g.blank(g.scope)
	g.skipped = false
}

// rehash makes the hashes of what has come to both queues since the last time.
func (a *aligner) rehash() {
	for side := range a.queue {
		q, o := &a.queue[side], &a.queue[1-side]
		if len(o.groups) == 0 {
			continue
		}
		last := o.groups[len(o.groups)-1]
		if last == nil || last.bare {
			continue
		}
		for ; q.hashed < len(q.groups); q.hashed++ {
			if g := q.groups[q.hashed]; !g.bare { // effects ahead of all are compared whatever is told of instructions
				g.finishFor(last.scope)
			}
		}
	}
}

// level leaves in two instructions what both traces tell.
func (a *aligner) level(x, y *group) {
	s := x.scope.Common(y.scope)
	changes := s&itrace.OnlyChanges != 0 && a.c.rules.named[RuleChanges] != nil
	if x.scope == s && y.scope == s && !changes || x.bare && x.index+y.index == 0 { // effects ahead of all tell of no scope
		return
	}
	for side, g := range [2]*group{x, y} {
		if g.scope != s {
			a.restrict(side, g, s)
		}
	}
	if changes {
		a.leaveChanges(x, y)
	}
	x.finish()
	y.finish()
}

// restrict leaves in an instruction of a side what is told in a scope.
func (a *aligner) restrict(side int, g *group, s itrace.Scope) {
	g.effects = slices.DeleteFunc(g.effects, func(e effect) bool {
		what, some, _ := e.told(s)
		if !some {
			a.c.rules.onlyIn(what, 1-side)
		}
		return !some
	})
	for i := range g.effects {
		if what, _, data := g.effects[i].told(s); !data {
			if _, _, had := g.effects[i].told(g.scope); had {
				a.c.rules.onlyIn("data of "+what, 1-side)
			}
			g.effects[i] = g.effects[i].without()
		}
	}
	missing := s &^ g.scope
	if missing&itrace.NoOpcode != 0 && !g.bare {
		a.c.rules.onlyIn("opcodes", 1-side)
	}
	if missing&itrace.NoMode != 0 && !g.bare {
		a.c.rules.onlyIn("modes", 1-side)
	}
	g.blank(s)
	g.scope = s
}

// leaveChanges leaves of the writes of registers of two instructions those that change a value. A register of which a side that
// tells only changes has told nothing so far may be one that it does not tell at all; what the other side writes there is left out,
// too.
func (a *aligner) leaveChanges(x, y *group) {
	groups := [2]*group{x, y}
	var unchanged [2][]bool
	for side, g := range groups {
		unchanged[side] = make([]bool, len(g.effects))
		for i := range g.effects {
			if g.effects[i].kind == writesRegister {
				unchanged[side][i] = a.unchanged(side, groups, i)
			}
		}
	}
	for side, g := range groups {
		n := 0
		for i := range g.effects {
			if !unchanged[side][i] {
				g.effects[n] = g.effects[i]
				n++
			}
		}
		g.effects = g.effects[:n]
	}
}

// unchanged reports whether a write, by its place, is to be left out, and counts it.
func (a *aligner) unchanged(side int, groups [2]*group, i int) bool {
	g := groups[side]
	e := &g.effects[i]
	if g.lastWrite(e.at) != i { // another value comes behind it
		a.c.rules.named[RuleChanges].fire()
		return true
	}
	r, k := a.state.register(e.at), &a.changes
	there := groups[1-side].lastWrite(e.at)
	also := there >= 0
	holds := func(side, i int) bool {
		return r.sides[side].known && r.sides[side].equal(groups[side].held(&groups[side].effects[i]))
	}
	switch {
	case !also && !k.told[1-side][e.at]:
		k.count(1-side, e.at)
		by, otherBy := place{groups[reference].index, groups[reference].line, groups[reference].offset},
			place{groups[other].index, groups[other].line, groups[other].offset}
		var wide []byte
		if e.wide {
			wide = slices.Clone(g.digitsOf(e))
		}
		a.state.setEqual(e.at, e.value, wide, by, otherBy)
		return true
	// One that both sides have is left out of both or neither: where a value was wrong before, it may be a change on one side only.
	case holds(side, i) && (!also || holds(1-side, there)):
		a.c.rules.named[RuleChanges].fire()
		return true
	}
	a.c.rules.named[RuleChanges].fired += k.tell(side, e.at)
	return false
}

// changes is what is known of registers where a side tells only changes.
type changes struct {
	told [2]map[uint64]bool  // registers of which a side has told something
	left [2]map[uint64]int64 // writes that were left out, of those of which it has not
}

// count counts a write that was left out because a side has told nothing of the register.
func (k *changes) count(side int, register uint64) {
	if k.left[side] == nil {
		k.left[side] = make(map[uint64]int64)
	}
	k.left[side][register]++
}

// tell notes that a side tells of a register, and returns how many writes were left out because it had not.
func (k *changes) tell(side int, register uint64) int64 {
	if k.told[side] == nil {
		k.told[side] = make(map[uint64]bool)
	}
	k.told[side][register] = true
	n := k.left[side][register]
	delete(k.left[side], register)
	return n
}

// tellUntold reports the registers of which a side has told nothing to the end.
func (a *aligner) tellUntold() {
	for side := range a.changes.left {
		for register, n := range a.changes.left[side] {
			key := untold{"register " + a.c.names.word(uint32(register)), side}
			if a.c.rules.untold[key] == nil {
				a.c.rules.untold[key] = new(counter)
			}
			a.c.rules.untold[key].fired += n
		}
	}
}

// lastWrite is the place of the last write of a register, -1 if there is none.
func (g *group) lastWrite(register uint64) int {
	for i := len(g.effects) - 1; i >= 0; i-- {
		if e := &g.effects[i]; e.kind == writesRegister && e.at == register {
			return i
		}
	}
	return -1
}

// held is what a register holds behind an effect.
func (g *group) held(e *effect) *held {
	h := &held{known: true, wide: e.wide, value: e.value}
	if e.wide {
		h.digits = g.digitsOf(e)
	}
	return h
}

// passTrapped passes an instruction that had an exception, if that is the first of one side and the other does not tell such.
func (a *aligner) passTrapped(x, y *group) bool {
	rule := a.c.rules.named[RuleTrapped]
	for side, g := range [2]*group{x, y} {
		o := [2]*group{y, x}[side]
		if rule == nil || !g.trapped || o.scope&itrace.TellsTrapped != 0 {
			continue
		}
		rule.fire()
		a.state.apply(side, g, nil)
		a.pass(side)
		return true
	}
	return false
}
