package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"tracewell/itrace/match"
)

// margin stands in front of lines, with the arrow that GDB puts before the current instruction.
var margin = map[bool]string{false: "    ", true: " => "}

// signs are what stands between the sides of a row.
var signs = map[rowKind]string{same: " ", changed: "≠", refOnly: "<", otherOnly: ">", leap: "⋮"}

// context shows the lines around a difference, of both traces side by side if the width allows, and else below one another.
func (p *printer) context(d *match.Difference) {
	rows := rows(p.report, d, p.dialects)
	if len(rows) == 0 {
		return
	}
	p.line("")
	l := measure(rows)
	l.printer = p
	if p.width > 0 && l.beside() <= p.width {
		l.printBeside(rows)
		return
	}
	l.printBelow(rows)
}

// listing is the layout of rows.
type listing struct {
	*printer

	digits int    // of a line's number
	widths [2]int // of the lines
}

// measure finds the widths of all that stands in rows.
func measure(rows []row) *listing {
	l := &listing{}
	for _, r := range rows {
		for side, c := range r.sides {
			if c.at != nil {
				l.digits = max(l.digits, len(fmt.Sprint(c.at.Line)))
				l.widths[side] = max(l.widths[side], characters(c.spans))
			}
		}
	}
	return l
}

// beside is the width of a row that has both sides.
func (l *listing) beside() int {
	return len(margin[true]) + l.digits + 2 + l.widths[reference] + 3 + l.digits + 2 + l.widths[other]
}

// printBeside writes both sides of a row on one line.
func (l *listing) printBeside(rows []row) {
	left := l.digits + 2 + l.widths[reference]
	names := [2]string{name(l.report, reference), name(l.report, other)}
	l.line("    %s", l.style.Heading(pad(printable(names[reference], left), left)+"   "+printable(names[other], nameWidth)))
	for _, r := range rows {
		if r.kind == leap {
			l.line("%s%*s", margin[false], l.digits, "⋮")
			continue
		}
		x, y := l.styled(&r, reference), l.styled(&r, other)
		l.line("%s", strings.TrimRight(margin[r.here]+l.pad(&r, reference, x)+" "+signs[r.kind]+" "+y, " "))
		if r.here && r.kind == changed {
			l.carets(margin[false] + pad(l.indented(r.sides[reference].spans), left) + "   " + l.indented(r.sides[other].spans))
		}
	}
}

// pad fills a styled line of a side up to the width of the side.
func (l *listing) pad(r *row, side int, styled string) string {
	width := l.digits + 2 + l.widths[side]
	if c := r.sides[side]; c.at != nil {
		width -= l.digits + 2 + characters(c.spans)
	}
	return styled + strings.Repeat(" ", max(width, 0))
}

// printBelow writes the lines of both traces in one column, as diff does: with - what only the reference has, with + what only
// the other has, and what both have once, in the words of the reference, with the numbers of both lines.
func (l *listing) printBelow(rows []row) {
	l.digits = max(l.digits, 3)
	for side := range 2 {
		l.line("    %s %s", l.style.Heading([2]string{"-", "+"}[side]), l.style.Heading(name(l.report, side)))
	}
	for _, r := range rows {
		switch r.kind {
		case leap:
			l.line("%s%[2]*[3]s %[2]*[3]s", margin[false], l.digits, "⋮")
			continue
		case same:
			l.below(&r, reference, fmt.Sprint(r.sides[reference].at.Line), fmt.Sprint(r.sides[other].at.Line), " ")
			continue
		}
		if at := r.sides[reference].at; at != nil {
			l.below(&r, reference, fmt.Sprint(at.Line), "", "-")
		}
		if at := r.sides[other].at; at != nil {
			l.below(&r, other, "", fmt.Sprint(at.Line), "+")
		}
	}
}

// below writes one line.
func (l *listing) below(r *row, side int, refLine, otherLine, sign string) {
	head := fmt.Sprintf("%s%*s %*s %s ", margin[r.here], l.digits, refLine, l.digits, otherLine, sign)
	width := 0
	if l.width > 0 {
		width = max(l.width-utf8.RuneCountInString(head), leastWidth/2)
	}
	c := r.sides[side]
	c.spans = fit(c.spans, width)
	l.line("%s", strings.TrimRight(head+l.paint(c.spans, r.kind), " "))
	if r.here && r.kind == changed && side == other {
		l.carets(strings.Repeat(" ", utf8.RuneCountInString(head)) + underline(c.spans))
	}
}

// styled is a side of a row with its number.
func (l *listing) styled(r *row, side int) string {
	c := r.sides[side]
	if c.at == nil {
		return ""
	}
	return l.style.Faint(fmt.Sprintf("%*d", l.digits, c.at.Line)) + "  " + l.paint(c.spans, r.kind)
}

// paint makes what differs stand out, and takes back what is the same on both sides.
func (l *listing) paint(spans []span, kind rowKind) string {
	switch kind {
	case same:
		return l.style.Faint(flat(spans))
	case changed:
		var b strings.Builder
		for _, s := range spans {
			if s.differs {
				b.WriteString(l.style.Heading(s.text))
			} else {
				b.WriteString(s.text)
			}
		}
		return b.String()
	}
	return l.style.Heading(flat(spans))
}

// carets writes what underlines a line, if there is anything.
func (l *listing) carets(marks string) {
	if marks = strings.TrimRight(marks, " "); marks != "" {
		l.line("%s", marks)
	}
}

// indented underlines what differs in a line behind its number.
func (l *listing) indented(spans []span) string {
	return strings.Repeat(" ", l.digits+2) + underline(spans)
}

func underline(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		mark := " "
		if s.differs {
			mark = "^"
		}
		b.WriteString(strings.Repeat(mark, utf8.RuneCountInString(s.text)))
	}
	return b.String()
}

// pad fills a text up to a width.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
