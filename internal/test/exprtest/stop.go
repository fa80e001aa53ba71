package exprtest

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

// compilers are the commands that compile a program without optimization, by the ending of its name: the path of the program
// and that of the source follow.
var compilers = map[string][]string{
	".c":  {"gcc", "-g", "-O0", "-no-pie", "-o"},
	".cc": {"g++", "-g", "-O0", "-no-pie", "-o"},
	".rs": {"rustc", "-g", "-C", "opt-level=0", "-C", "relocation-model=static", "-o"},
	".go": {"go", "build", "-gcflags=-N -l", "-o"},
}

// Compile compiles a program of testdata, and returns its path and, for GDB, the line of the comment that ends in "here */".
func Compile(t testing.TB, name string) (program, line string) {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(t.TempDir(), "program")
	command := append(slices.Clone(compilers[filepath.Ext(name)]), program, source)
	if out, err := testtool.Command(t, command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "here */")
	return program, fmt.Sprintf("%s:%d", name, 1+strings.Count(before, "\n"))
}

// Registers are those of x86-64 by their remote numbers, as far as a Process has them.
var Registers = []string{"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
	"r15", "rip", "eflags"}

// Stop runs a program in GDB to a line, has GDB run a script there, and returns what the program has then.
func Stop(t testing.TB, program, line, script string) (*Process, *gdbtest.Output) {
	t.Helper()
	core := filepath.Join(t.TempDir(), "core")
	output := gdbtest.Run(t, program, fmt.Sprintf("break %s\nrun\n-- registers --\ninfo registers\n-- core --\ngenerate-core-file %s\n%s",
		line, core, script))
	p := &Process{Registers: map[arch.Reg]uint64{}, Variables: map[uint16]int64{}}
	for _, row := range strings.Split(output.Section(t, "registers"), "\n") {
		fields := strings.Fields(row)
		for i, name := range Registers {
			if fields[0] == name {
				p.Registers[arch.Reg(i)], _ = strconv.ParseUint(fields[1], 0, 64)
			}
		}
	}
	p.load(t, core)
	p.load(t, program) // what lies in files is not in the core
	return p, output
}

// PC is where the program stands.
func (p *Process) PC() arch.Addr { return arch.Addr(p.Registers[16]) }

func (p *Process) load(t testing.TB, path string) {
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, part := range file.Progs {
		if part.Type != elf.PT_LOAD || part.Filesz == 0 {
			continue
		}
		b := make([]byte, part.Filesz)
		if _, err := part.ReadAt(b, 0); err != nil {
			t.Fatal(err)
		}
		p.segments = append(p.segments, segment{arch.Addr(part.Vaddr), b})
	}
}

var agentLine = regexp.MustCompile(`(?m)^ +\d+ +\w+.*$`)

// Agent evaluates what GDB's "maint agent-eval" has printed.
func (p *Process) Agent(t testing.TB, printed string) (int64, error) {
	t.Helper()
	code, err := ax.Assemble(strings.Join(agentLine.FindAllString(printed, -1), "\n"))
	if err != nil {
		return 0, fmt.Errorf("GDB printed %q", printed)
	}
	return p.Run(t, code)
}

var printed = regexp.MustCompile(`\$\d+ = (?:\(.*\) )?(-?\d+|true|false)`)

// Printed is the number or truth value that GDB's print has printed.
func Printed(t testing.TB, text string) int64 {
	t.Helper()
	found := printed.FindStringSubmatch(text)
	if found == nil {
		t.Errorf("GDB printed %q", text)
		return 0
	}
	switch found[1] {
	case "true":
		return 1
	case "false":
		return 0
	}
	n, err := strconv.ParseInt(found[1], 10, 64)
	if err != nil {
		t.Error(err)
	}
	return n
}
