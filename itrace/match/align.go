package match

import (
	"slices"

	"tracewell/itrace"
)

// The two sides.
const (
	reference = iota
	other
)

// aligner pairs the groups of one processor.
//
// It goes through both queues in lock-step as long as the same instructions follow one another. Where they do not, or where an
// effect differs and a stretch that one side lacks explains that better (see explain.go), it looks for the nearest place from which
// both go on together (see resync.go), and what it passes over there is what one side has and the other has not.
type aligner struct {
	c     *comparison
	cpu   int32
	queue [2]queue
	state state
	changes

	late    [2][]lateEffect // effects that the other side has not shown yet
	records [2]int64        // of each side that have been passed
	wanted  int             // groups to look at while a place to go on from is looked for; 0 in lock-step
	modes   differing       // the last that differed
	pairing pairing         // of the groups at hand
	watched int             // instructions that are still to be looked at for whether a wrong value was only a wrong record
	parting parting         // what was passed over directly before the groups at hand
	last    int64           // the line of the reference's instruction that was passed last
	runs    []*run          // of interrupt handlers that the other side has not had
	shifts  shifts
	rest    tail
	reach   reach
}

// queue is groups of one side, oldest first, and those before them that are kept for the context of a difference.
type queue struct {
	groups  []*group
	start   int // of what is still to be paired
	history int
	passed  int64 // groups before that
	hashed  int   // of groups, those whose hashes are of what both sides tell
	ended   bool
}

func (q *queue) len() int { return len(q.groups) - q.start }

// shown reports whether there has been anything of the processor.
func (q *queue) shown() bool { return q.passed > 0 || q.len() > 0 }

func (q *queue) at(i int) *group { return q.groups[q.start+i] }

func (q *queue) push(g *group) { q.groups = append(q.groups, g) }

// pop passes the first group, and returns one that nothing refers to any more, nil for none.
func (q *queue) pop() (used *group) {
	q.start++
	q.passed++
	if q.start <= q.history {
		return nil
	}
	forgotten := q.start - q.history - 1
	used = q.groups[forgotten]
	q.groups[forgotten] = nil
	if forgotten > 1024 && forgotten > len(q.groups)/2 {
		q.groups = append(q.groups[:0], q.groups[forgotten+1:]...)
		q.start = q.history
		q.hashed -= forgotten + 1
	}
	return used
}

// before returns the groups that are kept and have been passed.
func (q *queue) before() []*group { return q.groups[max(0, q.start-q.history):q.start] }

// around returns the groups that are kept of those before and behind a place, which is so many groups into the trace.
func (q *queue) around(place int64, before, behind int) []*group {
	at := q.start - int(q.passed-place)
	from := max(0, q.start-q.history, at-before)
	return q.groups[from:max(from, min(at+behind, len(q.groups)))]
}

func newAligner(c *comparison, cpu int32) *aligner {
	a := &aligner{c: c, cpu: cpu, state: state{memory: c.memory}, reach: farReach}
	if c.options.FirstOnly {
		a.reach = nearReach
	}
	for s := range a.queue {
		// What is missing is reported only after patience, and its context shall be there then.
		a.queue[s].history = max(c.options.Context, recentGroups) + int(min(c.options.patience(), mostHistory))
		a.queue[s].ended = c.ended[s]
	}
	return a
}

// mostHistory bounds the groups that are kept, in case of a very large window or context.
const mostHistory = 1024

// work pairs what can be paired with what is there.
func (a *aligner) work() {
	a.rehash()
	for !a.done() {
		r, o := &a.queue[reference], &a.queue[other]
		switch {
		case a.wanted > 0:
			if !a.resynchronise() {
				return
			}
		case r.len() > 0 && o.len() > 0:
			if !a.pair(r.at(0), o.at(0)) {
				return
			}
		case r.len() > 0 && o.ended:
			a.takeTail(reference)
		case o.len() > 0 && r.ended:
			a.takeTail(other)
		default:
			a.bound()
			return
		}
	}
}

// done reports whether nothing more is wanted: the first difference has been found, and the aligner is beyond it.
func (a *aligner) done() bool { return a.c.answered() && a.beyond(a.c.first) }

// beyond reports whether nothing that is still to be found can come before a line of the reference. Of a processor that the
// reference does not come back to, and of which the last instruction is therefore still open, that is assumed after some lines.
func (a *aligner) beyond(order int64) bool {
	for _, late := range a.late {
		if slices.ContainsFunc(late, func(l lateEffect) bool { return l.group != nil && !l.of.reported && l.of.order < order }) {
			return false
		}
	}
	q := &a.queue[reference]
	return q.len() > 0 && q.at(0).line >= order ||
		q.len() == 0 && (q.ended || a.last >= order || a.c.report.Traces[reference].Lines > order+openLines)
}

// openLines is how many lines of other processors may follow before an instruction is taken as the last of its processor for good.
const openLines = 1 << 16

// pair deals with the first groups of both sides. It reports false if more groups are needed for that.
func (a *aligner) pair(x, y *group) bool {
	if x.scope != y.scope || x.scope&itrace.OnlyChanges != 0 {
		if x.pc == y.pc {
			a.level(x, y)
		} else if a.passTrapped(x, y) {
			return true
		}
	}
	switch {
	case x.full == y.full && a.plain(x, y):
		a.state.applyEqual(x, y)
		a.countExpanded(x, y)
		a.count(x)
		a.advance()
	case x.bare != y.bare && a.begins():
		return a.pairBare()
	case x.pc != y.pc || x.bare != y.bare:
		a.wanted = firstLookahead
	default:
		p := a.compare(x, y)
		if p.certain() {
			switch steps, enough := a.explain(x, y, p); {
			case !enough:
				return false
			case steps != nil:
				a.follow(steps)
				return true
			}
		}
		a.pairFirst(x, y, p)
	}
	return true
}

// begins reports whether nothing has been passed on either side.
func (a *aligner) begins() bool { return a.queue[reference].passed+a.queue[other].passed == 0 }

// pairBare deals with effects ahead of the first instruction that one side alone has: early ones, if the other side shows all of
// them soon, and otherwise a stretch. Like pair it reports false if more groups are needed.
func (a *aligner) pairBare() (enough bool) {
	side := reference
	if a.queue[other].at(0).bare {
		side = other
	}
	records := int(min(max(a.c.options.latest(), firstLookahead), int64(a.c.options.Lookahead)))
	if !a.sees(records) {
		return false
	}
	q, bare := &a.queue[1-side], a.queue[side].at(0)
	first := q.at(0)
	if own := &a.queue[side]; own.len() > 1 && own.at(1).scope&itrace.OnlyChanges != 0 {
		// What registers held, of which the other side tells when they are written.
		bare.effects = slices.DeleteFunc(bare.effects, func(e effect) bool { return e.kind == writesRegister })
	}
	// What the other side does not tell of instructions it does not tell of what was before them.
	a.restrict(side, bare, bare.scope.Common(first.scope))
	if !q.shows(bare, records) {
		a.wanted = firstLookahead
		return true
	}
	none := &group{bare: true, cpu: a.cpu, line: first.line, offset: first.offset}
	none.finish()
	q.groups = slices.Insert(q.groups, q.start, none)
	q.hashed++
	return true
}

// shows reports whether all effects of a group are among the next records of a side.
func (q *queue) shows(bare *group, records int) bool {
	return !slices.ContainsFunc(bare.effects, func(e effect) bool {
		left := records
		for i := 0; i < q.len() && left > 0; i++ {
			g := q.at(i)
			if slices.ContainsFunc(g.effects, func(f effect) bool { return equalEffects(bare, &e, g, &f) }) {
				return false
			}
			left -= 1 + len(g.effects)
		}
		return true
	})
}

// plain reports whether the hashes tell whether two groups are equal.
func (a *aligner) plain(x, y *group) bool {
	return !x.loose && !y.loose &&
		len(x.wide)+len(y.wide)+len(a.c.options.Fields)+len(a.late[reference])+len(a.late[other])+a.watched == 0
}

// pairFirst pairs the first groups of both sides, however they differ.
func (a *aligner) pairFirst(x, y *group, p *pairing) {
	a.finishPair(x, y, p)
	a.advance()
	a.expireLate()
}

// advance passes a pair.
func (a *aligner) advance() {
	a.parting = parting{}
	a.pass(reference)
	a.pass(other)
}

// pass takes the first group of a side off its queue.
func (a *aligner) pass(side int) {
	q := &a.queue[side]
	a.records[side] += int64(1 + len(q.at(0).effects))
	if side == reference {
		a.last = q.at(0).line
	}
	if used := q.pop(); used != nil {
		a.c.sides[side].release(used)
	}
}

// bound keeps a queue from growing without end whose other side says nothing of the processor.
func (a *aligner) bound() {
	for side := range a.queue {
		if a.queue[side].len() > 4*a.c.options.Lookahead && a.queue[1-side].len() == 0 {
			s := stretch{}
			s.groups[side] = a.queue[side].len() / 2
			a.passOver(s)
		}
	}
}
