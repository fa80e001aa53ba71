package amd64

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/testtool"
)

// The regions of testdata/native.c.
const (
	codeRegion     = 0x10000000
	codeRegionSize = 0x200000
	dataRegion     = 0x20000000
	dataRegionSize = 0x4000
)

// nativeOrder is the order of the registers in the lines of testdata/native.c.
var nativeOrder = [...]int{R15, R14, R13, R12, RBP, RBX, R11, R10, R9, R8, RAX, RCX, RDX, RSI, RDI, RIP, EFlags, RSP}

// nativeCase is code to run, at regs[RIP], with other code that it may come to.
type nativeCase struct {
	regs  UserRegs
	code  []byte
	other []nativePart
}

// nativePart is code at an address.
type nativePart struct {
	at   arch.Addr
	code []byte
}

// nativeResult is how the processor left a case.
type nativeResult struct {
	exception int
	regs      UserRegs
	vectors   string
	memory    map[uint64]uint64 // the words of the data region that changed
}

// left tells whether the instruction of the case completed: what stopped the thread, the int3 behind it or a fault at the
// target of a branch, did so elsewhere in user space.
func (r *nativeResult) left(c *nativeCase) bool {
	return r.regs[RIP] != c.regs[RIP] && r.regs[RIP] < userEnd
}

// runNative runs the cases on the processor.
func runNative(t *testing.T, cases []nativeCase) []nativeResult {
	t.Helper()
	program := filepath.Join(t.TempDir(), "native")
	build := testtool.Command(t, "gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-fno-stack-protector", "-o", program,
		"testdata/native.c")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build testdata/native.c: %v\n%s", err, out)
	}
	var input strings.Builder
	for _, c := range cases {
		for _, i := range nativeOrder {
			fmt.Fprintf(&input, "%x ", c.regs[i])
		}
		fmt.Fprintf(&input, "%x=%x", c.regs[RIP], c.code)
		for _, part := range c.other {
			fmt.Fprintf(&input, " %x=%x", uint64(part.at), part.code)
		}
		input.WriteByte('\n')
	}
	run := exec.Command(program)
	run.Stdin = strings.NewReader(input.String())
	out, err := run.Output()
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil || len(lines) != len(cases) {
		t.Fatalf("native: %v, %d lines for %d cases", err, len(lines), len(cases))
	}
	results := make([]nativeResult, len(cases))
	for i, line := range lines {
		results[i] = parseNative(t, line, cases[i].regs)
	}
	return results
}

// parseNative parses one line; registers that are not in it stay as they were before.
func parseNative(t *testing.T, line string, before UserRegs) nativeResult {
	t.Helper()
	fields := strings.Fields(line)
	number := func(s string) uint64 {
		v, err := strconv.ParseUint(s, 16, 64)
		if err != nil {
			t.Fatalf("native printed %q: %v", line, err)
		}
		return v
	}
	n := len(nativeOrder)
	result := nativeResult{exception: int(number(fields[0])), regs: before, vectors: fields[n+1], memory: map[uint64]uint64{}}
	for i, r := range nativeOrder {
		result.regs[r] = number(fields[1+i])
	}
	for _, change := range fields[n+2:] {
		addr, word, _ := strings.Cut(change, "=")
		result.memory[number(addr)] = number(word)
	}
	return result
}

// fakeMemory is the data region and the code region as testdata/native.c fills them, with code at its address.
type fakeMemory struct {
	data   [dataRegionSize]byte
	code   []byte
	at     arch.Addr
	writes int
}

func newFakeMemory(code []byte, at arch.Addr) *fakeMemory {
	m := &fakeMemory{code: code, at: at}
	for i := range dataRegionSize / 8 {
		binary.LittleEndian.PutUint64(m.data[i*8:], dataWord(i))
	}
	return m
}

// dataWord is what word i of the data region holds at first.
func dataWord(i int) uint64 { return codeRegion + 0x1000 + uint64(i)*16 }

func (m *fakeMemory) ReadUint64(addr arch.Addr) (uint64, bool) {
	switch {
	case addr >= dataRegion && addr <= dataRegion+dataRegionSize-8:
		return binary.LittleEndian.Uint64(m.data[addr-dataRegion:]), true
	case addr >= codeRegion && addr <= codeRegion+codeRegionSize-8:
		var b [8]byte
		for i := range b {
			b[i] = opcodeInt3
			if offset := addr + arch.Addr(i) - m.at; offset < arch.Addr(len(m.code)) {
				b[i] = m.code[offset]
			}
		}
		return binary.LittleEndian.Uint64(b[:]), true
	}
	return 0, false
}

func (m *fakeMemory) WriteUint64(addr arch.Addr, v uint64) bool {
	if addr < dataRegion || addr > dataRegion+dataRegionSize-8 {
		return false
	}
	m.writes++
	binary.LittleEndian.PutUint64(m.data[addr-dataRegion:], v)
	return true
}

// changes is what differs from the first state, as nativeResult has it.
func (m *fakeMemory) changes() map[uint64]uint64 {
	changed := map[uint64]uint64{}
	for i := range dataRegionSize / 8 {
		if w := binary.LittleEndian.Uint64(m.data[i*8:]); w != dataWord(i) {
			changed[dataRegion+uint64(i)*8] = w
		}
	}
	return changed
}

// randomRegs gives registers with the values that matter: addresses in the data region, small numbers, ends of the ranges of
// numbers, anything. The stack pointer is mostly good.
func randomRegs(rng *rand.Rand, rip uint64) UserRegs {
	var r UserRegs
	for _, i := range nativeOrder {
		r[i] = randomValue(rng)
	}
	if rng.IntN(8) != 0 {
		r[RSP] = dataRegion + 0x1000 + rng.Uint64N(0x200)*8
	}
	r[RIP] = rip
	r[EFlags] = 0x202 | rng.Uint64()&(arithmeticFlags|1<<10)
	return r
}

func randomValue(rng *rand.Rand) uint64 {
	switch rng.IntN(8) {
	case 0:
		return rng.Uint64()
	case 1:
		return rng.Uint64N(4)
	case 2:
		return 1<<(31+32*rng.UintN(2)) - 2 + rng.Uint64N(4)
	case 3:
		return -rng.Uint64N(300)
	case 4:
		return codeRegion + 0x1000 + rng.Uint64N(0x1000)*16
	default:
		return dataRegion + 0x400 + rng.Uint64N(0x600)*8
	}
}

// visibleFlags are the flags that an emulated or copied instruction can change.
const visibleFlags = arithmeticFlags | flagTrap | 1<<10
