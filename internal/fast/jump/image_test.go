package jump

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

// image is the code of a file, where a program that is run would have it, and what is free around it.
type image struct {
	title      string
	text       []byte
	at         arch.Addr
	functions  []Range
	names      []string // of the functions
	statements []arch.Addr
	pads       Range
	gaps       []Range
	golang     bool
}

// Where Linux puts position-independent programs and libraries, and how far a jump reaches.
const (
	programBase = 0x555555554000
	libraryBase = 0x7ffff7c00000
	reach       = 1 << 31
	padsSize    = 2 << 20
)

// load reads an ELF file.
func load(t testing.TB, title, file string) *image {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section := f.Section(".text")
	text, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	m := &image{title: title, text: text, golang: f.Section(".gopclntab") != nil}
	var bias, end arch.Addr
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			end = max(end, arch.Addr(p.Vaddr+p.Memsz+pageSize-1)&^(pageSize-1))
		}
	}
	const heap = 64 << 20 // behind the program, and other libraries around one
	switch {
	case f.Type == elf.ET_EXEC:
		start := arch.Addr(f.Progs[0].Vaddr) &^ (1<<22 - 1)
		m.gaps = []Range{{1 << 16, start}, {end + heap, start + reach}}
		m.pads = Range{end + heap, end + heap + padsSize}
	case f.Section(".interp") != nil && f.Section(".gnu.version_d") == nil:
		bias = programBase
		m.gaps = []Range{{bias - reach, bias}, {bias + end + heap, bias + end + reach}}
		m.pads = Range{bias - padsSize, bias}
	default:
		bias = libraryBase
		m.gaps = []Range{{bias - reach, bias - heap}}
		m.pads = Range{bias - heap - padsSize, bias - heap}
	}
	m.gaps = slices.DeleteFunc(without(m.gaps, m.pads), func(r Range) bool { return r.Start >= r.End })
	m.at = bias + arch.Addr(section.Addr)
	m.symbols(f, bias)
	m.lines(t, f, bias)
	return m
}

// without takes a range out of others.
func without(ranges []Range, out Range) (rest []Range) {
	for _, r := range ranges {
		if !r.overlaps(out) {
			rest = append(rest, r)
			continue
		}
		rest = append(rest, Range{r.Start, out.Start}, Range{out.End, r.End})
	}
	return rest
}

// symbols fills in the functions: of several at one address the longest, and none that begins in another.
func (m *image) symbols(f *elf.File, bias arch.Addr) {
	symbols, err := f.Symbols()
	if errors.Is(err, elf.ErrNoSymbols) {
		symbols, _ = f.DynamicSymbols()
	}
	slices.SortStableFunc(symbols, func(a, b elf.Symbol) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(b.Size, a.Size))
	})
	end := m.at
	for _, s := range symbols {
		r := Range{bias + arch.Addr(s.Value), bias + arch.Addr(s.Value+s.Size)}
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 && r.Start >= end && r.End <= m.at+arch.Addr(len(m.text)) {
			m.functions, m.names = append(m.functions, r), append(m.names, s.Name)
			end = r.End
		}
	}
}

// lines fills in the statements of the line table, those in functions.
func (m *image) lines(t testing.TB, f *elf.File, bias arch.Addr) {
	t.Helper()
	data, err := f.DWARF()
	if err != nil {
		return // has none
	}
	units := data.Reader()
	for e, err := units.Next(); e != nil && err == nil; e, err = units.Next() {
		units.SkipChildren()
		lines, err := data.LineReader(e)
		if e.Tag != dwarf.TagCompileUnit || err != nil || lines == nil {
			continue
		}
		var entry dwarf.LineEntry
		for lines.Next(&entry) != io.EOF {
			if at := bias + arch.Addr(entry.Address); entry.IsStmt && !entry.EndSequence && m.function(at) >= 0 {
				m.statements = append(m.statements, at)
			}
		}
	}
	slices.Sort(m.statements)
	m.statements = slices.Compact(m.statements)
}

// function returns the index of the function that an address is in, -1 if it is in none.
func (m *image) function(at arch.Addr) int {
	i, found := slices.BinarySearchFunc(m.functions, at, func(f Range, at arch.Addr) int { return cmp.Compare(f.Start, at) })
	if !found {
		i--
	}
	if i < 0 || at >= m.functions[i].End {
		return -1
	}
	return i
}

// bytes returns the code from an address on.
func (m *image) bytes(at arch.Addr) []byte { return m.text[at-m.at:] }

// planner returns a planner to which all functions are known.
func (m *image) planner() *Planner {
	targets := NewTargets(Range{m.at, m.at + arch.Addr(len(m.text))})
	for _, f := range m.functions {
		targets.Sweep(m.bytes(f.Start)[:f.End-f.Start], f.Start)
	}
	return &Planner{
		Targets: targets, Room: NewRoom(m.gaps), Padding: Padding(m.text, m.at, m.functions), Pads: m.pads, Go: m.golang,
	}
}

// site returns the site at an address.
func (m *image) site(at arch.Addr) Site {
	s := Site{Addr: at, Code: m.bytes(at)}
	if i := m.function(at); i >= 0 {
		s.Name = m.names[i]
	}
	return s
}

// entries returns the first instructions of functions, those behind endbr64.
func (m *image) entries() (entries []arch.Addr) {
	for _, f := range m.functions {
		at := f.Start
		if bytes.HasPrefix(m.bytes(at), []byte("\xf3\x0f\x1e\xfa")) {
			at += 4
		}
		if at < f.End {
			entries = append(entries, at)
		}
	}
	return entries
}

// libc is the C library of this machine.
func libc(t testing.TB) *image {
	t.Helper()
	out, err := testtool.Command(t, "gcc", "-print-file-name=libc.so.6").Output()
	if err != nil {
		t.Fatalf("gcc -print-file-name=libc.so.6: %v", err)
	}
	return load(t, "libc.so", strings.TrimSpace(string(out)))
}

// static is a C program with the C library in it.
func static(t testing.TB) *image {
	t.Helper()
	return load(t, "static C", testprog.Build(t, "queue", testprog.Variant{NoPIE: true, Static: true, Optimised: true}).Path)
}

// golang is the command of this module.
func golang(t testing.TB) *image {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tracewell")
	if out, err := exec.Command("go", "build", "-o", file, "tracewell/cmd/tracewell").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return load(t, "Go", file)
}
