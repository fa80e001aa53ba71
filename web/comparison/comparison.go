// Package comparison answers what a page asks about comparisons of execution traces: one, or those of a regression.
//
// All answers come from the results that match made or that "match --json" wrote; the traces are not opened again, so that results
// of other machines can be looked at. How lines of both sides stand beside one another is the business of itrace/match/report,
// whose reports as text and HTML show the same. A program adds symbols, lines of the source and disassembly; it is the program of
// the reference unless the other trace has one of its own.
package comparison

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/arch/flow"
	"tracewell/itrace"
	"tracewell/itrace/match"
	"tracewell/itrace/match/batch"
	"tracewell/itrace/match/report"
	"tracewell/symbol"
	"tracewell/view/wire"
	"tracewell/web"
	"tracewell/web/arguments"
	"tracewell/web/sources"
)

// Options are what results do not tell.
type Options struct {
	Title    string          // of the page; "" for the name of the only comparison
	Dialects itrace.Registry // by which lines of traces are understood
	// Programs are those of the reference and the other trace; nil for none.
	Programs [2]*symbol.Program
	Sources  *sources.Sources // of the programs; nil for none
}

// Subject is comparisons as a page shows them. It may be used by several goroutines.
type Subject struct {
	results []*batch.Result
	Options
	sets [2]*flow.Set // of the programs, for disassembly; nil for none
}

// New returns the subject of some results.
func New(results []*batch.Result, o Options) *Subject {
	s := &Subject{Options: o}
	for _, r := range results {
		if r.Report == nil {
			r.Report = &match.Report{Verdict: match.Failed, Reason: "there is no result"}
		}
		s.results = append(s.results, r)
	}
	for side, p := range o.Programs {
		if p == nil {
			continue
		}
		if file := p.Main().File(); file.Arch() != nil {
			s.sets[side] = flow.Of(file.Arch(), file.Order())
		}
	}
	return s
}

// Kind implements web.Subject.
func (s *Subject) Kind() string { return "comparison" }

// Title implements web.Subject.
func (s *Subject) Title() string {
	if s.Options.Title != "" || len(s.results) != 1 {
		return cmp.Or(s.Options.Title, "Comparisons")
	}
	return report.Printable(s.name(0))
}

// name is that of a comparison.
func (s *Subject) name(i int) string {
	r := s.results[i]
	return cmp.Or(r.Name, r.Traces[0].File+" "+r.Traces[1].File)
}

// Answer implements web.Subject.
func (s *Subject) Answer(ctx context.Context, question string, args url.Values) (any, error) {
	switch question {
	case "comparisons":
		return s.comparisons(), nil
	case "comparison":
		i, err := arguments.Index(args, "comparison", len(s.results))
		if err != nil {
			return nil, err
		}
		return s.comparison(i), nil
	case "root", "consequences":
		i, err := arguments.Index(args, "comparison", len(s.results))
		if err != nil {
			return nil, err
		}
		j, err := arguments.Index(args, "root", len(s.results[i].Differences))
		if err != nil {
			return nil, err
		}
		if question == "consequences" {
			return s.consequences(i, j), nil
		}
		return s.root(i, j), nil
	case "source":
		return s.Sources.Answer(args)
	}
	return nil, web.ErrNoQuestion
}

// Static implements web.Subject. A regression may have thousands of pairs, and a page of one file has to be read at once, so that
// the more there are the less is told of each.
func (s *Subject) Static() []web.Question {
	questions := []web.Question{{Name: "comparisons"}}
	described := max(1, mostDescribed/max(len(s.results), 1))
	for i, r := range s.results {
		pair := fmt.Sprint(i)
		questions = append(questions, web.Question{Name: "comparison", Args: url.Values{"comparison": {pair}}})
		for j := range r.Differences {
			if r.Differences[j].Context != nil && j < described {
				s.root(i, j) // it offers the source files that it names
				args := url.Values{"comparison": {pair}, "root": {fmt.Sprint(j)}}
				questions = append(questions, web.Question{Name: "root", Args: args})
			}
			if j < described && len(followers(r.Report, j)) > 0 {
				args := url.Values{"comparison": {pair}, "root": {fmt.Sprint(j)}}
				questions = append(questions, web.Question{Name: "consequences", Args: args})
			}
		}
	}
	if s.Sources != nil {
		for _, name := range s.Sources.Names() {
			questions = append(questions, web.Question{Name: "source", Args: url.Values{"file": {fmt.Sprint(name.File)}}})
		}
	}
	return questions
}

// mostDescribed is how many root causes a page of one file describes.
const mostDescribed = 400

// comparisons lists all, those that failed and that differ first: who looks at a regression looks for them.
func (s *Subject) comparisons() wire.Comparisons {
	answer := wire.Comparisons{List: []wire.ComparisonOutcome{}}
	var cases []report.Case
	for i, r := range s.results {
		answer.List = append(answer.List, s.outcome(i))
		cases = append(cases, report.Case{Name: r.Name, Report: r.Report})
	}
	rank := map[match.Verdict]int{match.Different: 1, match.Equal: 2}
	slices.SortStableFunc(answer.List, func(a, b wire.ComparisonOutcome) int {
		return cmp.Compare(rank[a.Verdict], rank[b.Verdict])
	})
	answer.Summary = report.Tally(cases)
	return answer
}

func (s *Subject) outcome(i int) wire.ComparisonOutcome {
	r := s.results[i]
	o := wire.ComparisonOutcome{
		Number: i, Name: report.Printable(s.name(i)), Verdict: r.Verdict, Result: report.Result(r.Report),
		Differences: report.Total(r.Report), Consequences: r.Consequences, Instructions: r.Compared.Instructions, Seconds: r.Seconds,
	}
	if r.Verdict != match.Equal && r.Verdict != match.Different {
		o.Verdict = match.Failed
	}
	if len(r.Differences) > 0 {
		o.Class = match.Class(report.Printable(string(r.Differences[0].Class)))
	}
	return o
}

func (s *Subject) comparison(i int) wire.ComparisonDetail {
	r := s.results[i]
	answer := wire.ComparisonDetail{
		ComparisonOutcome: s.outcome(i), Headline: report.Headline(r.Report), Reference: report.Printable(r.Traces[0].File),
		Other: report.Printable(r.Traces[1].File), Facts: []wire.ComparisonFact{}, Notes: []string{}, Roots: []wire.RootCause{},
	}
	for _, f := range report.Facts(r.Report) {
		answer.Facts = append(answer.Facts, wire.ComparisonFact(f))
	}
	for _, note := range r.Notes {
		answer.Notes = append(answer.Notes, report.Printable(note))
	}
	for j := range r.Differences {
		answer.Roots = append(answer.Roots, rootCause(r.Report, j))
	}
	return answer
}

func rootCause(r *match.Report, j int) wire.RootCause {
	d := &r.Differences[j]
	return wire.RootCause{
		Followers: len(followers(r, j)),
		Number:    j, Class: match.Class(report.Printable(string(d.Class))), Summary: report.Summary(d), CPU: d.CPU,
		Reference: place(d.Reference), Other: place(d.Other), Described: d.Context != nil,
	}
}

// followers are the consequences that are listed with a root cause. A report has them in the order of their root causes.
func followers(r *match.Report, j int) []match.Consequence {
	byRoot := func(c match.Consequence, root int) int { return cmp.Compare(c.Root, root) }
	from, _ := slices.BinarySearchFunc(r.ConsequenceList, j, byRoot)
	to, _ := slices.BinarySearchFunc(r.ConsequenceList, j+1, byRoot)
	return r.ConsequenceList[from:max(from, to)] // what comes from elsewhere may be in any order
}

// consequences are those between a root cause and the next.
func (s *Subject) consequences(i, j int) wire.ComparisonConsequences {
	r := s.results[i]
	answer := wire.ComparisonConsequences{Root: j, List: []wire.ComparisonConsequence{}, Listed: len(r.ConsequenceList)}
	for _, c := range followers(r.Report, j) {
		answer.List = append(answer.List, wire.ComparisonConsequence{
			Class: match.Class(report.Printable(string(c.Class))), Summary: report.Summary(&c.Difference),
			Reference: quoted(c.Reference), Other: quoted(c.Other),
		})
	}
	return answer
}

// longestLine bounds the text of a line in a list, in bytes.
const longestLine = 400

// quoted is a record as it is written; nil for none.
func quoted(p *match.Position) *wire.LockstepPlace {
	if p == nil {
		return nil
	}
	line := report.Printable(p.Text)
	if len(line) > longestLine {
		line = strings.ToValidUTF8(line[:longestLine], "") + "…"
	}
	return &wire.LockstepPlace{TracePlace: *place(p), Text: line}
}

func place(p *match.Position) *wire.TracePlace {
	if p == nil {
		return nil
	}
	return &wire.TracePlace{Line: p.Line, Instruction: p.Instruction}
}

// root is a root cause with both traces around it.
func (s *Subject) root(i, j int) wire.RootCauseDetail {
	r := s.results[i]
	d := &r.Differences[j]
	answer := wire.RootCauseDetail{
		RootCause: rootCause(r.Report, j), Extent: report.Extent(d), Rows: []wire.LockstepRow{}, Registers: []wire.ComparedRegister{},
	}
	rows := report.Rows(r.Report, j, s.Dialects)
	behind := false
	for k := range rows {
		row := &rows[k]
		behind = behind || row.Here
		l := wire.LockstepRow{
			Alignment: wire.LockstepAlignment(row.Alignment), Here: row.Here,
			Reference: s.line(0, &row.Sides[0]), Other: s.line(1, &row.Sides[1]),
		}
		answer.Rows = append(answer.Rows, l)
		// Both go on together at the first instruction that is the same on both sides. Others may differ behind it all the same.
		if behind && !row.Here && answer.Resumed == nil && row.Alignment == report.Same && l.Reference.Head {
			answer.Resumed = &wire.ResumedAt{Reference: l.Reference.TracePlace, Other: l.Other.TracePlace}
		}
	}
	answer.Registers = append(answer.Registers, registers(d, written(d, rows))...)
	return answer
}

// line is a line of one side; nil for none.
func (s *Subject) line(side int, c *report.Cell) *wire.LockstepLine {
	if c.At == nil {
		return nil
	}
	l := &wire.LockstepLine{TracePlace: *place(c.At), Spans: marked(c.Spans)}
	if len(c.Records) == 0 || c.Records[0].Kind != itrace.Instruction {
		return l
	}
	r := &c.Records[0]
	l.Head, l.PC, l.Disassembly = true, fmt.Sprintf("0x%x", r.Addr), strings.TrimSpace(report.Printable(string(r.Disasm)))
	if l.Disassembly == "" && s.sets[side] != nil && len(r.Digits) > 0 && !r.Wild {
		set := s.sets[side].In(r.State)
		l.Disassembly = set.Text(set.Append(nil, r.Value, (len(r.Digits)+1)/2), r.Addr)
	}
	if p := s.Programs[side]; p != nil {
		l.Symbol = p.Describe(arch.Addr(r.Addr))
		if line, ok := p.Line(arch.Addr(r.Addr)); ok {
			l.File, l.SourceLine = line.File, line.Number
			if s.Sources != nil {
				source := s.Sources.Offer(line.File)
				l.Source = &source
			}
		}
	}
	return l
}

func marked(spans []report.Span) []wire.MarkedText {
	list := []wire.MarkedText{}
	for _, span := range spans {
		list = append(list, wire.MarkedText(span))
	}
	return list
}

// held is a value of a register, and the line that wrote it.
type held struct {
	value string
	line  int64
}

// written is what the instruction of a difference writes to registers on each side, by their names in lower case.
func written(d *match.Difference, rows []report.Row) (all [2]map[string]held) {
	for side, at := range [2]*match.Position{d.Reference, d.Other} {
		all[side] = make(map[string]held)
		// Of a stretch of one trace the place in the other is where that goes on: another instruction.
		if at == nil || d.Side != "" && d.Side != [2]string{"reference", "other"}[side] {
			continue
		}
		for i := range rows {
			c := &rows[i].Sides[side]
			if c.At == nil || c.At.Instruction != at.Instruction {
				continue
			}
			for k := range c.Records {
				if r := &c.Records[k]; r.Kind == itrace.Register {
					all[side][strings.ToLower(string(r.AppendName(nil)))] = held{cmp.Or(plain(string(r.Digits)), "0"), c.At.Line}
				}
			}
		}
	}
	return all
}

// registers are those of both sides in front of the instruction and behind it. Those that differ come first, then those that the
// instruction names or writes.
func registers(d *match.Difference, after [2]map[string]held) (list []wire.ComparedRegister) {
	if d.Context == nil {
		return nil
	}
	operands := report.Operands(d)
	seen := make(map[string]bool)
	add := func(v match.Value) {
		name := strings.ToLower(v.Register)
		seen[name] = true
		c := wire.ComparedRegister{Name: report.Printable(v.Register), Differs: v.Differs}
		_, c.Operand = slices.BinarySearch(operands, name)
		c.Before = pair(held{v.Reference, line(v.ReferenceWriter)}, held{v.Other, line(v.OtherWriter)})
		left, inReference := after[0][name]
		right, inOther := after[1][name]
		if inReference || inOther {
			if !inReference {
				left = held{value: v.Reference}
			}
			if !inOther {
				right = held{value: v.Other}
			}
			both := pair(left, right)
			c.After = both[:]
		}
		list = append(list, c)
	}
	for _, v := range d.Context.Registers {
		add(v)
	}
	// A register that the instruction writes first has no value in front of it.
	for side := range after {
		for _, name := range slices.Sorted(maps.Keys(after[side])) {
			if !seen[name] {
				add(match.Value{Register: name})
			}
		}
	}
	rank := func(c *wire.ComparedRegister) int {
		switch {
		case c.Differs:
			return 0
		case c.Operand || c.After != nil:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b wire.ComparedRegister) int { return cmp.Compare(rank(&a), rank(&b)) })
	return list
}

func line(p *match.Position) int64 {
	if p == nil {
		return 0
	}
	return p.Line
}

// pair marks where two values differ. How many zeros a producer writes in front makes no difference.
func pair(reference, other held) (both [2]wire.SideHeld) {
	left, right := report.MarkedValues(reference.value, other.value)
	if plain(reference.value) == plain(other.value) {
		left, right = []report.Span{{Text: text(left)}}, []report.Span{{Text: text(right)}}
	}
	both[0] = wire.SideHeld{Spans: marked(left), Line: reference.line}
	both[1] = wire.SideHeld{Spans: marked(right), Line: other.line}
	for side, value := range [2]string{reference.value, other.value} {
		if value == "" {
			both[side].Spans = []wire.MarkedText{}
		}
	}
	return both
}

func plain(value string) string { return strings.TrimLeft(strings.ToLower(value), "0") }

func text(spans []report.Span) string {
	var b strings.Builder
	for _, span := range spans {
		b.WriteString(span.Text)
	}
	return b.String()
}
