package parting

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tracewell/arch/flow"
	"tracewell/itrace/program"
)

// Side is one of the two versions.
type Side struct {
	Program *program.Program
	// Line is the line of the source at an address; nil compares no lines.
	Line func(pc uint64) (path string, line int, ok bool)
	// Source are the lines of a file of the source; nil if it is not there.
	Source func(path string) []string
}

// text is a line of the source without what stands around it, "" if it is not known.
func (s *Side) text(path string, line int) string {
	if s.Source == nil {
		return ""
	}
	if lines := s.Source(path); line > 0 && line <= len(lines) {
		return strings.TrimSpace(lines[line-1])
	}
	return ""
}

// place is a line of one version's source. Folders are left out: each version is built in its own.
type place struct {
	side int // 1 for all lines that the other version has, too
	file string
	line int
}

// common gives what both versions have common numbers: functions by names, lines by their places.
type common struct {
	sides    [2]Side
	renamed  map[string]string // functions of the reference
	names    []string
	function map[string]int32
	line     map[place]int32
	loop     map[string]int32
	pairs    map[int]map[place]place // of the lines of functions of the reference, those of the other version
}

func newCommon(sides [2]Side, renamed map[string]string) *common {
	return &common{sides: sides, renamed: renamed, function: make(map[string]int32), line: make(map[place]int32),
		loop: make(map[string]int32), pairs: make(map[int]map[place]place)}
}

// nameOf is the name that a function of a version has in the other one.
func (c *common) nameOf(side int, name string) string {
	if side == 0 {
		return cmp.Or(c.renamed[name], name)
	}
	return name
}

// functionID is the number of a function by the name that it has in the other version.
func (c *common) functionID(side int, name string) int32 {
	name = c.nameOf(side, name)
	id, known := c.function[name]
	if !known {
		id = int32(len(c.names))
		c.function[name], c.names = id, append(c.names, name)
	}
	return id
}

// noLine is the number of code without a line.
const noLine = -1

// lineID is the number of the line at an address.
func (c *common) lineID(side int, pc uint64) int32 {
	s := &c.sides[side]
	if s.Line == nil {
		return noLine
	}
	path, line, ok := s.Line(pc)
	if !ok {
		return noLine
	}
	at := place{side, filepath.Base(path), line}
	if side == 0 {
		if n := s.Program.At(pc); n >= 0 {
			if other, ok := c.paired(n)[at]; ok {
				at = other
			}
		}
	}
	id, known := c.line[at]
	if !known {
		id = int32(len(c.line))
		c.line[at] = id
	}
	return id
}

// loopID is the number of a loop by the lines of its body.
func (c *common) loopID(body []byte) int32 {
	id, known := c.loop[string(body)]
	if !known {
		id = int32(len(c.loop))
		c.loop[string(body)] = id
	}
	return id
}

// coded is a line that has code in a function.
type coded struct {
	place
	path    string
	size    int    // bytes
	callees string // names of the functions that it calls, each behind a blank
	text    string // of the source, if it is there
}

// linesOf are the lines of a function by file and line, and the one where it begins.
func (c *common) linesOf(side int, f program.Function) (lines []coded, begin coded) {
	s := &c.sides[side]
	all := make(map[place]coded)
	code := s.Program.Code(f.Begin)
	for n := uint64(0); n < min(f.End-f.Begin, maxCode); {
		pc, size, callee := f.Begin+n, 1, ""
		if n < uint64(len(code)) {
			does := s.Program.Set.Decode(code[n:], pc)
			size = max(size, int(does.Len))
			if to := s.Program.At(does.Target); does.Kind == flow.Call && does.Direct && to >= 0 {
				callee = " " + c.nameOf(side, s.Program.Functions[to].Name)
			}
		}
		if path, line, ok := s.Line(pc); ok {
			at := place{side, filepath.Base(path), line}
			l := all[at]
			all[at] = coded{place: at, path: path, size: l.size + size, callees: l.callees + callee}
			if n == 0 {
				begin = all[at]
			}
		}
		n += uint64(size)
	}
	lines = slices.SortedFunc(maps.Values(all), func(a, b coded) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	return lines, begin
}

const (
	maxCode  = 1 << 20 // bytes of a function whose lines are looked at
	maxTable = 1 << 22 // cells of a table of subsequences
)

// paired are the lines of a function of the reference with those of the other version that correspond to them.
func (c *common) paired(function int) map[place]place {
	pairs, known := c.pairs[function]
	if known {
		return pairs
	}
	pairs = make(map[place]place)
	c.pairs[function] = pairs
	name := c.nameOf(0, c.sides[0].Program.Functions[function].Name)
	other := slices.IndexFunc(c.sides[1].Program.Functions, func(f program.Function) bool { return f.Name == name })
	if other < 0 || c.sides[1].Line == nil {
		return pairs
	}
	a, beginA := c.linesOf(0, c.sides[0].Program.Functions[function])
	b, beginB := c.linesOf(1, c.sides[1].Program.Functions[other])
	// Where both versions were built in one place, the source there is that of one of them.
	if beginA.path != beginB.path {
		c.sides[0].read(a)
		c.sides[1].read(b)
	}
	// By the distance from the beginning of the function; those of other files, which were inlined, by their number.
	there, alike := make(map[place]coded), 0
	for _, l := range b {
		there[l.place] = l
	}
	for _, l := range a {
		at := place{1, l.file, l.line}
		if l.file == beginA.file {
			at.file, at.line = beginB.file, at.line+beginB.line-beginA.line
		}
		if other, ok := there[at]; ok {
			pairs[l.place] = at
			if l.sameCode(other) {
				alike++
			}
		}
	}
	if alike == len(a) && alike == len(b) || len(a)*len(b) > maxTable {
		return pairs
	}
	// Where more lines have the same code at other distances, lines were inserted or removed. Optimized differently, few have.
	sequence := longest(len(a), len(b), func(i, j int) int { return similar(a[i], b[j], beginA.file, beginB.file) })
	same := 0
	for _, p := range sequence {
		if a[p[0]].sameCode(b[p[1]]) {
			same++
		}
	}
	if same <= alike || 2*same < min(len(a), len(b)) {
		return pairs
	}
	clear(pairs)
	for _, p := range sequence {
		pairs[a[p[0]].place] = b[p[1]].place
	}
	return pairs
}

// read finds the text of lines.
func (s *Side) read(lines []coded) {
	for i := range lines {
		lines[i].text = s.text(lines[i].path, lines[i].line)
	}
}

// sameCode reports whether two lines have the same text, or where that is not known seem to have the same code.
func (l coded) sameCode(other coded) bool {
	if l.text != "" && other.text != "" {
		return l.text == other.text
	}
	return l.size == other.size && l.callees == other.callees
}

// similar is how well two lines correspond, 0 for not at all. The size of unchanged code may differ a little, as where an address
// takes an instruction less; what it calls does not.
func similar(a, b coded, fileA, fileB string) int {
	const same, calls, most = 16, 8, 6
	if a.file != b.file && (a.file != fileA || b.file != fileB) {
		return 0
	}
	if a.sameCode(b) {
		return same
	}
	n := 1 + (most-1)*min(a.size, b.size)/max(a.size, b.size)
	if a.callees == b.callees && a.callees != "" {
		n += calls
	}
	return n
}

// longest are the pairs of a common subsequence with the greatest weight, in order; weight is 0 for two elements that differ. Of
// several the one whose pairs come first.
func longest(n, m int, weight func(i, j int) int) (pairs [][2]int) {
	best := make([]int32, (n+1)*(m+1)) // from i and j on
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			most := max(best[(i+1)*(m+1)+j], best[i*(m+1)+j+1])
			if w := weight(i, j); w > 0 {
				most = max(most, best[(i+1)*(m+1)+j+1]+int32(w))
			}
			best[i*(m+1)+j] = most
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		here, w := best[i*(m+1)+j], weight(i, j)
		switch {
		case w > 0 && here == best[(i+1)*(m+1)+j+1]+int32(w):
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case here == best[(i+1)*(m+1)+j]:
			i++
		default:
			j++
		}
	}
	return pairs
}
