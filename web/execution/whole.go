package execution

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"

	"tracewell/view/wire"
	"tracewell/web/arguments"
)

// functions are all functions, those first that took most.
func (s *Subject) functions(w *whole, _ url.Values) (any, error) {
	answer := wire.FunctionList{Total: w.total, Rows: []wire.FunctionDetail{}}
	seen := make(map[string]int)
	for _, cost := range w.FunctionCosts() {
		seen[cost.Address] = len(answer.Rows)
		answer.Rows = append(answer.Rows, wire.FunctionDetail{FunctionCost: cost, Source: s.place(cost.File, cost.Line)})
	}
	// What was never executed is looked for as well: coverage is about that.
	if w.report != nil {
		for i := range w.report.Functions {
			c := wire.DescribeFunctionCoverage(&w.report.Functions[i])
			at, executed := seen[c.Address]
			if !executed {
				at = len(answer.Rows)
				answer.Rows = append(answer.Rows, wire.FunctionDetail{
					FunctionCost: wire.FunctionCost{CodePlace: c.CodePlace}, Source: s.place(c.File, c.Line)})
			}
			answer.Rows[at].Instructions, answer.Rows[at].Branches = &c.Instructions, &c.Branches
		}
	}
	slices.SortStableFunc(answer.Rows, func(a, b wire.FunctionDetail) int { return cmp.Compare(b.Inclusive, a.Inclusive) })
	return answer, nil
}

// files are the source files of the program.
func (s *Subject) files(w *whole, _ url.Values) (any, error) {
	answer := wire.FileList{Rows: []wire.FileDetail{}}
	if w.report == nil || s.Sources == nil {
		return answer, nil
	}
	for _, f := range w.report.Files {
		row := wire.FileDetail{FileCoverage: wire.DescribeFileCoverage(f), Source: s.Sources.Offer(f.Path)}
		answer.Rows = append(answer.Rows, row)
	}
	return answer, nil
}

// lineCounts are those of a source file, by its number.
func (s *Subject) lineCounts(w *whole, args url.Values) (any, error) {
	file, err := arguments.Int64(args, "file")
	if err != nil {
		return nil, err
	}
	answer := wire.LineCounts{Lines: []wire.LineCount{}}
	if w.report == nil || s.Sources == nil {
		return answer, nil
	}
	for _, f := range w.report.Files {
		if s.Sources.Offer(f.Path) != int(file) {
			continue
		}
		branches := make(map[int]wire.Covered)
		for _, b := range f.Branches {
			c := branches[b.Line]
			branches[b.Line] = wire.Covered{All: c.All + 2, Executed: c.Executed + int(min(b.Taken, 1)+min(b.Past, 1))}
		}
		for _, l := range f.Lines {
			answer.Lines = append(answer.Lines, wire.LineCount{Line: l.Number, Count: l.Count, Branches: branches[l.Number]})
		}
	}
	return answer, nil
}

// mostPixels bounds a chart, whatever the page says of its screen.
const mostPixels = 8192

// chart is the calls of a processor within a part of the trace.
func (s *Subject) chart(w *whole, args url.Values) (any, error) {
	var n [4]int64
	for i, name := range []string{"cpu", "from", "to", "pixels"} {
		var err error
		if n[i], err = arguments.Int64(args, name); err != nil {
			return nil, err
		}
	}
	cpu, from, to, pixels := int32(n[0]), max(n[1], 0), min(n[2], w.Position), n[3]
	if to <= from || pixels < 1 || pixels > mostPixels {
		return nil, fmt.Errorf("no chart from instruction %d to %d has %d pixels", from, to, pixels)
	}
	answer := wire.CallChart{From: from, To: to, Names: []string{}, Slices: []wire.CallSlice{}}
	names := make(map[int32]int)
	w.chart.slices(cpu, from, to, pixels, func(slice wire.CallSlice, function int32) {
		slice.Function = -1
		if function >= 0 {
			number, known := names[function]
			if !known {
				number = len(answer.Names)
				names[function] = number
				answer.Names = append(answer.Names, w.name(function))
			}
			slice.Function = number
		}
		answer.Slices = append(answer.Slices, slice)
	})
	return answer, nil
}
