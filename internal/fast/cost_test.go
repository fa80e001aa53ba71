//go:build linux && amd64

package fast

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
	asm "tracewell/internal/asm/amd64"
	"tracewell/internal/test/native"
	"tracewell/internal/test/testtool"
	"tracewell/tdesc/machine"
)

// The memory of a cost: a loop that calls a function with a site, the pad, data, the shared memory.
const (
	costLoop    = 0
	costTick    = 0x100
	costPad     = 0x1000
	costData    = 0x8000
	costControl = 0x10000
	costRing    = costControl + ControlSize
	costRingLen = 1 << 20 // stays in the second-level cache
	costHits    = 20_000  // per call of the loop
)

// costSite makes a loop around a site, and its pad unless there is no tracepoint. It returns what runs the loop.
func costSite(t testing.TB, registers *Registers, tracepoints ...Tracepoint) (run func()) {
	t.Helper()
	m := native.Map(t, costRing+2*costRingLen)
	next := m.Addr(costTick + 7)
	loop := asm.New(m.Addr(costLoop))
	loop.Push(asm.RBX)
	loop.MovImm(asm.RBX, costHits)
	loop.MovImm(asm.RSI, int64(m.Addr(costData)))
	again := loop.Here()
	loop.CallTo(m.Addr(costTick))
	loop.Dec(8, asm.RBX)
	loop.Jcc(asm.CondNE, again)
	loop.Pop(asm.RBX)
	loop.Ret()
	tick := asm.New(m.Addr(costTick))
	original := []byte{0x48, 0xc7, 0xc0, 0x2a, 0, 0, 0} // mov $42, %rax
	if len(tracepoints) == 0 {
		tick.Bytes(original...)
	} else {
		tick.JmpTo(m.Addr(costPad))
		tick.Nop(2)
	}
	tick.Store(1, asm.At(asm.RSI, 15), asm.RBX)
	tick.Ret()
	for at, a := range map[int]*asm.Assembler{costLoop: loop, costTick: tick} {
		code, err := a.Finish()
		if err != nil {
			t.Fatal(err)
		}
		copy(m.Bytes[at:], code)
	}
	arena := &Arena{Control: m.Addr(costControl), Ring: m.Addr(costRing), RingSize: costRingLen, Key: 0x123456789abcdef0,
		RDFSBase: true}
	control, err := NewControl(wordsOf(m.Bytes[costControl:costRing]), arena)
	if err != nil {
		t.Fatal(err)
	}
	control.SwitchOn()
	control.store(LimitAt, 1<<62) // nobody reads: what is measured is the pad
	if len(tracepoints) == 0 {
		return func() { m.Call(costLoop) }
	}
	for i := range tracepoints {
		control.Enable(tracepoints[i].Index, true)
	}
	pad, err := Build(&Site{Arena: arena, Index: 1, Addr: m.Addr(costTick), Pad: m.Addr(costPad), Tracepoints: tracepoints,
		Registers: registers, Next: next, Displace: func(arch.Addr) ([]byte, error) { return original, nil }})
	if err != nil {
		t.Fatal(err)
	}
	copy(m.Bytes[costPad:costData], pad.Code)
	clear(m.Bytes[costRing:]) // pages
	return func() { m.Call(costLoop) }
}

// has reports whether the processor has a feature.
func has(t testing.TB, feature string) bool {
	t.Helper()
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(strings.Fields(string(text)), feature)
}

// BenchmarkHit measures what a hit adds to a call, in nanoseconds of the least of many runs, beside the pad written by hand. Other
// work on the machine hardly changes the least.
func BenchmarkHit(b *testing.B) {
	general := costRegisters(b, machine.LinuxAMD64, 17*8)
	vectors := machine.LinuxAMD64
	vectors.AVX, vectors.AVX512, vectors.PKU = has(b, "avx"), has(b, "avx512f"), has(b, "pku")
	costs := []struct {
		name string
		run  func()
	}{
		{"untraced", costSite(b, nil)},
		{"empty frame", costSite(b, nil, tracepoint(b, 1, ""))},
		{"16 bytes", costSite(b, nil, tracepoint(b, 1, "", "M 4 0 16"))},
		{"registers and 16 bytes", costSite(b, general, tracepoint(b, 1, "", "R", "M 4 0 16"))},
		{"registers and flags, 16 bytes", costSite(b, coreRegisters(b), tracepoint(b, 1, "", "R", "M 4 0 16"))},
		{"registers and 256 bytes", costSite(b, general, tracepoint(b, 1, "", "R", "M 4 0 256"))},
		{"all registers", costSite(b, costRegisters(b, vectors, 1<<20), tracepoint(b, 1, "", "R"))},
		{"condition false", costSite(b, general, tracepoint(b, 1, "reg 5\nconst8 77\nequal", "R"))},
		{"condition false by memory", costSite(b, general, tracepoint(b, 1, "reg 4\nref64\nconst8 77\nequal", "R"))},
		{"two tracepoints", costSite(b, general, tracepoint(b, 1, "", "R"), tracepoint(b, 2, "", "M 4 0 16"))},
	}
	least := make([]time.Duration, len(costs))
	byHand := 1e9
	cpad := buildCPad(b)
	for b.Loop() {
		for range 200 {
			for i, c := range costs {
				start := time.Now()
				c.run()
				if d := time.Since(start); least[i] == 0 || d < least[i] {
					least[i] = d
				}
			}
		}
		byHand = min(byHand, runCPad(b, cpad))
	}
	for i, c := range costs {
		b.ReportMetric(float64(least[i])/costHits, "ns/"+strings.ReplaceAll(c.name, " ", "_"))
	}
	b.ReportMetric(byHand, "ns/by_hand")
}

func buildCPad(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "cpad")
	build := testtool.Command(t, "gcc", "-O2", "-Wall", "-no-pie", "-o", program, "testdata/cpad.c")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build testdata/cpad.c: %v\n%s", err, out)
	}
	return program
}

func runCPad(t testing.TB, program string) float64 {
	t.Helper()
	out, err := exec.Command(program, "2000000").Output()
	if err != nil {
		t.Fatal(err)
	}
	ns, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		t.Fatal(err)
	}
	return ns
}
