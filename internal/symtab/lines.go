package symtab

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"

	"tracewell/arch"
)

// Line is a line of a program's source.
type Line struct {
	File   string // as the compiler was given it, without "." and ".." where they can be done without
	Number int    // from 1
}

// lineTable is what the DWARF of a program says of its lines. It is read compilation unit by compilation unit, as addresses
// are asked for: a big program has more of it than anybody waits for.
type lineTable struct {
	file *elf.File

	mu     sync.Mutex
	data   *dwarf.Data // nil before the first question, and if there is none
	opened bool
	units  []*unit
	absent map[arch.Addr]bool // addresses that lie in no unit; at most absentLimit
}

// absentLimit bounds what is remembered of addresses outside the program, of which there is no end.
const absentLimit = 1 << 12

// unit is the line table of a compilation unit.
type unit struct {
	ranges [][2]uint64
	rows   []row // by address
}

// row is a step of a line table: from addr on, up to that of the next row, the code is that of the line.
type row struct {
	addr      arch.Addr
	file      *dwarf.LineFile
	line      int
	statement bool // where a debugger puts a breakpoint for the line
	end       bool // there is no code from here to the next row
}

// Line returns the source line of the code at addr, and false if the program has no debug information about it.
func (t *Table) Line(addr arch.Addr) (Line, bool) {
	if t.lines == nil {
		return Line{}, false
	}
	t.lines.mu.Lock()
	defer t.lines.mu.Unlock()
	u := t.lines.unitOf(addr - t.bias)
	if u == nil {
		return Line{}, false
	}
	r, ok := u.at(addr - t.bias)
	if !ok || r.line == 0 || r.file == nil {
		return Line{}, false
	}
	return Line{path.Clean(r.file.Name), r.line}, true
}

// open reads what all units share, once.
func (l *lineTable) open() *dwarf.Data {
	if !l.opened {
		l.opened = true
		if data, err := l.file.DWARF(); err == nil {
			l.data = data
		}
	}
	return l.data
}

// unitOf returns the unit that addr lies in, nil if there is none.
func (l *lineTable) unitOf(addr arch.Addr) *unit {
	for _, u := range l.units {
		if u.holds(addr) {
			return u
		}
	}
	data := l.open()
	if data == nil || l.absent[addr] {
		return nil
	}
	entry, err := data.Reader().SeekPC(uint64(addr))
	if err != nil {
		l.missed(addr)
		return nil
	}
	ranges, err := data.Ranges(entry)
	if err != nil {
		return nil
	}
	u := &unit{ranges: ranges}
	if reader, err := data.LineReader(entry); err == nil && reader != nil {
		u.rows = readRows(reader)
	}
	l.units = append(l.units, u)
	return u
}

// missed remembers an address that lies in no unit.
func (l *lineTable) missed(addr arch.Addr) {
	if l.absent == nil {
		l.absent = make(map[arch.Addr]bool)
	}
	if len(l.absent) < absentLimit {
		l.absent[addr] = true
	}
}

func (u *unit) holds(addr arch.Addr) bool {
	return slices.ContainsFunc(u.ranges, func(r [2]uint64) bool { return r[0] <= uint64(addr) && uint64(addr) < r[1] })
}

// readRows reads a line table. One that is damaged has the rows before the damage.
func readRows(reader *dwarf.LineReader) []row {
	var rows []row
	var entry dwarf.LineEntry
	for {
		if err := reader.Next(&entry); err != nil {
			break // io.EOF at the end
		}
		rows = append(rows, row{arch.Addr(entry.Address), entry.File, entry.Line, entry.IsStmt, entry.EndSequence})
	}
	// Where one sequence ends and another begins there is code.
	slices.SortStableFunc(rows, func(a, b row) int {
		if a.addr != b.addr {
			return cmp.Compare(a.addr, b.addr)
		}
		return rank(a) - rank(b)
	})
	return rows
}

func rank(r row) int {
	if r.end {
		return 0
	}
	return 1
}

// at returns the row of addr. Of several at one address the last counts, as the others have no code, and of these the last
// that begins a statement if any does.
func (u *unit) at(addr arch.Addr) (row, bool) {
	behind := sort.Search(len(u.rows), func(i int) bool { return u.rows[i].addr > addr })
	if behind == 0 || u.rows[behind-1].end {
		return row{}, false
	}
	best := u.rows[behind-1]
	for i := behind - 1; i >= 0 && u.rows[i].addr == best.addr && !u.rows[i].end; i-- {
		if u.rows[i].statement {
			return u.rows[i], true
		}
	}
	return best, true
}

// Statements returns where the code of a line begins, without order: the places to which a breakpoint for FILE:LINE may go.
// There is more than one if the code is inlined or was taken apart. For a line without code it is the next that has some. The
// file may be given by the end of its path. Without debug information, or if no file has the name, it is empty.
func (t *Table) Statements(file string, line int) []arch.Addr {
	if t.lines == nil {
		return nil
	}
	t.lines.mu.Lock()
	defer t.lines.mu.Unlock()
	var found []arch.Addr
	nearest := 0
	for _, r := range t.lines.rowsOf(file) {
		switch {
		case r.line < line || nearest > 0 && r.line > nearest:
			continue
		case r.line < nearest || nearest == 0:
			nearest, found = r.line, nil
		}
		found = append(found, r.addr+t.bias)
	}
	return found
}

// mostEmpty bounds the empty entries in a row. Damaged information makes a dwarf.Reader give one again and again.
const mostEmpty = 1 << 12

// rowsOf returns the statements of a source file, of several in a row on one line the first.
func (l *lineTable) rowsOf(file string) []row {
	data := l.open()
	if data == nil {
		return nil
	}
	var found []row
	units := data.Reader()
	for empty := 0; empty < mostEmpty; units.SkipChildren() {
		entry, err := units.Next()
		if entry == nil || err != nil {
			break
		}
		if empty++; entry.Tag != 0 {
			empty = 0
		}
		reader, err := data.LineReader(entry)
		if reader == nil || err != nil {
			continue
		}
		names := func(f *dwarf.LineFile) bool { return f != nil && endsInPath(f.Name, file) }
		if !slices.ContainsFunc(reader.Files(), names) {
			continue
		}
		previous := row{end: true}
		for _, r := range readRows(reader) {
			if r.statement && !r.end && names(r.file) && (r.line != previous.line || previous.end) {
				found = append(found, r)
			}
			previous = r
		}
	}
	return found
}

// endsInPath reports whether a path ends in the components of another.
func endsInPath(whole, end string) bool {
	whole, end = path.Clean(whole), path.Clean(end)
	return whole == end || strings.HasSuffix(whole, "/"+end)
}
