package symtab

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/internal/demo"
	"tracewell/internal/gdbtest"
)

// programs are compiled from one source: without optimisation, and with it so that lines are taken apart.
const (
	plainProgram     = "../cli/testdata/queue"
	optimisedProgram = "../cli/testdata/queue_pie"
)

func openTable(t *testing.T, path string) *Table {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	table, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// onLine is what GDB says of an address that has a line.
var onLine = regexp.MustCompile(`^Line (\d+) of "([^"]+)"`)

// TestLinesOfGDB asks GDB about each byte of each function.
func TestLinesOfGDB(t *testing.T) {
	for _, program := range []string{plainProgram, optimisedProgram} {
		table := openTable(t, program)
		var addrs []arch.Addr
		var script strings.Builder
		for _, name := range []string{"push", "pop", "work", "main", "_start"} {
			s, ok := table.Named(name)
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
			if line, ok := table.Line(addr); ok {
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
	table := openTable(t, plainProgram)
	work, _ := table.Named("work")
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
		for _, addr := range table.Statements(test.file, test.line) {
			places = append(places, table.Describe(addr))
		}
		if got := fmt.Sprint(places); got != test.want {
			t.Errorf("%s:%d is at %s, want %s", test.file, test.line, got, test.want)
		}
	}
	moved := table.Rebase(0x1000)
	if diff := cmp.Diff([]arch.Addr{work.Addr + 0x1000}, moved.Statements("queue.c", 39)); diff != "" {
		t.Errorf("moved by a page (-want +got):\n%s", diff)
	}
	if line, ok := moved.Line(work.Addr + 0x1000); !ok || line != (Line{"queue.c", 39}) {
		t.Errorf("moved by a page: %v, %v", line, ok)
	}
}

// TestNoLines: outside the program, and without debug information, there are no lines.
func TestNoLines(t *testing.T) {
	table := openTable(t, plainProgram)
	for addr := arch.Addr(0); addr < 2*absentLimit; addr++ {
		if line, ok := table.Line(addr); ok {
			t.Fatalf("%v is on line %v", addr, line)
		}
	}
	if len(table.lines.absent) > absentLimit {
		t.Errorf("%d addresses are remembered", len(table.lines.absent))
	}
	bare := demoTable(t)
	bare.lines = nil
	if _, ok := bare.Line(0x400239); ok || bare.Statements("demo.c", 72) != nil {
		t.Error("there are lines without a line table")
	}
	if s, err := demo.Lookup(demo.Handle); err != nil || demoTable(t).Statements("demo.c", 70)[0] != s.Addr {
		t.Errorf("the first line of %s is elsewhere", demo.Handle)
	}
}
