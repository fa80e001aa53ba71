package report

import (
	"slices"
	"strings"

	"tracewell/itrace"
	"tracewell/itrace/match"
)

// Span is a piece of a line that is the same in the other trace, or is not. Its text is printable.
type Span struct {
	Text    string
	Differs bool
}

// Alignment is how the two sides of a row compare.
type Alignment string

// The alignments.
const (
	Same      Alignment = "same"      // but for what is not compared as a rule
	Changed   Alignment = "changed"   // the same record with another content
	Reference Alignment = "reference" // a record that the other trace does not have here
	Other     Alignment = "other"     // a record that the reference does not have here
	Leap      Alignment = "leap"      // lines left out, of either trace
)

// Row is a line of each trace, or of one.
type Row struct {
	Alignment Alignment
	Here      bool // the difference is this
	Sides     [2]Cell
}

// Cell is a line of a trace. The zero value is none.
type Cell struct {
	At      *match.Position
	Records []itrace.Record // that the line is, as far as the dialect is known
	Spans   []Span
}

// alignments are the public names of kinds of rows.
var alignments = map[rowKind]Alignment{same: Same, changed: Changed, refOnly: Reference, otherOnly: Other, leap: Leap}

// sideWidth is how many characters of a line are shown: longer ones are rare, and nobody reads them.
const sideWidth = 400

// Rows pairs the lines of both traces around a difference, by its number in the report. There are none of a difference without
// context.
func Rows(r *match.Report, number int, dialects itrace.Registry) (list []Row) {
	d := &r.Differences[number]
	for _, row := range rows(r, d, dialects) {
		view := Row{Alignment: alignments[row.kind], Here: row.here}
		for side, c := range row.sides {
			if c.at == nil {
				continue
			}
			view.Sides[side] = Cell{At: c.at, Spans: publicSpans(fit(c.spans, sideWidth))}
			if dialect, err := dialects.ByName(r.Traces[side].Dialect); err == nil {
				view.Sides[side].Records = dialect.Decode([]byte(clip(c.at.Text)))
			}
		}
		list = append(list, view)
	}
	return list
}

// publicSpans joins neighbours of a kind.
func publicSpans(spans []span) (list []Span) {
	for _, v := range spanViews(spans) {
		list = append(list, Span(v))
	}
	return list
}

// MarkedValues are two values with what differs between their common beginning and end.
func MarkedValues(a, b string) (x, y []Span) {
	left, right := markDifference(a, b, valueWidth)
	return publicSpans(left), publicSpans(right)
}

// Operands are the words of the instructions at a difference that may name registers, in lower case.
func Operands(d *match.Difference) []string {
	if d.Context == nil {
		return nil
	}
	words := operands(d)
	slices.Sort(words)
	return slices.DeleteFunc(slices.Compact(words), func(word string) bool { return word == "" })
}

// Fact is something that there is to know of a comparison as a whole, in words.
type Fact struct {
	Key   string
	Words []string
}

// Facts are the counts, the rules and the time.
func Facts(r *match.Report) (list []Fact) {
	for _, f := range facts(r) {
		list = append(list, Fact{f.key, f.words})
	}
	return list
}

// Printable makes a text of unknown origin fit to be shown, and cuts it where it is too long to be of use.
func Printable(s string) string { return strings.TrimSpace(printable(s, sideWidth)) }
