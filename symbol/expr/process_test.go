package expr

import (
	"debug/elf"
	"encoding/binary"
	"errors"
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
	"tracewell/trace"
)

// process is a program that GDB has stopped: its registers and memory, as an ax.Env and as a World. What is traced is noted.
type process struct {
	registers map[arch.Reg]uint64
	segments  []segment
	variables map[uint16]int64
	traced    []span
	counted   []uint16
	only      []span // memory that there is; nil for all
}

type segment struct {
	addr  uint64
	bytes []byte
}

type span struct {
	addr uint64
	size uint64
}

var errHole = errors.New("no such memory")

// compiled compiles a program of testdata, and returns its path and the line of a mark in it.
func compiled(t testing.TB, name string, flags ...string) (program string, line int) {
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

// stopped runs a program in GDB to a line and asks for everything that a script wants to know there.
func stopped(t testing.TB, program string, line int, script string) (*process, *gdbtest.Output) {
	t.Helper()
	core := filepath.Join(t.TempDir(), "core")
	output := gdbtest.Run(t, program, fmt.Sprintf("break %d\nrun\n-- registers --\ninfo registers\n-- core --\ngenerate-core-file %s\n%s",
		line, core, script))
	p := &process{registers: map[arch.Reg]uint64{}, variables: map[uint16]int64{2: 40, 3: -1}}
	for _, row := range strings.Split(output.Section(t, "registers"), "\n") {
		fields := strings.Fields(row)
		for i, name := range amd64 {
			if fields[0] == name {
				p.registers[arch.Reg(i)], _ = strconv.ParseUint(fields[1], 0, 64)
			}
		}
	}
	p.load(t, core)
	p.load(t, program) // what lies in files is not in the core
	return p, output
}

func (p *process) load(t testing.TB, path string) {
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
		p.segments = append(p.segments, segment{part.Vaddr, b})
	}
}

func (p *process) Memory(addr arch.Addr, n int) ([]byte, error) {
	if p.only != nil && !covered(p.only, uint64(addr), uint64(n)) {
		return nil, errHole
	}
	for _, s := range p.segments {
		if at := uint64(addr) - s.addr; uint64(addr) >= s.addr && at+uint64(n) <= uint64(len(s.bytes)) {
			return s.bytes[at:][:n], nil
		}
	}
	return nil, errHole
}

func covered(spans []span, addr, n uint64) bool {
	for ; n > 0; n-- {
		found := false
		for _, s := range spans {
			found = found || s.addr <= addr && addr < s.addr+s.size
		}
		if !found {
			return false
		}
		addr++
	}
	return true
}

func (p *process) Ref(addr arch.Addr, size int) (uint64, error) {
	b, err := p.Memory(addr, size)
	return arch.Uint(b, binary.LittleEndian), err
}

// words are the registers as a World has them.
type words struct{ *process }

func (p words) Register(r arch.Reg) ([]byte, error) {
	bits, err := p.process.Register(r)
	return encode(bits, 8, binary.LittleEndian), err
}

func (p words) Variable(n trace.VariableNumber) (int64, error) { return p.variables[uint16(n)], nil }

func (p *process) Register(r arch.Reg) (uint64, error) {
	bits, ok := p.registers[r]
	if !ok {
		return 0, errHole
	}
	return bits, nil
}

func (p *process) Variable(n uint16) int64       { return p.variables[n] }
func (p *process) SetVariable(n uint16, v int64) { p.variables[n] = v }
func (p *process) TraceVariable(n uint16)        { p.counted = append(p.counted, n) }

func (p *process) TraceMemory(addr arch.Addr, size uint64) {
	p.traced = append(p.traced, span{uint64(addr), size})
}

func (p *process) TraceString(addr arch.Addr, limit uint64) {
	size := uint64(0)
	for size < limit {
		size++
		if b, err := p.Ref(addr+arch.Addr(size)-1, 1); err != nil || b == 0 {
			break
		}
	}
	p.TraceMemory(addr, size)
}

func (p *process) Printf(uint64, uint64, string, []int64) error { return errHole }

// run evaluates bytecode for its value.
func (p *process) run(t testing.TB, code []byte) (int64, error) {
	t.Helper()
	program, err := ax.Decode(code)
	if err != nil {
		t.Fatal(err)
	}
	var m ax.Machine
	return m.Value(program, p)
}

var agentLine = regexp.MustCompile(`(?m)^ +\d+ +\w+.*$`)

// agent evaluates what GDB's "maint agent-eval" has printed.
func (p *process) agent(t testing.TB, printed string) (int64, error) {
	t.Helper()
	code, err := ax.Assemble(strings.Join(agentLine.FindAllString(printed, -1), "\n"))
	if err != nil {
		return 0, fmt.Errorf("GDB printed %q", printed)
	}
	return p.run(t, code)
}
