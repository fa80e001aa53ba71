package report

import (
	"cmp"
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"strings"

	"tracewell/internal/text"
	"tracewell/itrace"
	"tracewell/itrace/match"
)

//go:embed page.html
var pageText string

// page is the template of the page.
var page = template.Must(template.New("page").Parse(pageText))

// HTML writes cases as one page of HTML, which needs nothing besides: a table of all, and for each the verdict, the differences
// with the lines of both traces side by side, the registers, the counts and the rules. The more cases there are the less is told
// of each, so that the page can still be read.
//
// Errors are those of the writer.
func HTML(w io.Writer, cases []Case) error {
	p := pageView{Title: Tally(cases)}
	b := budgetFor(len(cases))
	for i, c := range cases {
		p.Cases = append(p.Cases, newCaseView(i, c, b))
	}
	return page.Execute(w, p)
}

// budget is how much is told of a case.
type budget struct {
	described int // differences with all that surrounds them
	listed    int // other differences, one a line
}

// budgetFor gives what there is room for in each of n cases.
func budgetFor(n int) budget {
	n = max(n, 1)
	return budget{min(max(200/n, 1), 20), min(max(2000/n, 5), 200)}
}

// Tally counts cases by their verdicts.
func Tally(cases []Case) string {
	counts := make(map[match.Verdict]int)
	for _, c := range cases {
		counts[verdict(c.report())]++
	}
	var texts []string
	for _, v := range []match.Verdict{match.Failed, match.Different, match.Equal} {
		if n := counts[v]; n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return text.Plural(int64(len(cases)), "comparison") + ": " + cmp.Or(strings.Join(texts, ", "), "none")
}

// verdict is that of a report; one that nobody knows is a failure.
func verdict(r *match.Report) match.Verdict {
	if r.Verdict == match.Equal || r.Verdict == match.Different {
		return r.Verdict
	}
	return match.Failed
}

// The views are what the template is given: texts, all of them printable.
type (
	pageView struct {
		Title string
		Cases []caseView
	}
	caseView struct {
		ID, Name       string
		Verdict        match.Verdict
		Mark           string // of the verdict
		Headline       string
		Result         string // the headline without what the table says besides
		Count          int64  // of differences
		Compared, Time string
		Names, Short   [2]string // of the traces, and above a column
		Differences    []differenceView
		Others         []otherView
		More           int64 // differences that are not listed
		Facts          []factView
	}
	differenceView struct {
		Number         int
		Class          string
		Summary        string
		Places         []string
		Rows           []rowView
		RegistersTitle string
		Registers      []registerView
		More           int // registers that are not shown
	}
	rowView struct {
		Class string // of the element
		Mark  string
		Sides [2]cellView
	}
	cellView struct {
		Line  string
		Spans []spanView
	}
	spanView struct {
		Text    string
		Differs bool
	}
	registerView struct {
		Name    string
		Differs bool
		Sides   [2]valueView
	}
	valueView struct {
		Spans []spanView
		Line  string
	}
	otherView struct {
		Instruction    string
		Lines          [2]string
		Class, Summary string
	}
	factView struct {
		Key   string
		Words []string
	}
)

// verdictMarks stand with the verdicts, so that the colour is not the only mark.
var verdictMarks = map[match.Verdict]string{match.Equal: "=", match.Different: "≠", match.Failed: "!"}

func newCaseView(i int, c Case, b budget) caseView {
	r := c.report()
	v := caseView{
		ID: fmt.Sprintf("case-%d", i+1), Name: printable(c.name(), nameWidth),
		Verdict: verdict(r), Headline: Headline(r), Count: Total(r),
		Compared: countsText(r.Compared), Time: speed(r), Names: [2]string{name(r, reference), name(r, other)},
	}
	v.Short = [2]string{columnName(r, reference), columnName(r, other)}
	v.Mark = verdictMarks[v.Verdict]
	v.Result = Result(r)
	for i := range r.Differences {
		d := &r.Differences[i]
		switch {
		case d.Context != nil && len(v.Differences) < b.described:
			v.Differences = append(v.Differences, newDifferenceView(r, c.Dialects, i))
		case len(v.Others) < b.listed:
			v.Others = append(v.Others, newOtherView(d))
		}
	}
	v.More = v.Count - int64(len(v.Differences)+len(v.Others))
	for _, f := range facts(r) {
		v.Facts = append(v.Facts, factView{f.key, f.words})
	}
	return v
}

func newOtherView(d *match.Difference) otherView {
	v := otherView{Lines: [2]string{"-", "-"}, Class: printable(string(d.Class), nameWidth), Summary: Summary(d)}
	for side, at := range places(d) {
		if at != nil {
			v.Instruction = cmp.Or(v.Instruction, fmt.Sprint(at.Instruction))
			v.Lines[side] = fmt.Sprint(at.Line)
		}
	}
	return v
}

func newDifferenceView(r *match.Report, dialects itrace.Registry, i int) differenceView {
	d := &r.Differences[i]
	v := differenceView{Number: i + 1, Class: printable(string(d.Class), nameWidth), Summary: Summary(d)}
	for side, at := range places(d) {
		where := name(r, side) + ": nothing"
		if at != nil {
			where = fmt.Sprintf("%s:%d, %s", name(r, side), at.Line, place(at))
		}
		v.Places = append(v.Places, where)
	}
	if size := Extent(d); size != "" {
		v.Places = append(v.Places, "length: "+size)
	}
	rows := rows(r, d, dialects)
	if i > 0 {
		rows = nearest(rows)
	}
	for i := range rows {
		v.Rows = append(v.Rows, newRowView(&rows[i]))
	}
	values, rest := registers(d)
	if len(values) > 0 {
		v.RegistersTitle = registersTitle(d)
	}
	for i := range values {
		v.Registers = append(v.Registers, newRegisterView(&values[i]))
	}
	v.More = rest
	return v
}

// nearRows is how many rows before and behind a difference are shown of those that are not the first.
const nearRows = 6

// nearest takes the rows around the difference.
func nearest(rows []row) []row {
	first, last := len(rows), -1
	for i := range rows {
		if rows[i].here {
			first, last = min(first, i), i
		}
	}
	if last < 0 {
		return rows[:min(len(rows), 2*nearRows)]
	}
	last = min(last, first+nearRows)
	return rows[max(0, first-nearRows):min(len(rows), last+nearRows+1)]
}

// rowClasses are the classes of the elements of rows.
var rowClasses = map[rowKind]string{same: "", changed: "c", refOnly: "r", otherOnly: "o", leap: "g"}

func newRowView(r *row) rowView {
	v := rowView{Class: rowClasses[r.kind], Mark: strings.TrimSpace(signs[r.kind])}
	if r.here {
		v.Class, v.Mark = v.Class+" h", "→"+v.Mark
	}
	for side, c := range r.sides {
		if c.at != nil {
			v.Sides[side] = cellView{fmt.Sprint(c.at.Line), spanViews(fit(c.spans, htmlLine))}
		}
	}
	return v
}

// htmlLine is how many characters of a line are shown.
const htmlLine = 200

func newRegisterView(value *match.Value) registerView {
	left, right := markDifference(value.Reference, value.Other, valueWidth)
	if !value.Differs {
		left, right = []span{{text: flat(left)}}, []span{{text: flat(right)}}
	}
	v := registerView{Name: printable(value.Register, nameWidth), Differs: value.Differs}
	v.Sides[reference] = valueView{spanViews(left), writerText(value.ReferenceWriter)}
	v.Sides[other] = valueView{spanViews(right), writerText(value.OtherWriter)}
	return v
}

// spanViews joins neighbours of a kind.
func spanViews(spans []span) (views []spanView) {
	for _, s := range spans {
		if s.text == "" {
			continue
		}
		if n := len(views); n > 0 && views[n-1].Differs == s.differs {
			views[n-1].Text += s.text
		} else {
			views = append(views, spanView{s.text, s.differs})
		}
	}
	return views
}
