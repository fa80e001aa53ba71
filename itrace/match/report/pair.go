package report

import (
	"math"
	"slices"

	"tracewell/itrace"
	"tracewell/itrace/match"
)

// rowKind is how the two sides of a row compare.
type rowKind uint8

const (
	same      rowKind = iota // but for what is not compared as a rule
	changed                  // the same record with another content
	refOnly                  // a record that the other trace does not have here
	otherOnly                // a record that the reference does not have here
	leap                     // lines left out, of either trace
)

// row is a line of each trace, or of one.
type row struct {
	sides [2]cell
	kind  rowKind
	here  bool // the difference is this
}

// cell is a line of a trace. The zero value is none.
type cell struct {
	at    *match.Position
	spans []span
}

// contextLines is how many lines of a trace around a difference are shown at most.
const contextLines = 200

// rows pairs the lines around a difference.
//
// A report does not tell which lines were paired, and of what the comparison passes over many lines have something. So
// lines are paired by what counts as a rule, as tools for texts do. Where the difference itself is, is known.
func rows(r *match.Report, d *match.Difference, dialects itrace.Registry) []row {
	if d.Context == nil {
		return nil
	}
	readers := lineReaders(r, d, dialects)
	p := &pairing{forced: d.Side == ""}
	for side, lines := range [2][]match.Position{d.Context.Reference, d.Context.Other} {
		p.here[side] = -1
		if at := places(d)[side]; at != nil {
			p.here[side] = at.Line
		}
		p.owner[side] = d.Side == "" || d.Side == [2]string{"reference", "other"}[side]
		for _, line := range around(lines, p.here[side]) {
			p.sides[side] = append(p.sides[side], readers[side].read(&line))
		}
	}
	p.stretch(d)
	p.pair()
	p.point()
	return leaps(trim(p.rows))
}

// around takes the lines around one of them if there are too many.
func around(lines []match.Position, here int64) []match.Position {
	if len(lines) <= contextLines {
		return lines
	}
	i := max(0, slices.IndexFunc(lines, func(p match.Position) bool { return p.Line == here }))
	start := min(max(0, i-contextLines*2/3), len(lines)-contextLines)
	return lines[start : start+contextLines]
}

// pairing is the work of pairing lines.
type pairing struct {
	sides [2][]line
	here  [2]int64 // lines of the difference
	owner [2]bool  // which sides have what differs
	rows  []row

	forced bool // the lines of the difference are what stands in one another's place
}

// stretch marks the lines of a stretch that one trace alone has, up to where some of it is left out.
func (p *pairing) stretch(d *match.Difference) {
	for side, lines := range p.sides {
		start := slices.IndexFunc(lines, func(r line) bool { return r.at.Line == p.here[side] })
		if d.Side == "" || !p.owner[side] || start < 0 {
			continue
		}
		usual := int64(1)
		for i := 1; i <= start; i++ {
			usual = max(usual, lines[i].at.Instruction-lines[i-1].at.Instruction)
		}
		groups := int64(1)
		for i := start; i < len(lines); i++ {
			if i > start {
				width := lines[i].at.Instruction - lines[i-1].at.Instruction
				if width != 0 {
					groups++
				}
				if groups > d.Groups || width > wideLeap(usual) {
					break
				}
			}
			lines[i].alone = true
		}
	}
}

// pair makes the rows: the longest common subsequence of both sides, and between them what is similar.
func (p *pairing) pair() {
	x, y := p.sides[reference], p.sides[other]
	head := 0
	for head < min(len(x), len(y)) && x[head].equal(&y[head]) {
		p.add(&x[head], &y[head])
		head++
	}
	x, y = x[head:], y[head:]
	longest := common(x, y)
	gap := [2]int{} // where what is not paired yet begins
	i, j := 0, 0
	for i < len(x) && j < len(y) {
		switch {
		case x[i].equal(&y[j]):
			p.gap(x[gap[0]:i], y[gap[1]:j])
			p.add(&x[i], &y[j])
			i, j = i+1, j+1
			gap = [2]int{i, j}
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	p.gap(x[gap[0]:], y[gap[1]:])
}

// common gives the length of the longest common subsequence of x[i:] and y[j:], by i and j.
func common(x, y []line) [][]int16 {
	longest := make([][]int16, len(x)+1)
	for i := range longest {
		longest[i] = make([]int16, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i].equal(&y[j]) {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	return longest
}

// gap adds lines between those that are the same.
func (p *pairing) gap(x, y []line) {
	for i := range x {
		j := slices.IndexFunc(y, func(r line) bool { return p.similar(&x[i], &r) })
		if j < 0 {
			p.add(&x[i], nil)
			continue
		}
		for k := range j {
			p.add(nil, &y[k])
		}
		p.add(&x[i], &y[j])
		y = y[j+1:]
	}
	for j := range y {
		p.add(nil, &y[j])
	}
}

// similar reports whether two lines are likely to be the same record with another content: both are said to differ, or their
// first words that count are the same, as the processor, kind and address of an instruction, or the direction and address of an
// access. These are all but the last, and three at most.
func (p *pairing) similar(x, y *line) bool {
	if p.meant(x, y) {
		return p.forced
	}
	return x.head != "" && !x.alone && !y.alone && x.head == y.head
}

// add adds a row of two lines or one.
func (p *pairing) add(x, y *line) {
	switch {
	case y == nil:
		p.rows = append(p.rows, row{sides: [2]cell{{&x.at, x.plain()}, {}}, kind: refOnly})
		return
	case x == nil:
		p.rows = append(p.rows, row{sides: [2]cell{{}, {&y.at, y.plain()}}, kind: otherOnly})
		return
	}
	r := row{sides: [2]cell{{&x.at, x.plain()}, {&y.at, y.plain()}}}
	if !x.equal(y) || p.forced && p.meant(x, y) {
		r.kind = changed
		r.sides[reference].spans, r.sides[other].spans = marked(x, y)
	}
	p.rows = append(p.rows, r)
}

// meant reports whether two lines are those of the difference.
func (p *pairing) meant(x, y *line) bool {
	return x.at.Line == p.here[reference] && y.at.Line == p.here[other]
}

// point marks the rows of the difference: those of its lines on the sides that have it. A line that has its like on the other
// side is not meant if another has not.
func (p *pairing) point() {
	var rows []*row
	onlySame := true
	for i := range p.rows {
		r := &p.rows[i]
		for side := range r.sides {
			if at := r.sides[side].at; at != nil && at.Line == p.here[side] && p.owner[side] {
				rows = append(rows, r)
				onlySame = onlySame && r.kind == same
			}
		}
	}
	for _, r := range rows {
		r.here = onlySame || r.kind != same
	}
}

// leaps puts a row where lines behind the difference are left out, as in the middle of a long stretch. Where there are several
// processors the numbers of one's instructions leap anyway; then it takes leaps that are much wider than those before.
func leaps(rows []row) (all []row) {
	var last [2]int64
	usual, behind := int64(1), false
	for _, r := range rows {
		widest := int64(0)
		for side, c := range r.sides {
			if c.at == nil {
				continue
			}
			if last[side] != 0 {
				widest = max(widest, c.at.Instruction-last[side])
			}
			last[side] = c.at.Instruction
		}
		switch {
		case !behind:
			usual = max(usual, widest)
		case widest > wideLeap(usual):
			all = append(all, row{kind: leap})
		}
		behind = behind || r.here
		all = append(all, r)
	}
	return all
}

// wideLeap is how far numbers of instructions leap, at most, if none is left out.
func wideLeap(usual int64) int64 {
	if usual > 1 && usual < math.MaxInt64/4 {
		return 4 * usual
	}
	return usual
}

// trim cuts off the lines at either end that one side alone has only because the lines of the other begin later or end earlier.
func trim(rows []row) []row {
	isFirm := func(r row) bool { return r.kind == same || r.here }
	first := slices.IndexFunc(rows, isFirm)
	if first < 0 {
		return rows
	}
	last := len(rows) - 1
	for !isFirm(rows[last]) {
		last--
	}
	if !rows[last].here && overhang(rows[last+1:]) {
		rows = rows[:last+1]
	}
	if !rows[first].here && overhang(rows[:first]) {
		rows = rows[first:]
	}
	return rows
}

// overhang reports whether all rows are those of one and the same side.
func overhang(rows []row) bool {
	return !slices.ContainsFunc(rows, func(r row) bool { return r.kind == changed || r.kind != rows[0].kind })
}
