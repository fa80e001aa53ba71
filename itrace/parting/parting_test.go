package parting

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracewell/arch/flow"
	"tracewell/itrace"
	"tracewell/itrace/program"
)

// The simulated program: functions of statements, each on a line, laid out at addresses as a compiler does, and executed by an
// interpreter. A version is made of another by a change whose executions the interpreter counts.

type statement struct {
	size    int // instructions
	callee  string
	rounds  int // of it and the next one, which is no call; 0 for no loop
	planted bool
}

type function struct {
	name       string
	statements []statement
}

type version struct {
	functions []function
	lead      int // lines and instructions in front of the first function
}

const (
	instruction = 4
	spare       = 8 // instructions behind a function
)

// simulated makes a program in which functions call those behind them.
func simulated(r *rand.Rand) version {
	v := version{lead: 3}
	const all = 7
	for i := range all {
		f := function{name: fmt.Sprintf("f%d", i)}
		for range 2 + r.IntN(5) {
			switch n := r.IntN(4); {
			case n == 0 && i < all-1:
				f.statements = append(f.statements, statement{size: 2, callee: fmt.Sprintf("f%d", i+1+r.IntN(all-1-i))})
			case n == 1:
				f.statements = append(f.statements, statement{size: 1 + r.IntN(4), rounds: 2 + r.IntN(4)}, statement{size: 1 + r.IntN(4)})
			default:
				f.statements = append(f.statements, statement{size: 1 + r.IntN(4)})
			}
		}
		if i < all-1 { // so that all are called
			f.statements = append(f.statements, statement{size: 2, callee: fmt.Sprintf("f%d", i+1)})
		}
		f.statements = append(f.statements, statement{size: 1})
		v.functions = append(v.functions, f)
	}
	return v
}

func (v version) clone() version {
	v.functions = slices.Clone(v.functions)
	for i := range v.functions {
		v.functions[i].statements = slices.Clone(v.functions[i].statements)
	}
	return v
}

// run is what a version executed, its symbols and its lines.
type run struct {
	version
	begins  map[string]int // addresses, in instructions
	lines   map[uint64]int
	records []itrace.Record
	planted uint64 // how often what was planted was executed
	side    Side
}

const base = 0x80000000

func (v version) run(r *rand.Rand, interrupts int) *run {
	x := &run{version: v, begins: map[string]int{}, lines: map[uint64]int{}}
	p := &program.Program{Set: flow.Sets()[0]}
	at, line := v.lead, v.lead
	for i, f := range v.functions {
		x.begins[f.name] = at
		begin := at
		line++
		for _, s := range f.statements {
			line++
			for range s.size {
				x.lines[address(at)] = line
				at++
			}
		}
		p.Functions = append(p.Functions, program.Function{Name: f.name, Begin: address(begin), End: address(at), Whole: i})
		at += spare
	}
	x.side = Side{Program: p, Line: func(pc uint64) (string, int, bool) {
		line, ok := x.lines[pc]
		return "/some/where/program.c", line, ok
	}}
	// Calls are a stack of our own: where each function is.
	type place struct{ function, statement, at, rounds int }
	stack := []place{{at: x.begins[v.functions[0].name]}}
	emit := func(at int, opcode uint32) {
		if r.IntN(100) < interrupts && len(x.records) > 0 {
			x.records = append(x.records, itrace.Record{Kind: itrace.Event, Addr: address(at), AddrDigits: []byte("0"),
				Extra: itrace.Extra{Event: itrace.Interrupt}}, executed(0x1000, 0x13), executed(0x1004, 0x30200073))
		}
		x.records = append(x.records, executed(address(at), opcode))
	}
	for len(stack) > 0 {
		here := &stack[len(stack)-1]
		statements := v.functions[here.function].statements
		s := statements[here.statement]
		last := here.at + s.size - 1
		for n := here.at; n < last; n++ {
			emit(n, 0x13)
		}
		if s.planted {
			x.planted++
		}
		here.at, here.statement = last+1, here.statement+1
		switch {
		case s.callee != "":
			emit(last, jal(int32(x.begins[s.callee]-last)*instruction))
			index := slices.IndexFunc(v.functions, func(f function) bool { return f.name == s.callee })
			stack = append(stack, place{function: index, at: x.begins[s.callee]})
		case here.statement == len(statements):
			emit(last, 0x8067)
			stack = stack[:len(stack)-1]
		case here.statement > 1 && statements[here.statement-2].rounds > 0:
			head := statements[here.statement-2]
			back := head.size + s.size - 1
			emit(last, 0xfe001ee3) // a conditional branch, whose target is not looked at
			x.records[len(x.records)-1].Value = uint64(branch(int32(-back * instruction)))
			if here.rounds++; here.rounds < head.rounds {
				here.at, here.statement = last-back, here.statement-2
			} else {
				here.rounds = 0
			}
		default:
			emit(last, 0x13)
		}
	}
	return x
}

func address(n int) uint64 { return base + uint64(n)*instruction }

func executed(pc uint64, opcode uint32) itrace.Record {
	return itrace.Record{Kind: itrace.Instruction, Addr: pc, Value: uint64(opcode), Digits: []byte("00000013")}
}

func jal(offset int32) uint32 {
	o := uint32(offset)
	return 0xef | o&0xff000 | o>>11&1<<20 | o>>1&0x3ff<<21 | o>>20&1<<31
}

func branch(offset int32) uint32 {
	o := uint32(offset)
	return 0x1063 | o>>11&1<<7 | o>>1&15<<8 | o>>5&63<<25 | o>>12&1<<31
}

// fed is records as a source.
type fed struct{ left []itrace.Record }

func (f *fed) Read(records []itrace.Record) (int, error) {
	if len(f.left) == 0 {
		return 0, io.EOF
	}
	n := copy(records, f.left)
	f.left = f.left[n:]
	return n, nil
}

func compared(t testing.TB, a, b *run, renamed map[string]string) *Result {
	result, err := Compare(Options{Sides: [2]Side{a.side, b.side}, Renamed: renamed}, [2]Source{&fed{a.records}, &fed{b.records}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// text is partings with all that does not depend on addresses.
func text(r *Result) string {
	var lines []string
	for _, p := range r.Partings {
		line := fmt.Sprintf("%s %dx", p.Function, p.Count)
		for _, s := range p.Sides {
			line += " |"
			for _, e := range s.Elements {
				switch {
				case e.Function != "":
					line += " " + e.Function
				case e.Rounds > 0:
					line += fmt.Sprintf(" %d rounds", e.Rounds)
				case e.Ends:
					line += " ends"
				case e.Returns:
					line += " returns"
				default:
					line += " line"
				}
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// TestPlanted: of every change exactly that is told, as often as it was executed, and of none nothing.
func TestPlanted(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 4))
		old := simulated(r)
		for _, change := range []string{"none", "moved", "renamed", "line", "call", "removed", "rounds", "other"} {
			now := old.clone()
			at := r.IntN(len(now.functions))
			f := &now.functions[at]
			want, side := "", 1
			before := old
			var renamed map[string]string
			// A place between two statements that is not within a loop.
			place := 1 + r.IntN(len(f.statements)-1)
			if f.statements[place-1].rounds > 0 {
				place++
			}
			leaf := function{"new", []statement{{size: 3}, {size: 1}}}
			switch change {
			case "moved":
				now.lead += 50
				slices.Reverse(now.functions[1:])
			case "renamed":
				renamed = map[string]string{f.name: "new"}
				for i := range now.functions {
					for j := range now.functions[i].statements {
						if s := &now.functions[i].statements[j]; s.callee == f.name {
							s.callee = "new"
						}
					}
				}
				f.name = "new"
			case "line":
				f.statements = slices.Insert(f.statements, place, statement{size: 7, planted: true})
				want = f.name + " %dx | | line"
			case "call":
				f.statements = slices.Insert(f.statements, place, statement{size: 7, callee: "new", planted: true})
				want = f.name + " %dx | | line new"
				now.functions = append(now.functions, leaf)
			case "removed":
				f.statements = slices.Insert(f.statements, place, statement{size: 7, callee: "new", planted: true})
				want, side = f.name+" %dx | line new |", 0
				now.functions = append(now.functions, leaf)
				before, now = now, before
			case "rounds":
				i := slices.IndexFunc(f.statements, func(s statement) bool { return s.rounds > 0 })
				if i < 0 {
					continue
				}
				want = fmt.Sprintf("%s %%dx | %d rounds | %d rounds", f.name, f.statements[i].rounds, f.statements[i].rounds+3)
				f.statements[i].rounds += 3
				f.statements[i].planted = true
			case "other":
				i := slices.IndexFunc(f.statements, func(s statement) bool { return s.callee != "" })
				if i < 0 {
					continue
				}
				want = fmt.Sprintf("%s %%dx | %s | new", f.name, f.statements[i].callee)
				f.statements[i].callee, f.statements[i].planted = "new", true
				now.functions = append(now.functions, leaf)
			}
			runs := [2]*run{before.run(r, int(seed%3)), now.run(r, int(seed%3))}
			result := compared(t, runs[0], runs[1], renamed)
			if planted := runs[side].planted; change == "rounds" { // the interpreter counts each round
				i := slices.IndexFunc(f.statements, func(s statement) bool { return s.planted })
				want = fmt.Sprintf(want, planted/uint64(f.statements[i].rounds))
			} else if want != "" {
				want = fmt.Sprintf(want, planted)
			}
			if got := text(result); got != want || result.Parts() != (want != "") {
				t.Fatalf("seed %d, %s: %q, not %q", seed, change, got, want)
			}
		}
	}
}

// TestLongCall: a call with more steps than are kept is left out where only one version has it, and what follows is compared.
func TestLongCall(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	calling := func(name string, others ...string) function {
		f := function{name: name}
		for i, other := range others {
			f.statements = append(f.statements, statement{size: 1 + i, callee: other})
		}
		f.statements = append(f.statements, statement{size: 1})
		return f
	}
	old := version{functions: []function{calling("main", "d1", "d0"), calling("d0")}}
	const deep = 16 // 2 to the power of it are the calls of d0
	for i := 1; i <= deep; i++ {
		below := fmt.Sprintf("d%d", i-1)
		old.functions = append(old.functions, calling(fmt.Sprintf("d%d", i), below, below))
	}
	now := old.clone()
	now.functions[0].statements = slices.Insert(now.functions[0].statements, 1, statement{size: 9, callee: fmt.Sprintf("d%d", deep)})
	now.functions[2].statements[0].size = 4 // of d1, which changes no line
	runs := [2]*run{old.run(r, 0), now.run(r, 0)}
	if got := text(compared(t, runs[0], runs[1], nil)); got != fmt.Sprintf("main 1x | | line d%d", deep) {
		t.Error(got)
	}
	if got := text(compared(t, runs[1], runs[0], nil)); got != fmt.Sprintf("main 1x | line d%d |", deep) {
		t.Error(got)
	}
}

// TestRest: functions that have nothing in common are left out up to their ends.
func TestRest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	some := func(callee string, n int) version {
		f := function{name: "f", statements: slices.Repeat([]statement{{size: 2, callee: callee}}, n)}
		return version{functions: []function{
			{name: "main", statements: []statement{{size: 1, callee: "f"}, {size: 1, callee: "x"}, {size: 1}}},
			{"f", append(f.statements, statement{size: 3})}, {"x", []statement{{size: 1}}}, {"y", []statement{{size: 5}}}}}
	}
	a, b := some("x", maxElements), some("y", maxElements)
	ra, rb := a.run(r, 0), b.run(r, 0)
	ra.side.Line, rb.side.Line = nil, nil
	result := compared(t, ra, rb, nil)
	if len(result.Partings) != 1 || !result.Partings[0].Rest || result.Partings[0].Sides[0].More != maxElements-maxShown {
		t.Errorf("%+v", result.Partings)
	}
}

// TestDetails: the first parting has its stack, places and numbers, and functions of one version alone are listed.
func TestDetails(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	old := version{lead: 3, functions: []function{
		{"main", []statement{{size: 2}, {size: 1, callee: "f"}, {size: 1}}},
		{"f", []statement{{size: 2}, {size: 3}, {size: 1}}}, {"gone", []statement{{size: 1}}}}}
	now := old.clone()
	now.lead = 10
	now.functions[1].statements = slices.Insert(now.functions[1].statements, 1, statement{size: 7, callee: "new"})
	now.functions[2].name = "new"
	a, b := old.run(r, 0), now.run(r, 0)
	result := compared(t, a, b, nil)
	p := result.Partings[0]
	main, f := address(3), address(b.begins["f"])
	if len(p.Stack) != 2 || p.Stack[0].Function != "main" || p.Stack[1].Function != "f" || p.Stack[1].From[0] != main+2*instruction {
		t.Errorf("%+v", p.Stack)
	}
	if s := p.Sides[0]; s.At != 5 || s.PC != address(a.begins["f"]+2) || s.Instructions != 0 || len(s.Elements) != 0 {
		t.Errorf("%+v", s)
	}
	if s := p.Sides[1]; s.At != 5 || s.PC != f+2*instruction || s.Instructions != 8 || s.Elements[1].Instructions != 1 {
		t.Errorf("%+v", s)
	}
	if only := fmt.Sprint(result.Only); only != fmt.Sprintf("[[{gone %d 0}] [{new %d 1}]]", address(a.begins["gone"]), address(b.begins["new"])) {
		t.Error(only)
	}
	// A trace that is cut off parts where it ends.
	a.records = a.records[:6]
	if got := text(compared(t, a, a, nil)); got != "" {
		t.Error(got)
	}
	cut := *a
	cut.records = a.records[:4]
	last := compared(t, a, &cut, nil).Partings
	if len(last) != 1 || !last[0].Sides[1].Elements[0].Ends {
		t.Errorf("%+v", last)
	}
}

func BenchmarkCompare(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	v := simulated(r)
	x := v.run(r, 1)
	b.SetBytes(int64(len(x.records)) * 50) // a line of a log that tells little, of each side
	b.ReportAllocs()
	for b.Loop() {
		compared(b, x, x, nil)
	}
}

// TestSources: where the sources are there, lines correspond by their text, whatever code they have.
func TestSources(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	old := version{functions: []function{{"main", []statement{{size: 2}, {size: 3}, {size: 4}}}}}
	now := version{functions: []function{{"main", []statement{{size: 2}, {size: 7}, {size: 9}, {size: 8}}}}}
	a, b := old.run(r, 0), now.run(r, 0)
	for side, x := range map[*run]string{a: "main{|a|b|c}", b: "main{|a|new|b|c}"} {
		line := side.side.Line
		side.side.Line = func(pc uint64) (string, int, bool) {
			_, n, ok := line(pc)
			return "/" + x + "/program.c", n, ok
		}
		side.side.Source = func(string) []string { return strings.Split(x, "|") }
	}
	result := compared(t, a, b, nil)
	if got := text(result); got != "main 1x | | line" || result.Partings[0].Sides[1].PC != address(2) {
		t.Errorf("%s, %+v", got, result.Partings)
	}
	b.side.Source = nil // without them the sizes tell nothing, and lines correspond by their distance
	if got := text(compared(t, a, b, nil)); got != "main 1x | ends | line" {
		t.Error(got)
	}
}

// TestUnnamed: what code without a symbol calls counts as called by its caller.
func TestUnnamed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	v := version{functions: []function{{"main", []statement{{size: 2, callee: "stub"}, {size: 1}}},
		{"stub", []statement{{size: 1, callee: "f"}, {size: 1}}}, {"f", []statement{{size: 1}}}}}
	a := v.run(r, 0)
	v.functions[0].statements[0].callee = "f"
	b := v.run(r, 0)
	if got := text(compared(t, a, b, nil)); got != "main 1x | stub | f" {
		t.Error(got)
	}
	a.side.Program.Functions = slices.Delete(a.side.Program.Functions, 1, 2)
	a.side.Program.Functions[1].Whole = 1
	a.side.Line, b.side.Line = nil, nil
	if got := text(compared(t, a, b, nil)); got != "" {
		t.Error(got)
	}
}
