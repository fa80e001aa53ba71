package report

import (
	"slices"
	"strings"

	"tracewell/internal/text"
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
// lines are paired by the words that count as a rule, as tools for texts do; where the difference itself is is known.
func rows(d *match.Difference) []row {
	if d.Context == nil {
		return nil
	}
	p := &pairing{forced: d.Side == ""}
	for side, lines := range [2][]match.Position{d.Context.Reference, d.Context.Other} {
		p.here[side] = -1
		if at := places(d)[side]; at != nil {
			p.here[side] = at.Line
		}
		p.owner[side] = d.Side == "" || d.Side == [2]string{"reference", "other"}[side]
		for _, line := range around(lines, p.here[side]) {
			p.sides[side] = append(p.sides[side], read(&line))
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

// record is a line with its words.
type record struct {
	at    match.Position
	words []string // as they are, with the blanks in front
	sense []string // in the form in which words of the same meaning are the same; empty for what does not count
	key   string   // all of the sense
	alone bool     // part of a stretch that the other trace does not have
}

// pairing is the work of pairing lines.
type pairing struct {
	sides [2][]record
	here  [2]int64 // lines of the difference
	owner [2]bool  // which sides have what differs
	rows  []row

	forced bool // the lines of the difference are what stands in one another's place
}

func read(at *match.Position) record {
	r := record{at: *at}
	line := text.Visible(clip(at.Text))
	for line != "" {
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		end := strings.IndexByte(line[blanks:], ' ')
		if end < 0 {
			end = len(line) - blanks
		}
		r.words, line = append(r.words, line[:blanks+end]), line[blanks+end:]
	}
	r.sense = make([]string, len(r.words))
	for i, word := range r.words {
		r.sense[i] = sense(strings.TrimLeft(word, " "))
	}
	if len(r.words) > 1 && number(r.words[0]) && !number(r.words[1]) {
		r.sense[0], r.sense[1] = "", "" // time and scale
	}
	r.key = strings.Join(r.sense, " ")
	return r
}

// sense gives a word without what makes no difference to its meaning: case, zeros in front, the number of an instruction, which
// is in parentheses, and the security behind a mode.
func sense(word string) string {
	if len(word) > 2 && word[0] == '(' && word[len(word)-1] == ')' && number(word[1:len(word)-1]) {
		return ""
	}
	word = strings.ToLower(word)
	mode, security, ok := strings.Cut(word, "_")
	if ok && (security == "s" || security == "ns") {
		word = mode
	}
	if short := strings.TrimLeft(strings.TrimPrefix(word, "0x"), "0"); short != "" {
		return short
	}
	return word
}

func number(word string) bool {
	word = strings.TrimLeft(word, " ")
	return word != "" && strings.Trim(word, "0123456789") == ""
}

// stretch marks the lines of a stretch that one trace alone has, as far as they are there without a gap.
func (p *pairing) stretch(d *match.Difference) {
	for side, lines := range p.sides {
		i := slices.IndexFunc(lines, func(r record) bool { return r.at.Line == p.here[side] })
		if d.Side == "" || !p.owner[side] || i < 0 {
			continue
		}
		groups := int64(0)
		last := lines[i].at.Instruction - 1
		for ; i < len(lines); i++ {
			at := lines[i].at.Instruction
			if at != last {
				groups++
			}
			if groups > d.Groups || at > last+1 {
				break
			}
			lines[i].alone, last = true, at
		}
	}
}

// equal reports whether two lines are the same but for what is not compared as a rule.
func (r *record) equal(s *record) bool { return r.key == s.key && !r.alone && !s.alone }

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
func common(x, y []record) [][]int16 {
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
func (p *pairing) gap(x, y []record) {
	for i := range x {
		j := slices.IndexFunc(y, func(r record) bool { return p.similar(&x[i], &r) })
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
func (p *pairing) similar(x, y *record) bool {
	if x.at.Line == p.here[reference] && y.at.Line == p.here[other] {
		return p.forced
	}
	return len(x.words) == len(y.words) && !x.alone && !y.alone && slices.Equal(x.head(), y.head())
}

// head is the first words that count.
func (r *record) head() []string {
	words := slices.DeleteFunc(slices.Clone(r.sense), func(s string) bool { return s == "" })
	return words[:min(3, max(len(words)-1, 0))]
}

// add adds a row of two lines or one.
func (p *pairing) add(x, y *record) {
	switch {
	case y == nil:
		p.rows = append(p.rows, row{sides: [2]cell{{&x.at, x.plain()}, {}}, kind: refOnly})
	case x == nil:
		p.rows = append(p.rows, row{sides: [2]cell{{}, {&y.at, y.plain()}}, kind: otherOnly})
	case x.equal(y):
		p.rows = append(p.rows, row{sides: [2]cell{{&x.at, x.plain()}, {&y.at, y.plain()}}})
	default:
		left, right := markWords(x, y)
		p.rows = append(p.rows, row{sides: [2]cell{{&x.at, left}, {&y.at, right}}, kind: changed})
	}
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

// leaps puts a row where lines behind the difference are left out, as in the middle of a long stretch.
func leaps(rows []row) (all []row) {
	var last [2]int64
	behind := false
	for _, r := range rows {
		left := false
		for side, c := range r.sides {
			if c.at != nil {
				left = left || behind && last[side] != 0 && c.at.Instruction > last[side]+1
				last[side] = c.at.Instruction
			}
		}
		if left {
			all = append(all, row{kind: leap})
		}
		behind = behind || r.here
		all = append(all, r)
	}
	return all
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

func (r *record) plain() []span { return []span{{text: strings.Join(r.words, "")}} }

// markWords marks the words in which two lines are not the same.
func markWords(x, y *record) (left, right []span) {
	differs := func(i, j int) bool { return i >= len(x.sense) || j >= len(y.sense) || x.sense[i] != y.sense[j] }
	head, tail := 0, 0
	if len(x.words) != len(y.words) { // what is between a common beginning and end
		for head < min(len(x.words), len(y.words)) && !differs(head, head) {
			head++
		}
		for tail < min(len(x.words), len(y.words))-head && !differs(len(x.words)-1-tail, len(y.words)-1-tail) {
			tail++
		}
	}
	mark := func(r *record) (spans []span) {
		for i, word := range r.words {
			marked := i >= head && i < len(r.words)-tail
			if len(x.words) == len(y.words) {
				marked = differs(i, i)
			}
			trimmed := strings.TrimLeft(word, " ")
			spans = append(spans, span{text: word[:len(word)-len(trimmed)]}, span{trimmed, marked})
		}
		return spans
	}
	return mark(x), mark(y)
}
