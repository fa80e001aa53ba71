package match

import (
	"slices"

	"tracewell/itrace"
)

// pairing is how the effects of two instructions were paired.
type pairing struct {
	fields []Class    // of the instruction records that differ
	wrong  [][2]int   // effects on the same register or address with different values, by their places in the two groups
	left   [2][]int   // effects of each side that the other has not
	late   []lateness // effects of one side that the other has shown earlier
	split  bool       // accesses were split on one side
	wild   bool       // digits that are not known decided

	used []bool
}

// lateness is an effect, by its side and place, and the earlier one of the other side that it is equal to, by its place in the
// aligner's list.
type lateness struct{ side, effect, earlier int }

// lateEffect is an effect that one side has shown and the other has not.
type lateEffect struct {
	group   *group // a copy
	effect  effect
	passed  int64 // records of the other side when it was missed
	blurred bool  // a consequence, if it is not shown
}

// certain reports whether there is a difference that nothing later can resolve.
func (p *pairing) certain() bool { return len(p.fields)+len(p.wrong) > 0 }

// compare pairs the effects of two instructions at the same address.
func (a *aligner) compare(x, y *group) *pairing {
	p := &a.pairing
	*p = pairing{fields: p.fields[:0], wrong: p.wrong[:0], left: [2][]int{p.left[0][:0], p.left[1][:0]}, late: p.late[:0], used: p.used[:0]}
	a.compareFields(x, y, p)
	p.used = append(p.used, make([]bool, len(y.effects))...)
	for i := range x.effects {
		e := &x.effects[i]
		j := -1
		for k := range y.effects {
			if !p.used[k] && equalEffects(x, e, y, &y.effects[k]) {
				j = k
				break
			}
		}
		if j < 0 {
			p.left[reference] = append(p.left[reference], i)
			continue
		}
		p.used[j] = true
		if e.wide || y.effects[j].wide {
			p.wild = p.wild || string(x.digitsOf(e)) != string(y.digitsOf(&y.effects[j]))
		}
	}
	for j := range y.effects {
		if !p.used[j] {
			p.left[other] = append(p.left[other], j)
		}
	}
	if len(p.left[reference]) > 0 && len(p.left[other]) > 0 {
		a.merge(x, y, p)
	}
	a.findLate(x, y, p)
	a.pairWrong(x, y, p)
	return p
}

func (a *aligner) compareFields(x, y *group, p *pairing) {
	o := a.c.options
	for _, field := range []struct {
		class  Class
		differ bool
	}{
		{ClassOpcode, !equalOpcodes(x, y)},
		{ClassMode, x.mode != y.mode || x.security != y.security && x.security != 0 && y.security != 0},
		{ClassSkipped, x.skipped != y.skipped},
		{ClassTime, o.compares(FieldTime) && (x.time != y.time || x.scale != y.scale)},
		{ClassID, o.compares(FieldID) && x.id != y.id},
		{ClassDisassembly, x.disasm != y.disasm},
	} {
		if field.differ {
			p.fields = append(p.fields, field.class)
		}
	}
}

// merge makes accesses equal that are split differently: those that are left on both sides must come to the same bytes, in one
// byte order or the other.
func (a *aligner) merge(x, y *group, p *pairing) {
	for _, kind := range []effectKind{loads, stores} {
		is := func(g *group, left []int) (own []int) {
			for _, i := range left {
				if g.effects[i].kind == kind {
					own = append(own, i)
				}
			}
			return own
		}
		left, right := is(x, p.left[reference]), is(y, p.left[other])
		if len(left) == 0 || len(right) == 0 || len(left)+len(right) < 3 {
			continue
		}
		for _, big := range []bool{false, true} {
			if equalBytes(x, left, y, right, big) {
				p.split = true
				p.left[reference] = without(p.left[reference], left)
				p.left[other] = without(p.left[other], right)
				break
			}
		}
	}
}

func without(all, some []int) []int {
	return slices.DeleteFunc(all, func(i int) bool { return slices.Contains(some, i) })
}

// equalBytes reports whether accesses come to the same bytes.
func equalBytes(x *group, left []int, y *group, right []int, big bool) bool {
	a, ok := spread(x, left, big)
	b, fine := spread(y, right, big)
	if !ok || !fine || len(a) != len(b) {
		return false
	}
	for addr, digits := range a {
		if other, there := b[addr]; !there || !itrace.DigitsMatch(digits[:], other[:]) {
			return false
		}
	}
	return true
}

// mostSpread is the longest access that is taken apart, in bytes.
const mostSpread = 1 << 10

// spread gives each byte that accesses come to as two digits.
func spread(g *group, effects []int, big bool) (bytes map[uint64][2]byte, ok bool) {
	bytes = make(map[uint64][2]byte)
	for _, i := range effects {
		e := &g.effects[i]
		digits := g.digitsOf(e)
		if e.size > mostSpread || len(digits) > 2*int(e.size) {
			return nil, false
		}
		digits = append(slices.Repeat([]byte{'0'}, 2*int(e.size)-len(digits)), digits...)
		for n := range uint64(e.size) {
			addr := e.at + n
			if !big {
				addr = e.at + uint64(e.size) - 1 - n
			}
			bytes[addr] = [2]byte(digits[2*n:])
		}
	}
	return bytes, true
}

// findLate looks for effects that the other side has shown earlier.
func (a *aligner) findLate(x, y *group, p *pairing) {
	for side, g := range [2]*group{x, y} {
		p.left[side] = slices.DeleteFunc(p.left[side], func(i int) bool {
			for k := range a.late[1-side] {
				l := &a.late[1-side][k]
				taken := slices.ContainsFunc(p.late, func(q lateness) bool { return q.side == side && q.earlier == k })
				if !taken && equalEffects(g, &g.effects[i], l.group, &l.effect) {
					p.late = append(p.late, lateness{side, i, k})
					return true
				}
			}
			return false
		})
	}
}

// pairWrong pairs what is left by register or address, and accesses that only have the same size besides.
func (a *aligner) pairWrong(x, y *group, p *pairing) {
	for _, alike := range []func(e, f *effect) bool{
		samePlace,
		func(e, f *effect) bool { return e.kind == f.kind && e.kind != writesRegister && e.size == f.size },
	} {
		p.left[reference] = slices.DeleteFunc(p.left[reference], func(i int) bool {
			at := slices.IndexFunc(p.left[other], func(j int) bool { return alike(&x.effects[i], &y.effects[j]) })
			if at < 0 {
				return false
			}
			p.wrong = append(p.wrong, [2]int{i, p.left[other][at]})
			p.left[other] = slices.Delete(p.left[other], at, at+1)
			return true
		})
	}
}

// settle tells of the differences of two instructions, and takes their effects over.
func (a *aligner) settle(x, y *group, p *pairing) {
	blurred := a.blurred(x) || a.blurred(y)
	r := a.c.rules
	if p.split {
		r.split.fire()
	}
	if p.wild || x.wild != y.wild {
		r.digits.fire()
	}
	told := a.settleFields(x, y, p, blurred)
	for _, l := range p.late {
		a.settleLateness(x, y, l)
	}
	for n, w := range p.wrong {
		e, f := &x.effects[w[0]], &y.effects[w[1]]
		class := ClassRegister
		if e.kind != writesRegister {
			class = ClassMemory
		}
		if told || n > 0 || blurred || a.misled(x, y, p) {
			a.c.consequence()
			continue
		}
		a.c.wrong(a, class, x, e, y, f)
	}
	for _, w := range p.wrong {
		a.state.memory.setWritten(&x.effects[w[0]], true)
		a.state.memory.setWritten(&y.effects[w[1]], true)
	}
	for side, g := range [2]*group{x, y} {
		for _, i := range p.left[side] {
			a.miss(side, g, i, blurred || told || len(p.wrong) > 0)
		}
	}
	a.state.apply(reference, x)
	a.state.apply(other, y)
}

// misled reports whether an instruction reads memory that holds different things on the two sides.
func (a *aligner) misled(x, y *group, p *pairing) bool {
	return slices.ContainsFunc(p.wrong, func(w [2]int) bool {
		e, f := &x.effects[w[0]], &y.effects[w[1]]
		return e.kind == loads && (a.state.memory.wrong(e) || a.state.memory.wrong(f))
	})
}

// settleFields tells of differences of the instruction records, and reports whether there were any that effects follow from.
func (a *aligner) settleFields(x, y *group, p *pairing, blurred bool) (told bool) {
	for _, class := range p.fields {
		modes := [2]uint32{x.mode, y.mode}
		switch {
		case class == ClassMode && modes == a.modes, blurred && class == ClassSkipped:
			a.c.consequence()
		default:
			a.c.field(a, class, x, y)
		}
		if class == ClassMode {
			a.modes = modes
		}
		told = told || class == ClassOpcode || class == ClassSkipped
	}
	return told
}

// setWritten notes that what an access has written, if it has, is the same on both sides or not.
func (m *wrongMemory) setWritten(e *effect, wrong bool) {
	if e.kind == stores {
		m.set(e, wrong)
	}
}

// miss puts an effect aside that the other side has not shown: it may come late.
func (a *aligner) miss(side int, g *group, i int, blurred bool) {
	c := *g
	c.text, c.wide, c.effects = slices.Clone(g.text), slices.Clone(g.wide), nil
	a.state.memory.setWritten(&g.effects[i], true)
	a.late[side] = append(a.late[side], lateEffect{&c, g.effects[i], a.records[1-side] + int64(1+len(a.queue[1-side].at(0).effects)), blurred})
}

// settleLateness deals with an effect that comes late. It is in order within the window unless the register was written meanwhile.
func (a *aligner) settleLateness(x, y *group, l lateness) {
	g := [2]*group{x, y}[l.side]
	e := &g.effects[l.effect]
	early := a.late[1-l.side][l.earlier]
	a.late[1-l.side][l.earlier].group = nil
	a.state.memory.setWritten(e, false)
	by := a.records[l.side] + int64(l.effect+1) - early.passed
	overtaken := false
	if e.kind == writesRegister {
		last := a.state.register(e.at).sides[1-l.side].writer
		overtaken = last.index > early.group.index
	}
	switch {
	case by <= a.c.options.Window && !overtaken:
		a.c.rules.window.fire()
	case early.blurred:
		a.c.consequence()
	default:
		a.c.reordered(a, l.side, &early, g, e, by)
	}
}

// settleLate gives up on effects that have not come for long.
func (a *aligner) settleLate() {
	for side := range a.late {
		if len(a.late[side]) == 0 {
			continue
		}
		over := a.records[1-side] - max(64, 4*a.c.options.Window)
		if a.queue[1-side].ended && a.queue[1-side].len() == 0 {
			over = a.records[1-side] + 1
		}
		a.late[side] = slices.DeleteFunc(a.late[side], func(l lateEffect) bool {
			switch {
			case l.group == nil:
				return true
			case l.passed >= over:
				return false
			case l.blurred:
				a.c.consequence()
			default:
				a.c.absent(a, side, &l)
			}
			return true
		})
	}
}
