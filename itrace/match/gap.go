package match

// What lies between a parting and the place where both sides go on together may hold more than one difference, as an interrupt and,
// some instructions later, one that is missing. The gap is aligned by dynamic programming, so that the instructions are paired
// that both sides have in it: with a cost for each instruction passed over, for each stretch of such, and for each pair whose
// effects or opcodes differ, the alignment of least cost is taken. The costs make a stretch on both sides, which is a way
// that only one of them went, cheaper than pairs of instructions that have little in common.

const (
	costPassed    = 1       // of an instruction passed over
	costStretch   = 3       // of a stretch on one side
	costDifferent = 5       // of a pair that differs
	mostCells     = 1 << 20 // larger gaps are one stretch
)

// refine turns a gap into stretches and pairs.
func (a *aligner) refine(gap stretch) []step {
	n, m := gap.groups[reference], gap.groups[other]
	if n == 0 || m == 0 || (n+1)*(m+1) > mostCells {
		return []step{{stretch: gap}}
	}
	return newGapTable(a, n, m).steps()
}

// The three ways on which an alignment comes to a place.
const (
	byPair = iota
	byReference
	byOther
	ways
)

// gapTable is the alignments of all beginnings of the two sides of a gap.
type gapTable struct {
	n, m int
	from []uint8 // by place and way: the way before
}

// impossible is more than any cost.
const impossible = 1 << 30

func newGapTable(a *aligner, n, m int) *gapTable {
	t := &gapTable{n, m, make([]uint8, (n+1)*(m+1)*ways)}
	row, last := make([][ways]int, m+1), make([][ways]int, m+1)
	for i := range n + 1 {
		row, last = last, row
		for j := range m + 1 {
			cost := [ways]int{impossible, impossible, impossible}
			from := t.at(i, j)
			if i+j == 0 {
				cost[byPair] = 0
			}
			if i > 0 && j > 0 {
				if pair, can := a.pairCost(i-1, j-1); can {
					cost[byPair], from[byPair] = cheapest(last[j-1], [ways]int{pair, pair, pair})
				}
			}
			if i > 0 {
				cost[byReference], from[byReference] = cheapest(last[j], stretchCosts(byReference))
			}
			if j > 0 {
				cost[byOther], from[byOther] = cheapest(row[j-1], stretchCosts(byOther))
			}
			row[j] = cost
		}
	}
	// What follows the gap is a pair, since the gap ends where both sides go on alike; so the end costs nothing.
	_, t.from[byPair] = cheapest(row[m], [ways]int{})
	return t
}

// at is the ways before a place; those of the beginning, of which there are none, hold the way at the end.
func (t *gapTable) at(i, j int) []uint8 {
	k := (i*(t.m+1) + j) * ways
	return t.from[k : k+ways]
}

// pairCost is the cost of a pair, and whether it can be one. Two instructions at different addresses never are: a pair across
// them would report as wrong what is only another path.
func (a *aligner) pairCost(i, j int) (cost int, can bool) {
	x, y := a.queue[reference].at(i), a.queue[other].at(j)
	switch {
	case x.head != y.head:
		return 0, false
	case x.full != y.full:
		return costDifferent, true
	}
	return 0, true
}

// stretchCosts are those of passing one more instruction over on a side, by the way before. To begin a stretch costs more than to
// go on with one (an affine gap, as in the alignment of sequences), so that one long stretch is preferred to many short ones.
func stretchCosts(way uint8) (costs [ways]int) {
	costs = [ways]int{costStretch + costPassed, costStretch + costPassed, costStretch + costPassed}
	costs[way] = costPassed
	return costs
}

// cheapest chooses the way before by the costs so far and those of the step. Of equal ones it is that of the first.
func cheapest(so, more [ways]int) (cost int, way uint8) {
	cost = impossible
	for w := range uint8(ways) {
		if c := so[w] + more[w]; c < cost {
			cost, way = c, w
		}
	}
	return cost, way
}

// steps goes through the table from the end.
func (t *gapTable) steps() []step {
	var trail []uint8
	i, j, way := t.n, t.m, t.from[byPair]
	for i+j > 0 {
		trail = append(trail, way)
		next := t.at(i, j)[way]
		if way != byOther {
			i--
		}
		if way != byReference {
			j--
		}
		way = next
	}
	steps := []step{{}}
	for k := len(trail) - 1; k >= 0; k-- {
		s := &steps[len(steps)-1]
		if way = trail[k]; way == byPair {
			s.pairs++
			continue
		}
		if s.pairs > 0 {
			steps = append(steps, step{})
			s = &steps[len(steps)-1]
		}
		s.groups[way-byReference]++
	}
	return steps
}
