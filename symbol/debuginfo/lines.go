package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"maps"
	"path"
	"slices"
	"sort"

	"tracewell/arch"
)

// LineTable is what the line number program of a unit says.
type LineTable struct {
	Files []string // full paths where the compiler's folder is known, cleaned; a Row has the index of its own
	Rows  []Row    // by address; a sequence of code, up to its EndSequence, in one piece
}

// Row says that a statement, or part of one, begins at an address.
type Row struct {
	Addr          arch.Addr
	File          uint32 // index in Files
	Line          uint32 // from 1; 0 for code of no line
	Column        uint32 // from 1; 0 when it is not known
	Discriminator uint32 // tells apart parts of a line
	Flags         RowFlags
}

// RowFlags are further facts of a row.
type RowFlags uint8

// The facts.
const (
	IsStmt        RowFlags = 1 << iota // a good place to stop
	BasicBlock                         // a basic block begins
	EndSequence                        // no code: the address behind a sequence
	PrologueEnd                        // where to stop for the beginning of a function
	EpilogueBegin                      // where to stop for its end
)

// IsStmt reports whether the row is a good place to stop.
func (r Row) IsStmt() bool { return r.Flags&IsStmt != 0 }

// EndSequence reports whether the row only ends a sequence.
func (r Row) EndSequence() bool { return r.Flags&EndSequence != 0 }

// PrologueEnd reports whether the row is where a breakpoint at the function goes.
func (r Row) PrologueEnd() bool { return r.Flags&PrologueEnd != 0 }

// Lines are the lines of the unit; empty when there are none. The table is kept.
func (u *Unit) Lines() *LineTable { return u.lines() }

// readLines executes the unit's line number program and cuts the rows into sequences.
func (u *Unit) readLines() *LineTable {
	p := u.lineProgram()
	if p == nil {
		return &LineTable{}
	}
	t := &LineTable{Files: p.paths()}
	var sequences [][]Row
	begin := 0
	p.run(func(r Row) bool {
		t.Rows = append(t.Rows, r)
		if r.EndSequence() {
			sequences = append(sequences, t.Rows[begin:len(t.Rows):len(t.Rows)])
			begin = len(t.Rows)
		}
		return true
	})
	return t.order(u.space.file, sequences)
}

// order puts sequences in the order of their addresses and drops those of code that the linker discarded, whose addresses would
// otherwise lie among those of other code. Rows of one address keep their order: the last one counts (At). Addresses within a
// sequence only grow, by the standard; assemblers and damaged files do not always keep to it, hence the sorting.
func (t *LineTable) order(f *File, sequences [][]Row) *LineTable {
	total := 0
	sequences = slices.DeleteFunc(sequences, func(s []Row) bool { return !f.HasCode(s[0].Addr) })
	for _, s := range sequences {
		total += len(s)
		slices.SortStableFunc(s, byAddress)
	}
	slices.SortStableFunc(sequences, func(a, b []Row) int { return byAddress(a[0], b[0]) })
	t.Rows = make([]Row, 0, total)
	for _, s := range sequences {
		t.Rows = append(t.Rows, s...)
	}
	return t
}

func byAddress(a, b Row) int { return cmp.Compare(a.Addr, b.Addr) }

// At is the row that an address belongs to: the last one at or before it in its sequence. Of several at one address the last that
// is a good place to stop is preferred, as GDB does.
func (t *LineTable) At(pc arch.Addr) (Row, bool) {
	i := sort.Search(len(t.Rows), func(i int) bool { return t.Rows[i].Addr > pc }) - 1
	if i < 0 || t.Rows[i].EndSequence() {
		return Row{}, false
	}
	for k := i; k >= 0 && t.Rows[k].Addr == t.Rows[i].Addr && !t.Rows[k].EndSequence(); k-- {
		if t.Rows[k].IsStmt() {
			return t.Rows[k], true
		}
	}
	return t.Rows[i], true
}

// Path is the file of a row, empty when the row names one that there is not.
func (t *LineTable) Path(r Row) string {
	if int(r.File) >= len(t.Files) {
		return ""
	}
	return t.Files[r.File]
}

// Line is a row of some unit.
type Line struct {
	Row
	Unit *Unit
	Path string
}

// LineAt is the line that an address belongs to.
func (f *File) LineAt(pc arch.Addr) (Line, bool) {
	u := f.UnitAt(pc)
	if u == nil {
		return Line{}, false
	}
	t := u.Lines()
	row, ok := t.At(pc)
	return Line{row, u, t.Path(row)}, ok
}

// LinesOf finds the code of a line in all units. The file is given by its path or by the last parts of it; where the line itself
// has no code anywhere, the next one that has stands for it, as in GDB. Only good places to stop count.
func (f *File) LinesOf(file string, line int) []Line {
	programs := f.linePrograms()
	found := make([][]Line, len(programs))
	each(len(programs), func(i int) { found[i] = f.linesIn(programs[i], file, uint32(max(line, 0))) })
	var best []Line
	for _, lines := range found {
		switch {
		case len(lines) == 0 || len(best) > 0 && lines[0].Line > best[0].Line:
		case len(best) > 0 && lines[0].Line == best[0].Line:
			best = append(best, lines...)
		default:
			best = lines
		}
	}
	return best
}

// linePrograms are the units that have line numbers, one for each program: types and partial units share those of others.
func (f *File) linePrograms() []*Unit {
	type place struct {
		image *image
		at    uint64
	}
	seen := map[place]bool{}
	var all []*Unit
	for _, u := range f.units {
		from := u.linked()
		key := place{from.space.image, from.linesAt}
		if shared := u.isType() || u.Tag == dwarf.TagPartialUnit; from.hasLines && !shared && !seen[key] {
			seen[key] = true
			all = append(all, u)
		}
	}
	return all
}

// linesIn finds the rows of a line, or else of the next line that has any, in one unit.
func (f *File) linesIn(u *Unit, file string, line uint32) []Line {
	p := u.lineProgram()
	if p == nil {
		return nil
	}
	paths := p.matching(file)
	if len(paths) == 0 {
		return nil
	}
	var best, sequence []Line
	p.run(func(r Row) bool {
		full, wanted := paths[r.File]
		if wanted && r.IsStmt() && !r.EndSequence() && r.Line >= line {
			sequence = append(sequence, Line{r, u, full})
		}
		if r.EndSequence() {
			best = closest(best, sequence, f.HasCode)
			sequence = sequence[:0]
		}
		return true
	})
	slices.SortStableFunc(best, func(a, b Line) int { return byAddress(a.Row, b.Row) })
	return best
}

// closest adds to the best rows those of a sequence that are on the same line, or replaces the former if these are on an earlier
// one.
func closest(best, sequence []Line, isCode func(arch.Addr) bool) []Line {
	for _, l := range sequence {
		switch {
		case !isCode(l.Addr) || len(best) > 0 && l.Line > best[0].Line:
		case len(best) > 0 && l.Line == best[0].Line:
			best = append(best, l)
		default:
			best = append(best[:0], l)
		}
	}
	return best
}

// SourceFiles are the paths of all files that line numbers speak of, each once, in no order.
func (f *File) SourceFiles() []string {
	seen := map[string]bool{}
	for _, u := range f.linePrograms() {
		if p := u.lineProgram(); p != nil {
			for i := range p.files {
				seen[p.path(i)] = true
			}
		}
	}
	return slices.Collect(maps.Keys(seen))
}

// SamePath reports whether a file name that a user gives means the file at a path: it is the path, or its last parts.
func SamePath(wanted, full string) bool {
	wanted = path.Clean(wanted)
	if wanted == full {
		return true
	}
	n := len(full) - len(wanted)
	return n > 0 && full[n:] == wanted && full[n-1] == '/'
}
