package wire

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tracewell/itrace/calls"
	"tracewell/itrace/calls/export"
	"tracewell/itrace/coverage"
	"tracewell/itrace/program"
	"tracewell/itrace/sites"
)

// WholeTrace makes the objects of questions about all of an execution trace, of what a walker has found in it.
type WholeTrace struct {
	*calls.Walker
	Code  *program.Program // nil if the program is not known
	Timed bool             // the trace has times
}

// Place is what is known of an address in a function, which may be negative for none.
func (w *WholeTrace) Place(pc uint64, function int32) CodePlace {
	p := CodePlace{Address: fmt.Sprintf("0x%x", pc)}
	if function >= 0 {
		p.Function = w.Functions[function].Name
	}
	if w.Code != nil {
		if path, line, ok := w.Code.Line(pc); ok {
			p.File, p.Line = path, line
		}
	}
	return p
}

// time is a time, nil if the trace has none: a zero would be a figure that nobody has measured.
func (w *WholeTrace) time(t uint64) *uint64 {
	if !w.Timed {
		return nil
	}
	return &t
}

// Executed is how many instructions were executed.
func (w *WholeTrace) Executed() (n uint64) {
	for i := range w.Table.Sites {
		n += w.Table.Sites[i].Count
	}
	return n
}

func shareOf(n, all uint64) float64 { return float64(n) / float64(max(all, 1)) }

// FunctionCosts are the functions of which something was executed, by their numbers.
func (w *WholeTrace) FunctionCosts() (costs []FunctionCost) {
	handlers := make(map[int32]bool)
	for i := range w.Nodes {
		if n := &w.Nodes[i]; n.Handler {
			handlers[n.Function] = true
		}
	}
	for i, t := range w.ByFunction(len(w.Functions)) {
		if t.Calls+t.Inclusive > 0 {
			costs = append(costs, FunctionCost{CodePlace: w.Place(w.Functions[i].Begin, int32(i)), Handler: handlers[int32(i)],
				Cost: Cost{t.Calls, t.Self, t.Inclusive, w.time(t.SelfTime), w.time(t.InclusiveTime)}})
		}
	}
	return costs
}

// Path is a node of the tree of calls, which took so much with all below it.
func (w *WholeTrace) Path(node int, instructions, time uint64) PathCost {
	n := &w.Nodes[node]
	p := PathCost{Cost: Cost{n.Calls, n.Self, instructions, w.time(n.Time), w.time(time)}}
	for _, at := range w.Walker.Path(node) {
		p.Path = append(p.Path, export.Name(w.Functions[w.Nodes[at].Function]))
		p.Handler = p.Handler || w.Nodes[at].Handler
	}
	return p
}

// HotSpots are what was executed by address, line or function, most first.
func (w *WholeTrace) HotSpots(by string) []HotSpot {
	all := w.Executed()
	spots := make(map[CodePlace]*HotSpot)
	for _, n := range w.Table.Executed() {
		s := &w.Table.Sites[n]
		at := s.PC
		if by == "function" && s.Function >= 0 {
			at = w.Functions[s.Function].Begin
		}
		place := w.Place(at, s.Function)
		key := place
		if by == "line" { // of which the first address stands for all
			if key.Address = ""; key.Line == 0 {
				continue
			}
		}
		spot := spots[key]
		if spot == nil {
			spot = &HotSpot{CodePlace: place}
			spots[key] = spot
		}
		spot.Instructions += s.Count
		if by == "address" {
			spot.Mnemonic = w.Table.Mnemonic(n)
		}
	}
	list := make([]HotSpot, 0, len(spots))
	for spot := range maps.Values(spots) {
		spot.Share = shareOf(spot.Instructions, all)
		list = append(list, *spot)
	}
	slices.SortFunc(list, func(a, b HotSpot) int {
		return cmp.Or(cmp.Compare(b.Instructions, a.Instructions), cmp.Compare(len(a.Address), len(b.Address)),
			cmp.Compare(a.Address, b.Address))
	})
	return list
}

// Mix is how often each mnemonic was executed, most first. Code that was replaced by other at the same address counts as what was
// there last.
func (w *WholeTrace) Mix() []MixShare {
	all := w.Executed()
	shares := make(map[string]*MixShare)
	for _, n := range w.Table.Executed() {
		mnemonic := w.Table.Mnemonic(n)
		m := shares[mnemonic]
		if m == nil {
			m = &MixShare{Mnemonic: mnemonic}
			shares[mnemonic] = m
		}
		m.Count += w.Table.Sites[n].Count
		m.Sites++
	}
	list := make([]MixShare, 0, len(shares))
	for m := range maps.Values(shares) {
		m.Share = shareOf(m.Count, all)
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b MixShare) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Mnemonic, b.Mnemonic))
	})
	return list
}

// Blocks are the basic blocks, those first in which most instructions were executed.
func (w *WholeTrace) Blocks() (list []BasicBlock) {
	blocks := w.Table.Blocks()
	slices.SortStableFunc(blocks, func(a, b sites.Block) int { return cmp.Compare(b.Instructions, a.Instructions) })
	for _, b := range blocks {
		begin, last := &w.Table.Sites[b.Sites[0]], &w.Table.Sites[b.Sites[len(b.Sites)-1]]
		list = append(list, BasicBlock{CodePlace: w.Place(begin.PC, begin.Function), Last: fmt.Sprintf("0x%x", last.PC),
			Length: len(b.Sites), Count: b.Count, Instructions: b.Instructions})
	}
	return list
}

// Interruption is an exception or an interrupt.
func (w *WholeTrace) Interruption(t *calls.Trap) Interruption {
	handler := w.Table.Sites[w.Table.At(t.Handler)].Function
	return Interruption{
		Instruction: t.At, Event: t.Kind.String(), Cause: t.Cause, CPU: t.CPU, Place: w.Place(t.Place, t.Function),
		Handler: w.Place(t.Handler, handler), Depth: t.Depth, Instructions: t.Instructions, Time: w.time(t.Time), Unfinished: !t.Returned}
}

// Interruptions adds up exceptions and interrupts by cause and handler. The zero value has none.
type Interruptions struct {
	list []*interruptionSum
}

type interruptionSum struct {
	InterruptionSummary
	time         Spread
	sum, sumTime uint64
}

// Add counts one. Of one that has not ended it is not known how long it took, so it only counts.
func (s *Interruptions) Add(n Interruption) {
	i := slices.IndexFunc(s.list, func(o *interruptionSum) bool {
		return o.Event == n.Event && o.Cause == n.Cause && o.Handler == n.Handler
	})
	if i < 0 {
		i = len(s.list)
		s.list = append(s.list, &interruptionSum{InterruptionSummary: InterruptionSummary{
			Event: n.Event, Cause: n.Cause, Handler: n.Handler}})
	}
	o := s.list[i]
	o.Count++
	if n.Unfinished {
		return
	}
	if o.Finished == 0 || n.Instructions > o.Instructions.Max {
		o.Longest = n.Instruction
	}
	first := o.Finished == 0
	o.Instructions.add(n.Instructions, first)
	o.Finished++
	o.sum += n.Instructions
	if n.Time != nil {
		o.time.add(*n.Time, first)
		o.Time = &o.time
		o.sumTime += *n.Time
	}
}

func (s *Spread) add(n uint64, first bool) {
	if first {
		s.Min = n
	}
	s.Min, s.Max = min(s.Min, n), max(s.Max, n)
}

// Summaries are the sums, the most frequent first.
func (s *Interruptions) Summaries() (list []InterruptionSummary) {
	slices.SortStableFunc(s.list, func(a, b *interruptionSum) int { return cmp.Compare(b.Count, a.Count) })
	for _, o := range s.list {
		finished := float64(max(o.Finished, 1))
		o.Instructions.Mean, o.time.Mean = float64(o.sum)/finished, float64(o.sumTime)/finished
		list = append(list, o.InterruptionSummary)
	}
	return list
}

// DescribeFileCoverage makes the object of a file's coverage.
func DescribeFileCoverage(f *coverage.File) FileCoverage {
	return FileCoverage{
		File: f.Path, Lines: Covered{All: len(f.Lines), Executed: f.Hit()},
		Functions: Covered{All: len(f.Functions), Executed: coverage.Called(f.Functions)},
		Branches:  Covered{All: 2 * len(f.Branches), Executed: coverage.Directions(f.Branches)}}
}

// DescribeFunctionCoverage makes the object of a function's coverage.
func DescribeFunctionCoverage(f *coverage.Function) FunctionCoverage {
	return FunctionCoverage{
		CodePlace: CodePlace{Address: fmt.Sprintf("0x%x", f.Begin), Function: f.Name, File: f.Path, Line: f.Line}, Calls: f.Calls,
		Instructions: Covered{All: f.Code, Executed: f.Executed},
		Branches:     Covered{All: 2 * len(f.Branches), Executed: coverage.Directions(f.Branches)}}
}

// Uncovered are the lines of a file that were not executed, in ranges. Lines without code between them do not part them.
func Uncovered(f *coverage.File) (ranges []UncoveredLines) {
	for i := 0; i < len(f.Lines); i++ {
		if f.Lines[i].Count > 0 {
			continue
		}
		u := UncoveredLines{File: f.Path, First: f.Lines[i].Number}
		for i+1 < len(f.Lines) && f.Lines[i+1].Count == 0 {
			i++
		}
		u.Last = f.Lines[i].Number
		ranges = append(ranges, u)
	}
	return ranges
}
