package match

// The two sides.
const (
	reference = iota
	other
)

// aligner pairs the groups of one processor.
//
// It goes through both queues in lock-step as long as the same instructions follow one another. Where they do not, or where an
// effect differs and the flow of control soon does as well, it looks for the nearest place from which both go on together (see
// resync.go), and what it passes over there is a stretch that one side has and the other has not.
type aligner struct {
	c     *comparison
	cpu   int32
	queue [2]queue
	state state

	late    [2][]lateEffect // effects that the other side has not shown yet
	records [2]int64        // of each side that have been passed
	wanted  int             // groups to look at while a place to go on from is looked for; 0 in lock-step
	modes   [2]uint32       // that differed last
	pairing pairing         // of the groups at hand
	shift   int64           // instructions that the other side was found to have more than the reference
	rest    tail
}

// queue is groups of one side, oldest first, and those before them that are kept for the context of a difference.
type queue struct {
	groups  []*group
	start   int // of what is still to be paired
	history int
	ended   bool
}

func (q *queue) len() int { return len(q.groups) - q.start }

func (q *queue) at(i int) *group { return q.groups[q.start+i] }

func (q *queue) push(g *group) { q.groups = append(q.groups, g) }

// pop passes the first group, and returns one that nothing refers to any more, nil for none.
func (q *queue) pop() (used *group) {
	q.start++
	if q.start <= q.history {
		return nil
	}
	forgotten := q.start - q.history - 1
	used = q.groups[forgotten]
	q.groups[forgotten] = nil
	if forgotten > 1024 && forgotten > len(q.groups)/2 {
		q.groups = append(q.groups[:0], q.groups[forgotten+1:]...)
		q.start = q.history
	}
	return used
}

// before returns the groups that are kept and have been passed.
func (q *queue) before() []*group { return q.groups[max(0, q.start-q.history):q.start] }

func newAligner(c *comparison, cpu int32) *aligner {
	a := &aligner{c: c, cpu: cpu, state: state{memory: c.memory}}
	for s := range a.queue {
		a.queue[s].history = max(c.options.Context, recentGroups)
		a.queue[s].ended = c.ended[s]
	}
	return a
}

// work pairs what can be paired with what is there.
func (a *aligner) work() {
	for !a.c.stopped() {
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

// pair deals with the first groups of both sides. It reports false if more groups are needed for that.
func (a *aligner) pair(x, y *group) bool {
	switch {
	case x.full == y.full && len(x.wide)+len(y.wide) == 0 && len(a.c.options.Fields) == 0:
		a.state.applyEqual(x, y)
	case x.pc != y.pc || x.bare != y.bare:
		a.wanted = firstLookahead
		return true
	default:
		d := a.compare(x, y)
		if d.certain() {
			s, enough := a.explain(x, y, d)
			if !enough {
				return false
			}
			if s != nil {
				a.passOver(*s)
				return true
			}
		}
		a.settle(x, y, d)
	}
	a.count(x)
	a.pass(reference)
	a.pass(other)
	a.settleLate()
	return true
}

// pass takes the first group of a side off its queue.
func (a *aligner) pass(side int) {
	q := &a.queue[side]
	a.records[side] += int64(1 + len(q.at(0).effects))
	if used := q.pop(); used != nil {
		a.c.release(side, used)
	}
}

// count counts a pair as compared.
func (a *aligner) count(x *group) {
	n := &a.c.report.Compared
	if !x.bare {
		n.Instructions++
	}
	for i := range x.effects {
		if x.effects[i].kind == writesRegister {
			n.Registers++
		} else {
			n.Memory++
		}
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

// tail is what one side has behind the end of the other.
type tail struct {
	first   sides
	side    int
	context *Context
	groups  int64
	records int64
}

// takeTail takes the rest of a side off its queue.
func (a *aligner) takeTail(side int) {
	q := &a.queue[side]
	if a.rest.groups == 0 && !a.c.options.SkipRest {
		a.rest = tail{first: a.positions(side, q.at(0)), side: side, context: a.c.context(a)}
	}
	for q.len() > 0 {
		a.rest.groups++
		a.rest.records += int64(1 + len(q.at(0).effects))
		a.state.apply(side, q.at(0))
		a.pass(side)
	}
}

// finish tells of the tail. Where two traces are of one length and something in them was shifted, one has to end earlier by as
// much, and nothing is to be said of it.
func (a *aligner) finish() {
	a.settleLate()
	shifted := a.rest.groups
	if a.rest.side == reference {
		shifted = -shifted
	}
	switch {
	case a.rest.groups == 0 || a.c.options.SkipRest:
	case shifted == -a.shift:
		a.c.consequence()
	default:
		d := a.c.found(a, ClassTail, a.rest.first, "")
		d.Groups, d.Records, d.Context = a.rest.groups, a.rest.records, a.rest.context
	}
}
