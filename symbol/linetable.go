package symbol

import (
	"path"
	"slices"
	"sort"
	"strings"

	"tracewell/arch"
	"tracewell/symbol/debuginfo"
)

// fileTable is where the lines of one source file are in the code of a unit. It holds what GDB keeps of a line program, so that
// locations come out where GDB has them: one table for each file rather than one for the unit, each with marks where the code
// goes on in another file, and without lines that have no code because the file changes there.
type fileTable struct {
	path    string // full
	entries []lineEntry
}

// lineEntry says that the code from an address on is that of a line.
type lineEntry struct {
	addr      arch.Addr
	line      int // 0: the code that follows is not of this file
	statement bool
	body      bool // the compiler says that the function's prologue ends here
}

// tabulator makes the tables of a unit out of the rows of its line program.
type tabulator struct {
	tables map[string]*fileTable
	order  []*fileTable

	last          *fileTable // that the last row went into, nil at the beginning of a sequence
	lastLine      int
	discriminated bool // a row on the line of the last one has a discriminator
	at            arch.Addr
	stated        bool // a row at that address begins a statement
}

// tabulate makes the tables of a unit. The files that the line program lists come first and in its order, also those without
// lines: GDB searches them in that order.
func tabulate(lines *debuginfo.LineTable) []*fileTable {
	t := &tabulator{tables: map[string]*fileTable{}}
	for _, file := range lines.Files {
		t.table(file)
	}
	for _, row := range lines.Rows {
		t.add(row, t.table(lines.Path(row)))
	}
	for _, table := range t.order {
		slices.SortStableFunc(table.entries, byPlace)
	}
	return t.order
}

// table returns the table of a file, a new one at its first use.
func (t *tabulator) table(file string) *fileTable {
	table := t.tables[file]
	if table == nil {
		table = &fileTable{path: file}
		t.tables[file] = table
		t.order = append(t.order, table)
	}
	return table
}

// byPlace sorts a mark before what begins at the same address.
func byPlace(a, b lineEntry) int {
	switch {
	case a.addr < b.addr:
		return -1
	case a.addr > b.addr:
		return 1
	case (a.line == 0) == (b.line == 0):
		return 0
	case a.line == 0:
		return -1
	}
	return 1
}

// add adds a row to the table of its file. The rules are those of GDB's buildsym and of its reader of line programs, as they show
// in "maint info line-table"; any other choice would move some location.
func (t *tabulator) add(row debuginfo.Row, table *fileTable) {
	line, end := int(row.Line), row.EndSequence()
	if line != t.lastLine {
		t.discriminated = false
	}
	t.discriminated = t.discriminated || row.Discriminator != 0
	// A row that only continues the statement of another file at the same address is left out; the compiler writes such for inlined
	// code, and GDB drops them.
	changed := t.last != table
	ignored := !end && (line == 0 || changed && t.at == row.Addr && !row.IsStmt() && t.stated)
	// The file before this one has no code from here on, until another row of it.
	if t.last != nil && (end || changed && !ignored) {
		t.last.mark(row.Addr)
	}
	// A line that is told again adds nothing, but for one in parts that discriminators tell apart.
	if !end && !ignored && (changed || line != t.lastLine || !t.discriminated) {
		table.entries = append(table.entries, lineEntry{row.Addr, line, row.IsStmt(), row.PrologueEnd()})
		t.last, t.lastLine = table, line
	}
	if t.at != row.Addr {
		t.at, t.stated = row.Addr, false
	}
	t.stated = t.stated || row.IsStmt()
	// The end of a sequence is the end of a piece of code: what follows may be anywhere.
	if end {
		t.last, t.lastLine, t.discriminated, t.at, t.stated = nil, 0, false, 0, false
	}
}

// mark says that the code is not of this file from an address on. Lines that would have begun there have no code.
func (t *fileTable) mark(addr arch.Addr) {
	// Several rows at one address: only the last has code, and if that is of another file, none of these has.
	n := len(t.entries)
	for n > 0 && t.entries[n-1].addr == addr {
		n--
	}
	t.entries = t.entries[:n]
	if n > 0 && t.entries[n-1].line != 0 {
		t.entries = append(t.entries, lineEntry{addr: addr})
	}
}

// exact returns where statements of a line begin. If there are none it returns the next line that has some, 0 for none.
func (t *fileTable) exact(line int) (places []arch.Addr, next int) {
	for _, e := range t.entries {
		switch {
		case !e.statement:
		case e.line == line:
			places = append(places, e.addr)
		case e.line > line && (next == 0 || e.line < next):
			next = e.line
		}
	}
	return places, next
}

// span is a stretch of code of one line. The zero Table means that no line is known.
type span struct {
	begin, end arch.Addr
	table      *fileTable
	line       int
}

// spanAt finds the line of the code at pc among the tables of a unit whose code ends at limit.
func spanAt(tables []*fileTable, pc, limit arch.Addr) span {
	var best *lineEntry
	var found *fileTable
	var end, beyond arch.Addr // where the next entry of any file is; the first entry of files that begin behind pc
	// Each file is searched by itself, and the entry nearest in front of pc wins. Its stretch ends at the next entry of any file.
	for _, t := range tables {
		if len(t.entries) == 0 {
			continue
		}
		if first := t.entries[0].addr; first > pc && (beyond == 0 || first < beyond) {
			beyond = first
		}
		next := sort.Search(len(t.entries), func(i int) bool { return t.entries[i].addr > pc })
		if e := t.statementAt(next - 1); e != nil && e.line != 0 && (best == nil || e.addr > best.addr) {
			best, found = e, t
			if end <= best.addr {
				end = 0
			}
		}
		if best != nil && next < len(t.entries) && t.entries[next].addr > best.addr && (end == 0 || t.entries[next].addr < end) {
			end = t.entries[next].addr
		}
	}
	switch {
	case best == nil:
		return span{begin: pc}
	// No entry follows in the files seen so far; one that begins behind pc bounds the stretch, or else the end of the unit.
	case end == 0 || beyond != 0 && beyond <= end:
		end = beyond
	}
	if end == 0 {
		end = limit
	}
	return span{best.addr, end, found, best.line}
}

// statementAt returns entry i, or the one at the same address that begins a statement.
func (t *fileTable) statementAt(i int) *lineEntry {
	if i < 0 {
		return nil
	}
	// Of several rows at one address GDB prefers one that begins a statement, which is where a breakpoint can stand.
	for j := i; j >= 0 && t.entries[j].addr == t.entries[i].addr && t.entries[j].line != 0; j-- {
		if t.entries[j].statement {
			return &t.entries[j]
		}
	}
	return &t.entries[i]
}

// given is a full path as the compiler was given it: a relative one where the unit's is relative to where the compiler ran.
func given(full string, u *debuginfo.Unit) string {
	if !path.IsAbs(u.Name) && u.CompDir != "" {
		if rest, ok := strings.CutPrefix(full, path.Clean(u.CompDir)+"/"); ok {
			return rest
		}
	}
	return full
}
