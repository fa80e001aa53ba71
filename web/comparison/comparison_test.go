package comparison_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/itrace/dialects"
	"tracewell/itrace/generate"
	"tracewell/itrace/match"
	"tracewell/itrace/match/batch"
	"tracewell/symbol"
	"tracewell/view/wire"
	"tracewell/web"
	"tracewell/web/comparison"
	"tracewell/web/sources"
)

// compared compares a generated trace with one that has faults.
func compared(t *testing.T, faults ...generate.Fault) (*batch.Result, []generate.Planted) {
	t.Helper()
	var traces [2]bytes.Buffer
	if _, err := generate.Write(&traces[0], generate.Options{Instructions: 5_000}); err != nil {
		t.Fatal(err)
	}
	planted, err := generate.Write(&traces[1], generate.Options{Instructions: 5_000, Faults: faults})
	if err != nil {
		t.Fatal(err)
	}
	input := func(i int) match.Input {
		return match.Input{Name: [2]string{"iss.log", "rtl.log"}[i], Reader: &traces[i]}
	}
	r := match.Compare(context.Background(), input(0), input(1), dialects.All, match.Options{Context: 32, Following: 16, Described: 100,
		Consequences: 1000})
	return &batch.Result{Result: match.Result{Name: "iss.log rtl.log", Report: r}}, planted
}

func ask[T any](t *testing.T, s web.Subject, question string, args ...string) T {
	t.Helper()
	v := url.Values{}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		v.Set(name, value)
	}
	answer, err := s.Answer(context.Background(), question, v)
	if err != nil {
		t.Fatalf("%s %v: %v", question, args, err)
	}
	return answer.(T)
}

// TestRoot: each planted fault is a root cause, with the lines of both sides beside one another and the difference among them.
func TestRoot(t *testing.T) {
	faults := []generate.Fault{{Kind: generate.FaultStore, At: 1000}, {Kind: generate.FaultInsert, At: 2000, N: 3}, {Kind: generate.FaultDrop, At: 3000}}
	result, planted := compared(t, faults...)
	s := comparison.New([]*batch.Result{result}, comparison.Options{Dialects: dialects.All})
	if s.Kind() != "comparison" || s.Title() != "iss.log rtl.log" {
		t.Errorf("%s: %s", s.Kind(), s.Title())
	}
	detail := ask[wire.ComparisonDetail](t, s, "comparison", "comparison=0")
	if detail.Verdict != match.Different || len(detail.Roots) != len(planted) || detail.Reference != "iss.log" {
		t.Fatalf("%+v", detail)
	}
	for i, p := range planted {
		root := ask[wire.RootCauseDetail](t, s, "root", "comparison=0", fmt.Sprintf("root=%d", i))
		here, both := 0, 0
		for _, row := range root.Rows {
			if row.Here {
				here++
			}
			if row.Alignment == wire.LockstepSame && (row.Reference == nil || row.Other == nil) {
				t.Errorf("%v: the same on one side: %+v", p, row)
			}
			if row.Reference != nil && row.Other != nil {
				both++
			}
			if row.Reference != nil && row.Reference.Head != (row.Reference.PC != "") {
				t.Errorf("%v: %+v", p, row.Reference)
			}
		}
		if here == 0 || both < 30 || root.Resumed == nil {
			t.Errorf("%v: %d rows of the difference, %d of both sides, resumed %v", p, here, both, root.Resumed)
		}
		if len(root.Registers) == 0 || !root.Described {
			t.Errorf("%v: no registers", p)
		}
	}
	stretch := ask[wire.RootCauseDetail](t, s, "root", "comparison=0", "root=1")
	if !strings.HasPrefix(stretch.Extent, "3 instructions") || stretch.Resumed.Other.Instruction-stretch.Resumed.Reference.Instruction != 3 {
		t.Errorf("%q, resumed at %+v", stretch.Extent, stretch.Resumed)
	}
}

// TestConsequences: every consequence is listed with one root cause, between that and the next, and a page of one file has them.
func TestConsequences(t *testing.T) {
	result, _ := compared(t, generate.Fault{Kind: generate.FaultState, At: 1000}, generate.Fault{Kind: generate.FaultState, At: 3000})
	s := comparison.New([]*batch.Result{result}, comparison.Options{Dialects: dialects.All})
	detail := ask[wire.ComparisonDetail](t, s, "comparison", "comparison=0")
	if detail.Consequences == 0 {
		t.Fatal("nothing follows")
	}
	count, carried := 0, 0
	for i, root := range detail.Roots {
		answer := ask[wire.ComparisonConsequences](t, s, "consequences", "comparison=0", fmt.Sprintf("root=%d", i))
		if len(answer.List) != root.Followers || answer.Root != i || answer.Listed != len(result.ConsequenceList) {
			t.Errorf("root cause %d has %d consequences: %+v", i, root.Followers, answer)
		}
		for _, c := range answer.List {
			if c.Summary == "" || c.Reference == nil && c.Other == nil {
				t.Errorf("root cause %d: %+v", i, c)
			}
			if r := c.Reference; r != nil && (r.Text == "" || r.Line < root.Reference.Line ||
				i+1 < len(detail.Roots) && r.Line > detail.Roots[i+1].Reference.Line) {
				t.Errorf("root cause %d: %+v", i, r)
			}
		}
		count += len(answer.List)
	}
	if int64(count) != min(detail.Consequences, 1000) {
		t.Errorf("%d of %d consequences are listed", count, detail.Consequences)
	}
	for _, q := range s.Static() {
		if q.Name == "consequences" {
			carried++
		}
	}
	if carried == 0 {
		t.Error("a page of one file carries none")
	}
}

// TestRegisters: what an instruction writes is told of both sides, and what differs is marked.
func TestRegisters(t *testing.T) {
	result, planted := compared(t, generate.Fault{Kind: generate.FaultState, At: 1500})
	s := comparison.New([]*batch.Result{result}, comparison.Options{Dialects: dialects.All})
	root := ask[wire.RootCauseDetail](t, s, "root", "comparison=0", "root=0")
	for _, r := range root.Registers {
		if r.Name != planted[0].What {
			continue
		}
		values := [2]string{}
		marks := 0
		if len(r.After) != 2 {
			t.Fatalf("%+v", r)
		}
		for side, held := range r.After {
			for _, span := range held.Spans {
				values[side] += span.Text
				if span.Differs {
					marks++
				}
			}
		}
		if values[0] == values[1] || marks == 0 || r.Differs {
			t.Errorf("behind the instruction %q, %d marks, differs in front %t", values, marks, r.Differs)
		}
		return
	}
	t.Errorf("%s is not among %+v", planted[0].What, root.Registers)
}

// TestProgram: with the program there are symbols, lines and their files.
func TestProgram(t *testing.T) {
	folder := t.TempDir()
	source, elf := filepath.Join(folder, "fw.c"), filepath.Join(folder, "fw.elf")
	var program bytes.Buffer
	if err := errors.Join(generate.WriteELF(&program, source), os.WriteFile(elf, program.Bytes(), 0o600),
		os.WriteFile(source, []byte(generate.Source()), 0o600)); err != nil {
		t.Fatal(err)
	}
	p, err := symbol.Open(elf, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	offered, err := sources.New(elf, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, _ := compared(t, generate.Fault{Kind: generate.FaultValue, At: 700})
	s := comparison.New([]*batch.Result{result}, comparison.Options{Dialects: dialects.All, Programs: [2]*symbol.Program{p, p}, Sources: offered})
	root := ask[wire.RootCauseDetail](t, s, "root", "comparison=0", "root=0")
	heads := 0
	for _, row := range root.Rows {
		l := row.Reference
		if l == nil || !l.Head {
			continue
		}
		heads++
		if l.Symbol == "" || l.SourceLine == 0 || l.Source == nil || l.Disassembly == "" {
			t.Errorf("%+v", l)
		} else if file := ask[wire.SourceFile](t, s, "source", fmt.Sprintf("file=%d", *l.Source)); l.SourceLine > len(file.Lines) {
			t.Errorf("line %d of %d", l.SourceLine, len(file.Lines))
		}
	}
	if heads < 20 {
		t.Errorf("%d instructions", heads)
	}
}

// TestRegression: of many comparisons those that differ come first, and a page of one file has all that it lists.
func TestRegression(t *testing.T) {
	equal, _ := compared(t)
	different, _ := compared(t, generate.Fault{Kind: generate.FaultOpcode, At: 100})
	failed := batch.Failed(batch.Pair{Name: "a b"}, errors.New("a: no such file"))
	empty := &batch.Result{Result: match.Result{Name: "no result"}}
	s := comparison.New([]*batch.Result{equal, different, failed, empty}, comparison.Options{Dialects: dialects.All})
	list := ask[wire.Comparisons](t, s, "comparisons")
	var order []int
	for _, o := range list.List {
		order = append(order, o.Number)
	}
	if fmt.Sprint(order) != "[2 3 1 0]" || list.Summary != "4 comparisons: 2 failed, 1 different, 1 equal" || s.Title() != "Comparisons" {
		t.Errorf("%v; %s; %s", order, list.Summary, s.Title())
	}
	for _, q := range s.Static() {
		if _, err := s.Answer(context.Background(), q.Name, q.Args); err != nil {
			t.Errorf("%s: %v", q.Key(), err)
		}
	}
	for question, args := range map[string]string{"comparison": "comparison=4", "root": "comparison=0&root=0", "source": "file=0"} {
		v, _ := url.ParseQuery(args)
		if _, err := s.Answer(context.Background(), question, v); err == nil || errors.Is(err, web.ErrNoQuestion) {
			t.Errorf("%s: %v", question, err)
		}
	}
	if _, err := s.Answer(context.Background(), "nothing", nil); !errors.Is(err, web.ErrNoQuestion) {
		t.Error(err)
	}
}

// TestHostile: names and lines of a result may be anything.
func TestHostile(t *testing.T) {
	hostile := "<script>alert(1)</script>\u202e\x1b[2J" + strings.Repeat("A", 1<<20)
	result := &batch.Result{Notes: []string{hostile}, Result: match.Result{Name: hostile, Report: &match.Report{
		Verdict: match.Different, Traces: [2]match.Trace{{File: hostile, Dialect: "matcher"}, {File: hostile, Dialect: "none"}},
		Differences: []match.Difference{{Class: match.Class(hostile), What: hostile, Expected: hostile, Got: hostile, Note: hostile,
			Reference: &match.Position{Line: -1, Text: hostile}, Other: &match.Position{Line: 1 << 62, Text: hostile},
			Context: &match.Context{Reference: []match.Position{{Line: -1, Text: hostile}}, Other: []match.Position{{Text: hostile}},
				Registers: []match.Value{{Register: hostile, Reference: hostile, Other: hostile, Differs: true}}}}},
	}}}
	s := comparison.New([]*batch.Result{result}, comparison.Options{Dialects: dialects.All})
	for _, q := range s.Static() {
		answer, err := s.Answer(context.Background(), q.Name, q.Args)
		if err != nil {
			t.Errorf("%s: %v", q.Key(), err)
		}
		if text := fmt.Sprintf("%+v", answer); len(text) > 64<<10 || strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%s: %d bytes: %.200q", q.Key(), len(text), text)
		}
	}
}
