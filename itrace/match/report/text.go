package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"tracewell/internal/text"
	"tracewell/itrace"
	"tracewell/itrace/match"
)

// Text writes a report for people. It leads with the verdict in a sentence.
//
// Errors are those of the writer, to which the report goes at once.
func Text(w io.Writer, r *match.Report, style Style) error {
	if style.Width > 0 {
		style.Width = max(style.Width, leastWidth)
	}
	p := &printer{report: r, style: text.Style{Colour: style.Colour}, width: style.Width, dialects: style.Dialects}
	p.print(style.Quiet)
	_, err := w.Write(p.Bytes())
	return err
}

// leastWidth is the width below which lines are not cut any shorter.
const leastWidth = 40

// printer is a report as it is written.
type printer struct {
	bytes.Buffer

	report *match.Report
	style  text.Style
	width  int

	dialects itrace.Registry
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// heading begins a section.
func (p *printer) heading(words string) { p.line("\n%s", p.style.Heading(words)) }

func (p *printer) print(quiet bool) {
	r := p.report
	switch {
	case r.Verdict == match.Equal && quiet:
		return
	case quiet:
		p.line("%s", Headline(r))
		return
	}
	p.line("%s", p.style.Heading(Headline(r)))
	if r.Verdict == match.Equal && r.Traces[reference].Unknown+r.Traces[other].Unknown == 0 {
		p.line("%s", p.brief())
		return
	}
	if r.Verdict != match.Equal && r.Verdict != match.Different {
		p.unreadable()
	}
	if len(r.Differences) > 0 {
		p.first(&r.Differences[0])
		p.others(r.Differences[1:])
	}
	p.end()
}

// brief is the profile, the rules and the time on a line.
func (p *printer) brief() string {
	var words []string
	if p.report.Profile != "" {
		words = append(words, "profile "+printable(p.report.Profile, nameWidth))
	}
	return strings.Join(slices.Concat(words, untold(p.report), rulesText(p.report), []string{speed(p.report)}), "; ")
}

// unreadable shows the lines that could not be read.
func (p *printer) unreadable() {
	for side := range p.report.Traces {
		if p.report.Traces[side].Unknown > 0 {
			p.line("  %s", strings.Join(unreadable(p.report, side), "\n    "))
		}
	}
}

// first describes a difference with all that surrounds it.
func (p *printer) first(d *match.Difference) {
	p.line("")
	if p.report.Verdict != match.Different {
		p.line("%s", p.style.Heading("Found nevertheless: "+Summary(d)))
	}
	width := 0
	var names [2]string
	for side, at := range places(d) {
		names[side] = name(p.report, side)
		if at != nil {
			names[side] = fmt.Sprintf("%s:%d", names[side], at.Line)
		}
		width = max(width, utf8.RuneCountInString(names[side]))
	}
	for side, at := range places(d) {
		where := "nothing"
		if at != nil {
			where = place(at)
		}
		p.line("  %-*s  %s", width, names[side], where)
	}
	if size := Extent(d); size != "" {
		p.line("  %-*s  %s", width, "length", size)
	}
	p.context(d)
	p.registers(d)
}

// registers shows what the registers of both sides held.
func (p *printer) registers(d *match.Difference) {
	values, rest := registers(d)
	if len(values) == 0 {
		return
	}
	p.heading(registersTitle(d))
	table := text.NewTable(p, p.width, p.style, text.Column{Title: " "}, text.Column{Title: "register"},
		text.Column{Title: columnName(p.report, reference)}, text.Column{Title: "from line", Right: true},
		text.Column{Title: columnName(p.report, other)}, text.Column{Title: "from line", Right: true})
	for _, v := range values {
		mark := " "
		if v.Differs {
			mark = "≠"
		}
		left, right := markDifference(v.Reference, v.Other, valueWidth)
		table.Row([][]byte{
			[]byte("  " + mark), []byte(printable(v.Register, nameWidth)),
			[]byte(valueText(left)), []byte(writerText(v.ReferenceWriter)), []byte(valueText(right)), []byte(writerText(v.OtherWriter)),
		})
	}
	table.Flush()
	if rest > 0 {
		p.line("  … and %d more", rest)
	}
}

func valueText(value []span) string {
	if words := flat(value); words != "" {
		return words
	}
	return "unknown"
}

func writerText(p *match.Position) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprint(p.Line)
}

// otherDifferences is how many differences behind the first are listed.
const otherDifferences = 20

// others lists differences one a line.
func (p *printer) others(differences []match.Difference) {
	if len(differences) == 0 {
		return
	}
	p.heading("Other differences")
	columns := []text.Column{
		{Title: "  instruction", Right: true}, {Title: "line", Right: true}, {Title: "line", Right: true}, {Title: "difference"},
	}
	for side := range 2 {
		columns[1+side].Title = columnName(p.report, side)
	}
	table := text.NewTable(p, p.width, p.style, columns...)
	shown := differences[:min(len(differences), otherDifferences)]
	for i := range shown {
		d := &shown[i]
		row := [][]byte{nil, []byte("-"), []byte("-"), []byte(Summary(d))}
		for side, at := range places(d) {
			if at == nil {
				continue
			}
			if row[0] == nil {
				row[0] = fmt.Append(nil, at.Instruction)
			}
			row[1+side] = fmt.Append(nil, at.Line)
		}
		table.Row(row)
	}
	table.Flush()
	if n := Total(p.report) - 1 - int64(len(shown)); n > 0 {
		p.line("  … and %d more", n)
	}
}

// end writes the counts, the rules and the time.
func (p *printer) end() {
	p.heading("Summary")
	for _, f := range facts(p.report) {
		for i, words := range f.words {
			p.line("  %-12s  %s", once(f.key, i), words)
		}
	}
}

// once is a key that stands in front of the first of several lines.
func once(key string, i int) string {
	if i > 0 {
		return ""
	}
	return key
}
