package match

import (
	"slices"

	"tracewell/itrace"
)

// pairing is how the effects of two instructions were paired.
type pairing struct {
	fields   []Class    // of the instruction records that differ
	wrong    [][2]int   // effects on the same register or address with different values, by their places in the two groups
	left     [2][]int   // effects of each side that the other has not, by their places
	late     []lateness // effects of one side that the other has shown earlier
	split    bool       // accesses were split on one side
	wild     bool       // digits that are not known decided
	disorder disorder   // of the effects that were paired

	used [2][]bool // effects of each side that were paired or are among the late ones
}

// certain reports whether there is a difference that nothing later can resolve.
func (p *pairing) certain() bool { return len(p.fields)+len(p.wrong) > 0 }

func (p *pairing) reset(x, y *group) {
	p.fields, p.wrong, p.late, p.split, p.wild = p.fields[:0], p.wrong[:0], p.late[:0], false, false
	for side, g := range [2]*group{x, y} {
		p.left[side] = p.left[side][:0]
		p.used[side] = append(p.used[side][:0], make([]bool, len(g.effects))...)
	}
}

// compare pairs the effects of two instructions at the same address: with those that the other side has shown earlier if that was
// within the window, so that the order of each register's values is kept; then with equal ones of the other instruction, in any
// order; then accesses that are split differently; then what came later than the window allows; and what is left by its register
// or address. At last it looks whether the order of what was paired makes a difference.
func (a *aligner) compare(x, y *group) *pairing {
	p, lanes := &a.pairing, a.c.rules.named[RuleLanes] != nil
	p.reset(x, y)
	a.compareFields(x, y, p)
	a.findLate(x, y, p, a.c.options.latest())
	pairEqual(x, y, p)
	for side := range p.used {
		for i, used := range p.used[side] {
			if !used {
				p.left[side] = append(p.left[side], i)
			}
		}
	}
	if len(p.left[reference]) > 0 && len(p.left[other]) > 0 {
		merge(x, y, p)
		if lanes {
			a.fitLanes(x, y, p)
		}
	}
	a.findLate(x, y, p, anyTime)
	pairWrong(x, y, p, lanes)
	a.findWrongLate(x, y, p)
	p.disorder = a.findDisorder(x, y, p)
	return p
}

func (a *aligner) compareFields(x, y *group, p *pairing) {
	o := &a.c.options
	for _, field := range []struct {
		class  Class
		differ bool
	}{
		{ClassOpcode, !equalOpcodes(x, y)},
		{ClassMode, x.mode != y.mode || x.security != y.security && x.security != 0 && y.security != 0},
		{ClassSkipped, x.skipped != y.skipped},
		{ClassTrapped, x.trapped != y.trapped},
		{ClassTime, o.compares(FieldTime) && (x.time != y.time || x.scale != y.scale)},
		{ClassID, o.compares(FieldID) && x.id != y.id},
		{ClassDisassembly, x.disasm != y.disasm},
	} {
		if field.differ {
			p.fields = append(p.fields, field.class)
		}
	}
	p.wild = (x.wild || y.wild) && string(x.opcodeDigits()) != string(y.opcodeDigits())
}

// pairEqual pairs equal effects, whatever their order.
func pairEqual(x, y *group, p *pairing) {
	for i := range x.effects {
		if p.used[reference][i] {
			continue
		}
		e := &x.effects[i]
		for j := range y.effects {
			f := &y.effects[j]
			if p.used[other][j] || !equalEffects(x, e, y, f) {
				continue
			}
			p.used[reference][i], p.used[other][j] = true, true
			p.wild = p.wild || (e.wide || f.wide) && !slices.Equal(significant(x.digitsOf(e)), significant(y.digitsOf(f)))
			break
		}
	}
}

// significant gives digits in lower case without the zeros before them.
func significant(digits []byte) []byte {
	lower := make([]byte, 0, len(digits))
	for _, c := range digits {
		if 'A' <= c && c <= 'F' {
			c |= 0x20
		}
		if c != '0' || len(lower) > 0 {
			lower = append(lower, c)
		}
	}
	return lower
}

// merge makes accesses equal that are split differently: those that are left on both sides must come to the same bytes, in one
// byte order or the other.
func merge(x, y *group, p *pairing) {
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
		if equalBytes(x, left, y, right, false) || equalBytes(x, left, y, right, true) {
			p.split = true
			p.left[reference] = without(p.left[reference], left)
			p.left[other] = without(p.left[other], right)
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

// pairWrong pairs what is left by register or address, and of an instruction accesses that only have the same size besides, or
// under RuleLanes some bytes.
func pairWrong(x, y *group, p *pairing, lanes bool) {
	for _, alike := range []func(e, f *effect) bool{
		samePlace,
		func(e, f *effect) bool {
			return !x.bare && e.kind == f.kind && e.accesses() && (e.size == f.size || lanes && e.overlaps(f))
		},
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
