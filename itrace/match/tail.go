package match

// tail is what one side has behind the end of the other.
type tail struct {
	at      sides
	side    int
	order   int64
	context *Context
	groups  int64
	records int64
	part    bool // it goes on where a stretch has ended, and is part of that
	waits   bool // it only waits, and RuleWaiting is in force
}

// takeTail takes the rest of a side off its queue.
func (a *aligner) takeTail(side int) {
	q := &a.queue[side]
	if !a.queue[1-side].shown() {
		a.takeAlone(side)
		return
	}
	if a.rest.groups == 0 {
		a.rest.side, a.rest.part = side, a.parting.groups != [2]int64{}
		if !a.rest.part && !a.c.options.SkipRest {
			a.openTail(a.c.head(side, q.at(0)), a.view(), a.order())
		}
	}
	if waits := a.c.rules.named[RuleWaiting] != nil && a.idles(side, q.len()); a.rest.groups == 0 || !waits {
		a.rest.waits = waits
	}
	for q.len() > 0 {
		g := q.at(0)
		if a.rest.part {
			a.extend(side, g)
		}
		a.rest.groups++
		a.rest.records += int64(1 + len(g.effects))
		a.state.apply(side, g, nil)
		a.pass(side)
	}
}

// takeAlone passes over what one side has of a processor of which the other has nothing.
func (a *aligner) takeAlone(side int) {
	s := stretch{}
	s.groups[side] = a.queue[side].len()
	a.passOver(s)
}

// openTail notes where the tail begins, unless that is known.
func (a *aligner) openTail(at *Position, v view, order int64) {
	if a.rest.at == (sides{}) {
		a.rest.at[a.rest.side], a.rest.order, a.rest.context = at, order, a.c.context(a, v)
	}
}

// cutOff makes an effect of the instruction that the other side ends with the first record of the tail.
func (a *aligner) cutOff(side int, l *lateEffect) {
	if a.c.options.SkipRest {
		a.c.rules.rest.fired += 1
		return
	}
	if a.rest.records == 0 {
		a.rest.side = side
	}
	a.rest.at = sides{}
	a.openTail(a.c.effect(side, l.group, &l.effect), l.of.view, l.of.order)
	a.rest.records++
}

// finish tells of the tail. Where two traces are of one length and something in them was shifted, one has to end earlier by as
// much, and nothing is to be said of it.
func (a *aligner) finish() {
	a.expireLate()
	a.finishRuns()
	for side := range a.queue {
		if d := a.parting.difference; d != nil && !a.queue[side].shown() {
			d.Note = [2]string{"the reference", "the other trace"}[side] + " has nothing of this processor"
		}
	}
	longer := a.rest.groups
	if a.rest.side == reference {
		longer = -longer
	}
	switch {
	case a.rest.records == 0 || a.rest.part:
	case a.rest.waits:
		a.c.rules.named[RuleWaiting].fire()
	case a.c.options.SkipRest:
		a.c.rules.rest.fired += a.rest.records
	case a.rest.groups > 0 && a.shifts.explain(-longer):
		a.c.consequence(a.noteRest)
	default:
		a.noteRest()
	}
}

// noteRest notes that one trace goes on where the other has ended.
func (a *aligner) noteRest() {
	d := a.c.note(a, ClassTail, a.rest.order, a.rest.at, a.rest.context)
	d.Groups, d.Records = a.rest.groups, a.rest.records
}

// shifts are how many instructions the other side was found to have more than the reference. Of a stretch that the processor has
// executed, its trace ends earlier by as much, if it ends after a number of instructions; of one that only the tracer left out
// or made up it does not. Which it was is not known. Where many stretches were passed over, or some that follow from something
// wrong and that other differences may lie in, any number is explained that is no more than all of them.
type shifts struct {
	each      []int64
	fore      int64 // sum of those that are more
	back      int64 // and of those that are less
	uncertain bool
}

// mostShifts bounds the stretches of which each is considered.
const mostShifts = 10

func (s *shifts) add(n int64, consequence bool) {
	s.fore += max(n, 0)
	s.back += min(n, 0)
	s.uncertain = s.uncertain || consequence || len(s.each) == mostShifts
	if !s.uncertain && n != 0 {
		s.each = append(s.each, n)
	}
}

// explain reports whether the shifts, or some of them, come to a number.
func (s *shifts) explain(n int64) bool {
	if s.uncertain {
		return s.back <= n && n <= s.fore
	}
	for choice := range 1 << len(s.each) {
		var sum int64
		for i, shift := range s.each {
			sum += shift * int64(choice>>i&1)
		}
		if sum == n {
			return true
		}
	}
	return false
}
