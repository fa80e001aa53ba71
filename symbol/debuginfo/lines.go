package debuginfo

import (
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

// IsStmt, EndSequence and PrologueEnd are what locations ask for.
func (r Row) IsStmt() bool { return r.Flags&IsStmt != 0 }

// EndSequence reports whether the row only ends a sequence.
func (r Row) EndSequence() bool { return r.Flags&EndSequence != 0 }

// PrologueEnd reports whether the row is where a breakpoint at the function goes.
func (r Row) PrologueEnd() bool { return r.Flags&PrologueEnd != 0 }

// Lines are the lines of the unit; empty when there are none. The table is kept.
func (u *Unit) Lines() *LineTable { return u.lines() }

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

// order puts sequences in the order of their addresses and drops those of code that is not there.
func (t *LineTable) order(f *File, sequences [][]Row) *LineTable {
	total := 0
	sequences = slices.DeleteFunc(sequences, func(s []Row) bool { return !f.isCode(s[0].Addr) })
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

func byAddress(a, b Row) int {
	switch {
	case a.Addr < b.Addr:
		return -1
	case a.Addr > b.Addr:
		return 1
	}
	return 0
}

// At is the row that an address belongs to: the last one at or before it in its sequence. Of several at one address it is the last.
func (t *LineTable) At(pc arch.Addr) (Row, bool) {
	i := sort.Search(len(t.Rows), func(i int) bool { return t.Rows[i].Addr > pc })
	if i == 0 || t.Rows[i-1].EndSequence() {
		return Row{}, false
	}
	return t.Rows[i-1], true
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

// SamePath reports whether a file name that a user gives means the file at a path: it is the path, or its last parts.
func SamePath(wanted, full string) bool {
	wanted = path.Clean(wanted)
	if wanted == full {
		return true
	}
	n := len(full) - len(wanted)
	return n > 0 && full[n:] == wanted && full[n-1] == '/'
}
