package symbol

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/internal/demo"
	"tracewell/internal/test/gdbtest"
	"tracewell/symbol/debuginfo"
)

// queues are compiled from one source: without optimisation, and with it so that lines are taken apart.
var queues = []string{"../tfile/testdata/queue", "../tfile/testdata/queue_pie"}

func openProgram(t testing.TB, path string) *Program {
	t.Helper()
	p, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func openBytes(t testing.TB, content []byte) *Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return openProgram(t, path)
}

func TestDescribe(t *testing.T) {
	p := openBytes(t, demo.Program())
	handle, err := demo.Lookup(demo.Handle)
	if err != nil {
		t.Fatal(err)
	}
	queue, err := demo.Lookup(demo.Queue)
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[arch.Addr]string{
		handle.Addr:      "handle",
		handle.Addr + 10: "handle+10",
		queue.Addr + 24:  "queue+24",
		0:                "",
		1 << 60:          "",
	} {
		if got := p.Describe(addr); got != want {
			t.Errorf("Describe(%v) = %q, want %q", addr, got, want)
		}
	}
	if p.Main().Relocatable() {
		t.Error("the demo program is at a fixed address")
	}
	p.Rebase(0x1000)
	if got := p.Describe(handle.Addr + 0x1001); got != "handle+1" {
		t.Errorf("moved by a page: %q", got)
	}
	if s, ok := p.Symbol("handle"); !ok || s.Addr != handle.Addr+0x1000 || s.Size != handle.Size || !s.Function {
		t.Errorf("moved by a page: Symbol gives %+v, %v", s, ok)
	}
}

// TestChoice: of several symbols around an address one is right.
func TestChoice(t *testing.T) {
	function := func(name string, addr arch.Addr, size uint64) debuginfo.Symbol {
		return debuginfo.Symbol{Name: name, Addr: addr, Size: size, Kind: debuginfo.SymbolFunction}
	}
	global := func(s debuginfo.Symbol, kind debuginfo.SymbolKind) debuginfo.Symbol {
		s.Global, s.Kind = true, kind
		return s
	}
	symbols := elfSymbols{all: []debuginfo.Symbol{
		function("alias", 0x100, 16),
		global(function("object", 0x100, 16), debuginfo.SymbolObject),
		global(function("function", 0x100, 16), debuginfo.SymbolFunction),
		global(function("label", 0x100, 16), debuginfo.SymbolLabel),
		global(function("outer", 0x200, 0x100), debuginfo.SymbolFunction),
		function("inner", 0x210, 8),
		function("assembly", 0x400, 0),
		global(function("empty", 0x700, 0), debuginfo.SymbolObject),
	}}
	for addr, want := range map[arch.Addr]string{
		0x100: "function+0", 0x110: "", 0x212: "inner+2", 0x220: "outer+32", 0x300: "", 0x450: "assembly+80", 0x700: "empty+0", 0x701: "",
	} {
		got := ""
		if s, offset, ok := symbols.covering(addr); ok {
			got = fmt.Sprintf("%s+%d", s.Name, offset)
		}
		if got != want {
			t.Errorf("%v is in %q, want %q", addr, got, want)
		}
	}
}

// TestStripped hides the symbol table and the debug information of a program.
func TestStripped(t *testing.T) {
	program := demo.Program()
	file, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	const headerSize, typeOffset = 64, 4
	table := int(file.ByteOrder.Uint64(program[0x28:])) // e_shoff
	for i, section := range file.Sections {
		if section.Type == elf.SHT_SYMTAB || strings.HasPrefix(section.Name, ".debug_") {
			program[table+i*headerSize] = 0 // no name
			file.ByteOrder.PutUint32(program[table+i*headerSize+typeOffset:], uint32(elf.SHT_NULL))
		}
	}
	p := openBytes(t, program)
	handle, err := demo.Lookup(demo.Handle)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Describe(handle.Addr); got != "" {
		t.Errorf("without symbols an address is %q", got)
	}
	if _, ok := p.Line(handle.Addr); ok || p.Statements("demo.c", 72) != nil || p.Globals() != nil {
		t.Error("there is debug information in none")
	}
}

// onLine is what GDB says of an address that has a line.
var onLine = regexp.MustCompile(`^Line (\d+) of "([^"]+)"`)

// TestLinesOfGDB asks GDB about each byte of each function.
func TestLinesOfGDB(t *testing.T) {
	for _, program := range queues {
		p := openProgram(t, program)
		var addrs []arch.Addr
		var script strings.Builder
		for _, name := range []string{"push", "pop", "work", "main", "_start"} {
			s, ok := p.Symbol(name)
			if !ok {
				t.Fatalf("no function %s", name)
			}
			for addr := s.Addr; addr < s.Addr+arch.Addr(s.Size); addr++ {
				addrs = append(addrs, addr)
				fmt.Fprintf(&script, "-- %v --\ninfo line *%v\n", addr, addr)
			}
		}
		output := gdbtest.Run(t, program, script.String())
		for _, addr := range addrs {
			want := ""
			if m := onLine.FindStringSubmatch(output.Section(t, addr.String())); m != nil {
				want = path.Clean(m[2]) + ":" + m[1]
			}
			got := ""
			if line, ok := p.Line(addr); ok {
				got = fmt.Sprintf("%s:%d", line.File, line.Number)
			}
			if got != want {
				t.Errorf("%s: %v is on %s, GDB has %s", program, addr, got, want)
			}
		}
	}
}

// TestStatements looks up lines whose places GDB knows, too.
func TestStatements(t *testing.T) {
	p := openProgram(t, queues[0])
	work, _ := p.Symbol("work")
	for _, test := range []struct {
		file string
		line int
		want string // the functions of the places
	}{
		{"queue.c", 23, "[push+95]"},
		{"./queue.c", 40, "[work+7]"},
		{"queue.c", 38, "[work]"}, // the next line that has code
		{"queue.c", 999, "[]"},
		{"ueue.c", 23, "[]"},
		{"other/queue.c", 23, "[]"},
	} {
		places := []string{}
		for _, addr := range p.Statements(test.file, test.line) {
			places = append(places, p.Describe(addr))
		}
		if got := fmt.Sprint(places); got != test.want {
			t.Errorf("%s:%d is at %s, want %s", test.file, test.line, got, test.want)
		}
	}
	p.Rebase(0x1000)
	if diff := cmp.Diff([]arch.Addr{work.Addr + 0x1000}, p.Statements("queue.c", 39)); diff != "" {
		t.Errorf("moved by a page (-want +got):\n%s", diff)
	}
	if line, ok := p.Line(work.Addr + 0x1000); !ok || line != (Line{"queue.c", 39}) {
		t.Errorf("moved by a page: %v, %v", line, ok)
	}
}

// TestNoLines: outside of the program there are none.
func TestNoLines(t *testing.T) {
	p := openProgram(t, queues[0])
	for addr := range arch.Addr(1 << 13) {
		if line, ok := p.Line(addr); ok {
			t.Fatalf("%v is on line %v", addr, line)
		}
	}
}

// TestTwice: LLVM marks a prologue without instructions by two lines at the beginning of a function.
func TestTwice(t *testing.T) {
	entries := func(e ...lineEntry) *fileTable { return &fileTable{entries: e} }
	for name, test := range map[string]struct {
		table *fileTable
		want  bool
	}{
		"two lines":          {entries(lineEntry{addr: 0x10, line: 1}, lineEntry{addr: 0x10, line: 2}), true},
		"behind another":     {entries(lineEntry{addr: 0x8, line: 9}, lineEntry{addr: 0x10, line: 1}, lineEntry{addr: 0x10, line: 2}), true},
		"one line":           {entries(lineEntry{addr: 0x10, line: 1}, lineEntry{addr: 0x14, line: 2}), false},
		"the last":           {entries(lineEntry{addr: 0x10, line: 1}), false},
		"a mark":             {entries(lineEntry{addr: 0x10, line: 1}, lineEntry{addr: 0x10}), false},
		"a mark, then lines": {entries(lineEntry{addr: 0x10}, lineEntry{addr: 0x10, line: 1}, lineEntry{addr: 0x10, line: 2}), true},
		"elsewhere":          {entries(lineEntry{addr: 0x20, line: 1}, lineEntry{addr: 0x20, line: 2}), false},
		"empty":              {entries(), false},
	} {
		if got := twice(test.table, 0x10, 0x10); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestFork: the files of a program are closed with the last of those that share them.
func TestFork(t *testing.T) {
	p, err := Open(queues[0], Options{})
	if err != nil {
		t.Fatal(err)
	}
	fork := p.Fork()
	for i, program := range []*Program{p, fork} {
		if got := fork.files.users; got != 2-i {
			t.Fatalf("%d programs are open, want %d", got, 2-i)
		}
		if _, ok := fork.Symbol("push"); !ok {
			t.Fatalf("%d closed: no symbol", i)
		}
		if err := program.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if fork.files.users != 0 {
		t.Errorf("%d programs are open", fork.files.users)
	}
}

// TestListLines lists the lines of a file that have code, each once.
func TestListLines(t *testing.T) {
	p := openProgram(t, queues[0])
	found, err := p.List("queue.c:")
	if err != nil || len(found) < 10 {
		t.Fatalf("%v, %v", found, err)
	}
	last := 0
	for _, l := range found {
		if l.Line <= last || path.Base(l.File) != "queue.c" {
			t.Errorf("%s:%d stands behind line %d", l.File, l.Line, last)
		}
		last = l.Line
	}
}

func TestNotELF(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "ELF") {
		t.Errorf("a script gave error %v", err)
	}
}
