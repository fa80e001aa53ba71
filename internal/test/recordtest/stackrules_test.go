//go:build linux && amd64

package recordtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
	"tracewell/symbol"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
	"tracewell/tfile"
	"tracewell/trace"
)

// TestGeneratedStacks unwinds random stacks by random frame descriptions, on machines of either size, and compares with
// the GDB of all machines. Nothing is executed: functions are descriptions only, and the traces are made by hand.
func TestGeneratedStacks(t *testing.T) {
	for name, flags := range map[string]string{
		"x86-64": "--target=x86_64-linux-gnu", "aarch64": "--target=aarch64-linux-gnu", "riscv64": "--target=riscv64-linux-gnu -mabi=lp64",
		"riscv32": "--target=riscv32-linux-gnu -mabi=ilp32",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := arch.ByName(name)
			g := generator{Rand: rand.New(rand.NewPCG(uint64(m.ELF), uint64(m.AddrSize))), machine: m, folder: t.TempDir()}
			s := stacks{machine: m, program: g.program(t, strings.Fields(flags)...), named: true}
			s.file = g.trace(t, s.program)
			var registers []string
			for _, n := range g.registers() {
				registers = append(registers, m.DWARF[n])
			}
			s.compareIn(t, func(walk string) *gdbtest.Output {
				return gdbtest.RunMultiarch(t, "file "+s.program+"\ntarget tfile "+s.file+"\n"+walk)
			}, registers...)
			if n := s.counts.counts; n["whole"] < 20 || n["cut off"] < 20 || n["registers"] < 3000 {
				t.Error("too few of some kind")
			}
		})
	}
}

// generator makes programs and traces for a machine.
type generator struct {
	*rand.Rand
	machine *arch.Machine
	folder  string
}

const (
	generatedFunctions = 40
	generatedSize      = 64 // bytes of a function
	generatedStack     = 2048
)

// registers are those that descriptions and traces are about, by DWARF's numbers, the stack pointer and the frame pointer first.
func (g *generator) registers() []int {
	all := []int{slices.Index(g.machine.DWARF, g.machine.SP), slices.Index(g.machine.DWARF, g.machine.FP)}
	for _, name := range append(g.machine.CalleeSaved, g.machine.Arguments...) {
		if n := slices.Index(g.machine.DWARF, name); !slices.Contains(all, n) && len(all) < 8 {
			all = append(all, n)
		}
	}
	return all
}

// program assembles functions with random descriptions.
func (g *generator) program(t *testing.T, flags ...string) string {
	t.Helper()
	var text strings.Builder
	fmt.Fprintln(&text, ".text\n.globl _start\n_start:")
	for i := range generatedFunctions {
		fmt.Fprintf(&text, ".globl f%d\n.type f%[1]d,%%function\nf%[1]d:\n.cfi_startproc simple\n", i)
		g.rules(&text)
		fmt.Fprintf(&text, ".cfi_endproc\n.size f%d,.-f%[1]d\n", i)
	}
	source, object, program := filepath.Join(g.folder, "a.s"), filepath.Join(g.folder, "a.o"), filepath.Join(g.folder, "program")
	if err := os.WriteFile(source, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		append([]string{"clang", "-c", source, "-o", object}, flags...), {"ld.lld", "-static", "--image-base=0x200000", object, "-o", program},
	} {
		if output, err := testtool.Command(t, command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, output)
		}
	}
	return program
}

// returns is DWARF's number of the return address.
func (g *generator) returns() int {
	for _, name := range []string{g.machine.PC, "x30", "ra"} {
		if n := slices.Index(g.machine.DWARF, name); n >= 0 {
			return n
		}
	}
	panic("no return address")
}

// rules writes the body of a function: pieces of code, and in front of each some rules. None are remembered and restored: GDB 13.1
// does not find all of them again, as readelf does.
func (g *generator) rules(text *strings.Builder) {
	word, registers := g.machine.AddrSize, g.registers()
	sp, back := registers[0], g.returns()
	any := func() int { return registers[1+g.IntN(len(registers)-1)] }
	size := func() int { return word * (2 + g.IntN(12)) }
	escape := func(bytes ...int) {
		fmt.Fprintf(text, ".cfi_escape %s\n", strings.Trim(strings.ReplaceAll(fmt.Sprint(bytes), " ", ","), "[]"))
	}
	expression := func() []int { // over the CFA: a number is subtracted, perhaps in more than one way
		return [][]int{{3, 0x31 + g.IntN(30), 0x1c, 0x96}, {4, 0x09, 0x80 - 8*(1+g.IntN(8)) + 0x80 - 8, 0x22, 0x96},
			{5, 0x12, 0x14, 0x1c, 0x22, 0x96}, {4, 0x38, 0x31, 0x24, 0x1c}}[g.IntN(4)]
	}
	fmt.Fprintf(text, ".cfi_def_cfa %d, %d\n.cfi_offset %d, %d\n", sp, size(), back, -word)
	for range generatedSize / 8 {
		for range g.IntN(4) {
			switch g.IntN(12) {
			case 0, 1:
				fmt.Fprintf(text, ".cfi_def_cfa_offset %d\n", size())
			case 2:
				fmt.Fprintf(text, ".cfi_def_cfa %d, %d\n", registers[g.IntN(2)], size())
			case 3: // by an expression: stack pointer + number, dereferenced now and then
				e := []int{0x70 + sp, 8 * (1 + g.IntN(7))}
				if sp > 31 {
					continue
				}
				if g.IntN(3) == 0 {
					e = append(e, 0x06)
				}
				escape(append([]int{0x0f, len(e)}, e...)...)
				fmt.Fprintf(text, ".skip 8\n.cfi_def_cfa %d, %d\n", sp, size())
			case 4, 5, 6:
				fmt.Fprintf(text, ".cfi_offset %d, %d\n", any(), -word*(2+g.IntN(5)))
			case 7:
				fmt.Fprintf(text, ".cfi_register %d, %d\n", any(), any())
			case 8:
				fmt.Fprintf(text, ".cfi_%s %d\n", []string{"same_value", "restore"}[g.IntN(2)], any())
			case 9:
				escape(append([]int{0x10 + 6*g.IntN(2), any()}, expression()...)...)
			case 10:
				escape(0x14, any(), g.IntN(8))
			default:
				if g.IntN(4) == 0 {
					fmt.Fprintf(text, ".cfi_undefined %d\n", back)
				}
			}
		}
		fmt.Fprintln(text, ".skip 8")
	}
}

// trace writes frames whose registers and stacks are full of addresses of functions, of the stack, and of nothing; pieces of some
// stacks are missing.
func (g *generator) trace(t *testing.T, path string) string {
	t.Helper()
	program, err := symbol.Open(path, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	first, ok := program.Symbol("f0")
	target := machine.Linux(g.machine)
	layout, err := target.Layout()
	if err != nil || !ok {
		t.Fatal(err, ok)
	}
	order := program.Main().File().Order()
	file, err := os.Create(filepath.Join(g.folder, "run.tf"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	code, err := ax.Assemble(fmt.Sprintf("reg %d\nconst16 %d\ntrace\nend", layout.ByName(g.machine.SP).Reg.Num, generatedStack))
	if err != nil {
		t.Fatal(err)
	}
	w, err := tfile.NewWriter(file, tfile.Header{
		Order: order, RegisterSize: layout.Size, Description: string(target.XML()), Status: &trace.Status{},
		Tracepoints: []trace.Tracepoint{{Number: 1, Addr: first.Addr, Enabled: true, // as record --backtrace makes them
			Actions: []trace.Action{{Kind: trace.CollectExpression, Code: code}},
			Source:  trace.Source{Commands: []string{fmt.Sprintf("# collect *(unsigned char *)$sp@%d", generatedStack)}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		g.frame(w, layout, order, first.Addr)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

func (g *generator) frame(w *tfile.Writer, layout *tdesc.Layout, order arch.ByteOrder, code arch.Addr) {
	const stack = arch.Addr(0x7f001000)
	word := g.machine.AddrSize
	// No row begins there: of a call that is the last instruction of a row GDB takes the next one, as if the call had returned.
	place := func() arch.Addr { return code + arch.Addr(8*g.IntN(generatedFunctions*generatedSize/8)+4) }
	content := func(at int) arch.Addr {
		switch n := g.IntN(20); {
		case n < 12:
			return place()
		case n < 17: // further up
			return stack + arch.Addr(at+word*(1+g.IntN(40)))
		case n < 18:
			return 0
		}
		return arch.Addr(g.Uint32() >> 1)
	}
	b := tfile.Builder{Order: order}
	b.Begin(nil, 1)
	block := b.Registers(layout.Size)
	clear(block)
	put := func(name string, value arch.Addr) {
		slot := layout.ByName(name)
		arch.PutAddr(block[slot.Offset:slot.Offset+slot.Size], order, value)
	}
	for _, n := range g.registers() {
		put(g.machine.DWARF[n], content(0))
	}
	put(g.machine.PC, place())
	put(g.machine.SP, stack)
	memory := make([]byte, generatedStack)
	for at := 0; at < len(memory); at += word {
		arch.PutAddr(memory[at:at+word], order, content(at))
	}
	gap := g.IntN(2 * generatedStack)
	b.AppendMemory(stack, memory[:min(gap, len(memory))])
	if gap += 2 * word; gap < len(memory) {
		b.AppendMemory(stack+arch.Addr(gap), memory[gap:])
	}
	if err := w.WriteFrame(b.Finish()); err != nil {
		panic(err)
	}
}
