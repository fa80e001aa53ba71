package replay_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/itrace/generate"
)

// smallExecutions are the same few instructions on several architectures: a stack pointer is set, 5 is stored at 0x10000 and loaded
// again, 6 is stored, and then it goes round in a circle.
var smallExecutions = []struct {
	arch, title      string
	stack, five, six string // registers, as the trace has them
	digits           int    // of values
	sp, result       string // as GDB has them
	opcodes          [7]string
	disassembled     string // the first store, as GDB has it
	base             uint64
	state            byte
}{
	{arch: "riscv64", title: "RISC-V of 64 bits, little endian", stack: "sp", five: "a0", six: "a1", digits: 16, sp: "sp", result: "a1",
		opcodes:      [7]string{"00010137", "00500513", "00a12023", "00012583", "00158593", "00b12023", "0000006f"},
		disassembled: "sw\ta0,0(sp)", base: 0x80000000, state: 'A'},
	{arch: "riscv32", title: "RISC-V of 32 bits, little endian", stack: "x2", five: "x10", six: "x11", digits: 8, sp: "sp", result: "a1",
		opcodes:      [7]string{"00010137", "00500513", "00a12023", "00012583", "00158593", "00b12023", "0000006f"},
		disassembled: "sw\ta0,0(sp)", base: 0x80000000, state: 'A'},
	{arch: "arm", title: "Arm of 32 bits, little endian", stack: "r13", five: "r0", six: "R1", digits: 8, sp: "sp", result: "r1",
		opcodes:      [7]string{"e3a0d801", "e3a00005", "e58d0000", "e59d1000", "e2811001", "e58d1000", "eafffffe"},
		disassembled: "str\tr0, [sp]", base: 0x8000, state: 'A'},
	{arch: "aarch64", title: "AArch64, little endian", stack: "sp", five: "X0", six: "W1", digits: 16, sp: "sp", result: "x1",
		opcodes:      [7]string{"9100005f", "528000a0", "b90003e0", "b94003e1", "11000421", "b90003e1", "14000000"},
		disassembled: "str\tw0, [sp]", base: 0x80000, state: 'A'},
}

// smallScript goes through it.
const smallScript = `target remote | %s replay %s --listen -
-- start --
p/x $pc
p $%s
? p *(int *)0x10000
-- step --
%[6]s
p/x $%[3]s
? p *(int *)0x10000
-- watch --
watch *(int *)0x10000
continue
-- again --
continue
p/x $pc
p $%[4]s
-- back --
reverse-continue
p/x $pc
p *(int *)0x10000
-- first --
reverse-continue
x/i $pc
-- begin --
reverse-continue
p/x $pc
-- breakpoint --
delete
break *%[5]d
continue
p *(int *)0x10000
reverse-continue
-- access --
delete
rwatch *(int *)0x10000
continue
p/x $pc
delete
awatch *(int *)0x10000
reverse-continue
p/x $pc
-- end --
delete
continue
reverse-stepi
p/x $pc
`

// TestArchitectures serves each to GDB without a program, and lets it find out what the trace is of.
func TestArchitectures(t *testing.T) {
	for _, m := range smallExecutions {
		t.Run(m.arch, func(t *testing.T) {
			t.Parallel()
			value := func(v int) string { return fmt.Sprintf("%0*x", m.digits, v) }
			addr := value(0x10000)
			effects := [7][]string{
				{"R " + m.stack + " " + addr}, {"R " + m.five + " " + value(5)}, {"MW4 " + addr + " 00000005"},
				{"MR4 " + addr + " 00000005", "R " + m.six + " " + value(5)}, {"R " + m.six + " " + value(6)}, {"MW4 " + addr + " 00000006"}, nil,
			}
			var text strings.Builder
			if m.arch == "arm" {
				text.WriteString("0 clk R cpsr 000001d3\n0 clk R r11 00000000\n")
			}
			for i := range 9 {
				at := min(i, 6)
				fmt.Fprintf(&text, "%d clk 0 IT (%d) %0*x %s %c svc : x\n", 10*i, i, m.digits, m.base+4*uint64(at), m.opcodes[at], m.state)
				for _, effect := range effects[at] {
					fmt.Fprintf(&text, "%d clk %s\n", 10*i, effect)
				}
			}
			trace := filepath.Join(t.TempDir(), "run.log")
			if err := os.WriteFile(trace, []byte(text.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			pc := func(i int) string { return fmt.Sprintf("= %#x", m.base+4*uint64(i)) }
			first := "stepi"
			if m.arch == "arm" { // which GDB can do little while it does not know sp, cpsr and r11
				first = "monitor goto #1\nmaint flush register-cache"
			}
			out := gdbtest.RunMultiarch(t, fmt.Sprintf(smallScript, gdbtest.Binary(t), trace, m.sp, m.result, m.base+16, first))
			sections(t, out, map[string][]string{
				"start":      {m.title, pc(0), "= <unavailable>", "error: Cannot access memory at address 0x10000"},
				"step":       {"= 0x10000", "error: Cannot access memory"},
				"watch":      {"New value = 5"},
				"again":      {"Old value = 5", "New value = 6", pc(6), "= 6"},
				"back":       {"Old value = 6", "New value = 5", pc(5), "= 5"},
				"first":      {m.disassembled},
				"begin":      {"No more reverse-execution history.", pc(0)},
				"breakpoint": {"Breakpoint 2, ", "= 5", "No more reverse-execution history."},
				"access":     {"Value = 5", pc(4), pc(3)},
				"end":        {"No more reverse-execution history.", pc(6)},
			})
		})
	}
}

// sections looks for texts in what GDB printed.
func sections(t *testing.T, out *gdbtest.Output, want map[string][]string) {
	t.Helper()
	for name, texts := range want {
		got := out.Section(t, name)
		if name == "start" {
			got = out.All[:strings.Index(out.All, got)] + got // with what the server said before
		}
		for _, text := range texts {
			if !strings.Contains(got, text) {
				t.Errorf("%s: %q is not in\n%s", name, text, got)
			}
		}
	}
}

// TestProcessors has GDB show the registers of three processors at one position, and go on with one of them. GDB steps MIPS by breakpoints,
// which threads that are not locked would meet for one another.
func TestProcessors(t *testing.T) {
	folder := t.TempDir()
	trace := filepath.Join(folder, "run.log")
	const anchor = 40_000
	next := map[int32]seen{}  // the first position of each from the anchor on
	after := map[int32]seen{} // the second
	var before seen           // the last of processor 1 in front of it
	writeFile(t, trace, func(w io.Writer) error {
		_, err := generate.Write(w, generate.Options{Instructions: 20_000, CPUs: 3, Observe: func(m generate.Position) {
			_, has := next[m.CPU]
			_, more := after[m.CPU]
			switch {
			case m.Instruction < anchor && m.CPU == 1:
				before = seenAt(m)
			case m.Instruction < anchor:
			case !has:
				next[m.CPU] = seenAt(m)
			case !more:
				after[m.CPU] = seenAt(m)
			}
		}})
		return err
	})
	var script strings.Builder
	fmt.Fprintf(&script, `set endian big
target remote | %s replay %s --listen -
set scheduler-locking step
define registers
printf "pc %%x s1 %%x s2 %%x t0 %%x t1 %%x v0 %%x ra %%x sp %%x\n", $pc, $r17, $r18, $r8, $r9, $r2, $r31, $r29
end
-- start --
info threads
monitor goto #%d
maint flush register-cache
`, gdbtest.Binary(t), trace, anchor)
	for cpu := range 3 {
		fmt.Fprintf(&script, "-- cpu %d --\nthread %d\nregisters\n", cpu, cpu+1)
	}
	script.WriteString(`-- on --
thread 2
stepi
registers
monitor where
-- back --
reverse-stepi
registers
reverse-stepi
registers
-- break --
break *0x800080a0 thread 3
continue
monitor writers v0
`)
	out := gdbtest.RunMultiarch(t, script.String())
	registers := func(s seen) string { text, _, _ := strings.Cut(s.text, " sum"); return text }
	sections(t, out, map[string][]string{
		"start": {`"cpu 0"`, `"cpu 1"`, `"cpu 2"`, fmt.Sprintf("instruction #%d of 60000", anchor)},
		"cpu 0": {registers(next[0])},
		"cpu 1": {registers(next[1])},
		"cpu 2": {registers(next[2])},
		"on":    {registers(after[1]), fmt.Sprintf("#%d of", next[1].instruction+1)},
		"back":  {registers(next[1]), registers(before)},
		"break": {`Thread 3 "cpu 2" hit Breakpoint 1, 0x800080a0`, "this position"},
	})
}
