package debuginfo

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
)

// TestLinesAgainstStandardLibrary compares all rows of all units with what debug/dwarf reads.
func TestLinesAgainstStandardLibrary(t *testing.T) {
	for name := range layouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := program(t, name)
			f := open(t, program)
			file, err := elf.Open(program)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			data, err := file.DWARF()
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range f.Units() {
				if u.Tag != dwarf.TagCompileUnit {
					continue
				}
				root, err := data.Reader(), error(nil)
				root.Seek(dwarf.Offset(u.Root()))
				entry, err := root.Next()
				if err != nil {
					t.Fatal(err)
				}
				compareLines(t, f, u, data, entry)
			}
		})
	}
}

func compareLines(t *testing.T, f *File, u *Unit, data *dwarf.Data, entry *dwarf.Entry) {
	r, err := data.LineReader(entry)
	if err != nil || r == nil {
		t.Fatal(err)
	}
	var want []string
	for {
		var l dwarf.LineEntry
		if err := r.Next(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("%#x %s:%d:%d.%d %t %t %t", l.Address, l.File.Name, l.Line, l.Column, l.Discriminator,
			l.IsStmt, l.PrologueEnd, l.EndSequence))
	}
	table := u.Lines()
	var got []string
	for _, row := range table.Rows {
		got = append(got, fmt.Sprintf("%#x %s:%d:%d.%d %t %t %t", uint64(row.Addr), table.Path(row), row.Line, row.Column,
			row.Discriminator, row.IsStmt(), row.PrologueEnd(), row.EndSequence()))
	}
	if !slices.IsSortedFunc(table.Rows, byAddress) {
		t.Error("rows are not in order")
	}
	slices.Sort(want)
	slices.Sort(got)
	if artificial := len(want) == 0; !artificial && len(got) < 10 || !slices.Equal(got, want) {
		t.Errorf("%d rows, want %d:\n%s\nwant\n%s", len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLinesAgainstGDB asks for the line of every tenth address, and for the code of every line.
func TestLinesAgainstGDB(t *testing.T) {
	program := build(t, "shapes.cc", "-gdwarf-5", "-O1")
	f := open(t, program)
	main, err := f.Entry(one(t, f, f.Functions("main")))
	if err != nil {
		t.Fatal(err)
	}
	script := ""
	var pcs []arch.Addr
	for _, r := range f.Ranges(main) {
		for pc := r.Begin; pc < r.End; pc += 10 {
			pcs = append(pcs, pc)
			script += fmt.Sprintf("-- %v --\ninfo line *%v\n", pc, pc)
		}
	}
	out := gdbtest.Run(t, program, script)
	for _, pc := range pcs {
		l, ok := f.LineAt(pc)
		want := fmt.Sprintf("Line %d of \"%s\"", l.Line, "shapes.cc")
		if got := out.Section(t, pc.String()); !ok || !strings.HasPrefix(got, want) {
			t.Errorf("%v: %q; GDB: %q", pc, want, got)
		}
	}
}

// TestLinesOf asks for lines with code, and for lines whose code is that of the next.
func TestLinesOf(t *testing.T) {
	f := open(t, build(t, "shapes.cc", "-gdwarf-5"))
	calls := lineOf(t, "int sum = calls++;")
	for line, want := range map[int]int{calls: calls, calls + 1: calls + 1, calls - 1: calls, calls - 5: calls - 2} {
		for _, file := range []string{"shapes.cc", "./shapes.cc", f.units[0].Path()} {
			found := f.LinesOf(file, line)
			if len(found) == 0 || found[0].Line != uint32(want) {
				t.Errorf("%s:%d: %+v, want line %d", file, line, found, want)
			}
			for _, l := range found {
				if at, ok := f.LineAt(l.Addr); !ok || at.Path != l.Path {
					t.Errorf("%v: %+v", l.Addr, at)
				}
			}
		}
	}
	if found := f.LinesOf("hapes.cc", 1); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
	if found := f.LinesOf("shapes.cc", 100000); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
	if !slices.Contains(f.SourceFiles(), f.units[0].Path()) {
		t.Errorf("%q", f.SourceFiles())
	}
}

// TestDiscarded is about functions that the linker throws away: what is left of them lies at address 0.
func TestDiscarded(t *testing.T) {
	f := open(t, build(t, "shapes.cc", "-gdwarf-5", "-ffunction-sections", "-Wl,--gc-sections", "-no-pie"))
	for _, u := range f.Units() {
		for _, row := range u.Lines().Rows {
			if row.Addr < 0x1000 {
				t.Errorf("a row at %v", row.Addr)
			}
		}
	}
	for range 100 {
		pc := arch.Addr(rand.IntN(0x1000))
		if u := f.UnitAt(pc); u != nil {
			t.Errorf("%v is in %s", pc, u.Name)
		}
	}
}

// lineOf is the number of the line of testdata/shapes.cc that has a text.
func lineOf(t *testing.T, text string) int {
	t.Helper()
	source, err := os.ReadFile("testdata/shapes.cc")
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(source), text)
	if !found {
		t.Fatalf("no %q", text)
	}
	return strings.Count(before, "\n") + 1
}
