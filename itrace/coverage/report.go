// Package coverage tells what of a program an execution trace has executed: lines, branches in both directions, functions, and
// instructions. Nothing of the program is instrumented: lines are those of its DWARF, branches are found in its code.
//
// A line counts as often as the instruction with which a statement of it begins; of several, as in the head of a loop, that which
// was executed most often. A branch is a conditional jump, in the line that its instruction belongs to: its directions are that it
// was taken and that it went on behind itself. A function counts its calls.
package coverage

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"tracewell/arch"
	"tracewell/arch/flow"
	"tracewell/itrace/program"
	"tracewell/itrace/sites"
	"tracewell/symbol/debuginfo"
)

// Line is a line of the source that has code.
type Line struct {
	Number int
	Count  uint64
}

// Branch is a conditional jump.
type Branch struct {
	PC          uint64
	Line        int
	Executed    bool
	Taken, Past uint64
}

// Function is a function of the program.
type Function struct {
	Name     string
	Begin    uint64
	Path     string // of its source; "" if that is not known
	Line     int    // where it begins
	Calls    uint64
	Code     int // instructions
	Executed int // of these
	Branches []Branch
}

// File is a file of the source.
type File struct {
	Path      string
	Lines     []Line      // in their order
	Functions []*Function // in the order of the source
	Branches  []Branch    // in the order of lines, then addresses
}

// Report is what was executed.
type Report struct {
	Files     []*File    // by path
	Functions []Function // by address; those without lines are in no file
}

// Of is the report of a program. calls is how often a function was called, by its number in the program.
func Of(t *sites.Table, p *program.Program, calls func(function int) uint64) *Report {
	r := &Report{}
	for i, f := range p.Functions {
		if f.Whole == i {
			r.Functions = append(r.Functions, function(t, p, i, calls(i)))
		}
	}
	files := make(map[string]*File)
	for path, counts := range lines(t, p) {
		f := &File{Path: path}
		for number, count := range counts {
			f.Lines = append(f.Lines, Line{number, count})
		}
		slices.SortFunc(f.Lines, func(a, b Line) int { return cmp.Compare(a.Number, b.Number) })
		files[path] = f
	}
	for i := range r.Functions {
		f := &r.Functions[i]
		if in := files[f.Path]; in != nil {
			in.Functions = append(in.Functions, f)
		}
		for _, b := range f.Branches { // one that was inlined may be of another file than its function
			if path, line, ok := p.Line(b.PC); ok && files[path] != nil {
				b.Line = line
				files[path].Branches = append(files[path].Branches, b)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		f := files[path]
		slices.SortStableFunc(f.Functions, func(a, b *Function) int { return cmp.Compare(a.Line, b.Line) })
		slices.SortStableFunc(f.Branches, func(a, b Branch) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.PC, b.PC))
		})
		r.Files = append(r.Files, f)
	}
	return r
}

// function goes over the code of a function.
func function(t *sites.Table, p *program.Program, i int, calls uint64) Function {
	of := p.Functions[i]
	f := Function{Name: of.Name, Begin: of.Begin, Calls: calls}
	f.Path, f.Line, _ = p.Line(of.Begin)
	for _, piece := range p.Functions {
		if piece.Whole == i {
			f.sweep(t, p, piece)
		}
	}
	return f
}

// sweep goes over the instructions of a piece of code, one after the other. It ends where one is not known.
func (f *Function) sweep(t *sites.Table, p *program.Program, piece program.Function) {
	set := p.Set
	if set != nil {
		if n := t.Find(piece.Begin); n >= 0 {
			set = set.In(t.Sites[n].State)
		}
	}
	for pc := piece.Begin; pc < piece.End; {
		code := p.Code(pc)
		if set == nil || code == nil {
			return
		}
		in := set.Decode(code, pc)
		size := uint64(in.Len)
		if in.Delayed {
			size /= 2
		}
		if size == 0 {
			return
		}
		f.Code++
		var s *sites.Site
		if n := t.Find(pc); n >= 0 && t.Sites[n].Count > 0 {
			s = &t.Sites[n]
			f.Executed++
		}
		if in.Kind == flow.Jump && in.Conditional {
			b := Branch{PC: pc, Executed: s != nil}
			if s != nil {
				b.Taken, b.Past = s.Taken, s.Past
			}
			f.Branches = append(f.Branches, b)
		}
		pc += size
	}
}

// lines counts the lines of all files by their paths.
func lines(t *sites.Table, p *program.Program) map[string]map[int]uint64 {
	executed := t.Executed()
	counts := make(map[string]map[int]uint64)
	for _, u := range p.File.Units() {
		table := u.Lines()
		for i, row := range table.Rows {
			if row.EndSequence() || row.Line == 0 || i+1 == len(table.Rows) || !p.File.HasCode(row.Addr) ||
				table.Rows[i+1].Addr <= row.Addr { // one without code
				continue
			}
			path := table.Path(row)
			if counts[path] == nil {
				counts[path] = make(map[int]uint64)
			}
			count := countOf(t, executed, row, table.Rows[i+1].Addr, p.Bias())
			counts[path][int(row.Line)] = max(counts[path][int(row.Line)], count)
		}
	}
	return counts
}

// countOf is how often the code of a row was executed: its first instruction, or one further on where the row begins within one.
func countOf(t *sites.Table, executed []int, row debuginfo.Row, end arch.Addr, bias uint64) uint64 {
	begin, stop := uint64(row.Addr)+bias, uint64(end)+bias
	if n := t.Find(begin); n >= 0 && t.Sites[n].Count > 0 {
		return t.Sites[n].Count
	}
	i, _ := slices.BinarySearchFunc(executed, begin, func(n int, pc uint64) int { return cmp.Compare(t.Sites[n].PC, pc) })
	var count uint64
	for ; i < len(executed) && t.Sites[executed[i]].PC < stop; i++ {
		count = max(count, t.Sites[executed[i]].Count)
	}
	return count
}

// Hit is how many of the lines were executed.
func (f *File) Hit() (n int) {
	for _, l := range f.Lines {
		if l.Count > 0 {
			n++
		}
	}
	return n
}

// Called is how many of functions were called, or at least executed in part.
func Called(functions []*Function) (n int) {
	for _, f := range functions {
		if f.Executed > 0 {
			n++
		}
	}
	return n
}

// Directions is how many directions of branches were taken; there are two of each.
func Directions(branches []Branch) (n int) {
	for _, b := range branches {
		n += min(int(min(b.Taken, 1)+min(b.Past, 1)), 2)
	}
	return n
}

// WriteLCOV writes the report in the format of lcov's tracefiles (geninfo), which genhtml and others make pages of.
func (r *Report) WriteLCOV(out io.Writer) error {
	w := bufio.NewWriter(out)
	for _, f := range r.Files {
		fmt.Fprintf(w, "TN:\nSF:%s\n", f.Path)
		for _, fn := range f.Functions {
			fmt.Fprintf(w, "FN:%d,%s\n", fn.Line, fn.Name)
		}
		for _, fn := range f.Functions {
			// One that was entered before the trace began was executed without a call.
			fmt.Fprintf(w, "FNDA:%d,%s\n", max(fn.Calls, uint64(min(fn.Executed, 1))), fn.Name)
		}
		fmt.Fprintf(w, "FNF:%d\nFNH:%d\n", len(f.Functions), Called(f.Functions))
		line, block := 0, 0
		for _, b := range f.Branches {
			if b.Line != line {
				line, block = b.Line, 0
			}
			for direction, n := range []uint64{b.Taken, b.Past} {
				count := "-"
				if b.Executed {
					count = fmt.Sprint(n)
				}
				fmt.Fprintf(w, "BRDA:%d,%d,%d,%s\n", b.Line, block, direction, count)
			}
			block++
		}
		if len(f.Branches) > 0 {
			fmt.Fprintf(w, "BRF:%d\nBRH:%d\n", 2*len(f.Branches), Directions(f.Branches))
		}
		for _, l := range f.Lines {
			fmt.Fprintf(w, "DA:%d,%d\n", l.Number, l.Count)
		}
		fmt.Fprintf(w, "LF:%d\nLH:%d\nend_of_record\n", len(f.Lines), f.Hit())
	}
	return w.Flush()
}
