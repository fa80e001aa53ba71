package exprtest

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/gdbtest"
)

// Compile compiles a program of testdata, and returns its path and the line of the comment that ends in "here */".
func Compile(t testing.TB, name string, flags ...string) (program string, line int) {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(t.TempDir(), "program")
	compiler := "gcc"
	if strings.HasSuffix(name, ".cc") {
		compiler = "g++"
	}
	args := append([]string{"-g", "-O0", "-no-pie", "-o", program, source}, flags...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "here */")
	return program, 1 + strings.Count(before, "\n")
}

// Registers are those of x86-64 by their remote numbers, as far as a Process has them.
var Registers = []string{"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
	"r15", "rip", "eflags"}

// Stop runs a program in GDB to a line, has GDB run a script there, and returns what the program has then.
func Stop(t testing.TB, program string, line int, script string) (*Process, *gdbtest.Output) {
	t.Helper()
	core := filepath.Join(t.TempDir(), "core")
	output := gdbtest.Run(t, program, fmt.Sprintf("break %d\nrun\n-- registers --\ninfo registers\n-- core --\ngenerate-core-file %s\n%s",
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

var printed = regexp.MustCompile(`\$\d+ = (?:\(.*\) )?(-?\d+)`)

// Printed is the number that GDB's "print/d" has printed.
func Printed(t testing.TB, text string) int64 {
	t.Helper()
	found := printed.FindStringSubmatch(text)
	if found == nil {
		t.Errorf("GDB printed %q", text)
		return 0
	}
	n, err := strconv.ParseInt(found[1], 10, 64)
	if err != nil {
		t.Error(err)
	}
	return n
}
