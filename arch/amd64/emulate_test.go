package amd64

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
)

// operandShape says how random instances of a pattern get their operands.
type operandShape int

const (
	noOperands   operandShape = iota
	opcodeReg                 // the low bits of the opcode name a register
	twoRegisters              // ModRM with two registers
	memoryOnly                // ModRM with a memory operand
	either                    // ModRM with either
)

// pattern is a family of emulated encodings: prefixes, opcode, ModRM and immediate, of which random parts are filled in.
type pattern struct {
	name   string
	prefix []byte
	rex    bool // REX may be there, with any bits
	opcode []byte
	shape  operandShape
	ext    int // the reg field of ModRM; -1 for any
	imm    int // bytes; for a branch, of its relative target
	branch bool
}

// emulated has every form that is emulated.
func emulated() []pattern {
	list := []pattern{
		{name: "nop", opcode: []byte{0x90}},
		{name: "66 nop", prefix: []byte{0x66}, opcode: []byte{0x90}},
		{name: "nopw", prefix: []byte{0x66}, opcode: []byte{0x0f, 0x1f}, shape: either, ext: 0},
		{name: "cs nopw", prefix: []byte{0x66, 0x2e}, rex: true, opcode: []byte{0x0f, 0x1f}, shape: either, ext: 0},
		{name: "nopl", rex: true, opcode: []byte{0x0f, 0x1f}, shape: either, ext: -1},
		{name: "endbr64", opcode: []byte{0xf3, 0x0f, 0x1e, 0xfa}},
		{name: "endbr32", opcode: []byte{0xf3, 0x0f, 0x1e, 0xfb}},
		{name: "push r", rex: true, opcode: []byte{0x50}, shape: opcodeReg},
		{name: "pop r", rex: true, opcode: []byte{0x58}, shape: opcodeReg},
		{name: "push imm8", opcode: []byte{0x6a}, imm: 1},
		{name: "push imm32", opcode: []byte{0x68}, imm: 4},
		{name: "pushf", rex: true, opcode: []byte{0x9c}},
		{name: "push rm", rex: true, opcode: []byte{0xff}, shape: either, ext: 6},
		{name: "mov r,rm", rex: true, opcode: []byte{0x89}, shape: twoRegisters, ext: -1},
		{name: "mov rm,r", rex: true, opcode: []byte{0x8b}, shape: twoRegisters, ext: -1},
		{name: "ds mov", prefix: []byte{0x3e}, rex: true, opcode: []byte{0x8b}, shape: twoRegisters, ext: -1},
		{name: "mov imm,rm", rex: true, opcode: []byte{0xc7}, shape: twoRegisters, ext: 0, imm: 4},
		{name: "mov imm64,r", prefix: []byte{0x49}, opcode: []byte{0xb8}, shape: opcodeReg, imm: 8},
		{name: "mov imm32,r", opcode: []byte{0xb8}, shape: opcodeReg, imm: 4},
		{name: "test r", rex: true, opcode: []byte{0x85}, shape: twoRegisters, ext: -1},
		{name: "test imm,eax", rex: true, opcode: []byte{0xa9}, imm: 4},
		{name: "test imm,rm", rex: true, opcode: []byte{0xf7}, shape: twoRegisters, ext: 0, imm: 4},
		{name: "inc", rex: true, opcode: []byte{0xff}, shape: twoRegisters, ext: 0},
		{name: "dec", rex: true, opcode: []byte{0xff}, shape: twoRegisters, ext: 1},
		{name: "lea", rex: true, opcode: []byte{0x8d}, shape: memoryOnly, ext: -1},
		{name: "data16 lea", prefix: []byte{0x66, 0x48}, opcode: []byte{0x8d}, shape: memoryOnly, ext: -1},
		{name: "jmp rel8", opcode: []byte{0xeb}, imm: 1, branch: true},
		{name: "jmp rel32", opcode: []byte{0xe9}, imm: 4, branch: true},
		{name: "bnd jmp rel32", prefix: []byte{0xf2}, opcode: []byte{0xe9}, imm: 4, branch: true},
		{name: "jmp rm", rex: true, opcode: []byte{0xff}, shape: either, ext: 4},
		{name: "notrack jmp rm", prefix: []byte{0x3e}, rex: true, opcode: []byte{0xff}, shape: either, ext: 4},
		{name: "call rel32", rex: true, opcode: []byte{0xe8}, imm: 4, branch: true},
		{name: "addr32 call", prefix: []byte{0x67}, opcode: []byte{0xe8}, imm: 4, branch: true},
		{name: "data16 data16 call", prefix: []byte{0x66, 0x66, 0x48}, opcode: []byte{0xe8}, imm: 4, branch: true},
		{name: "call rm", rex: true, opcode: []byte{0xff}, shape: either, ext: 2},
		{name: "ret", opcode: []byte{0xc3}},
		{name: "rep ret", prefix: []byte{0xf3}, opcode: []byte{0xc3}},
		{name: "ret imm", opcode: []byte{0xc2}, imm: 2},
		{name: "loopne", rex: true, opcode: []byte{0xe0}, imm: 1, branch: true},
		{name: "loope", rex: true, opcode: []byte{0xe1}, imm: 1, branch: true},
		{name: "loop", rex: true, opcode: []byte{0xe2}, imm: 1, branch: true},
		{name: "jrcxz", rex: true, opcode: []byte{0xe3}, imm: 1, branch: true},
		{name: "leave", rex: true, opcode: []byte{0xc9}},
	}
	for kind := range 8 {
		name, base := fmt.Sprint("arithmetic ", kind), byte(kind<<3)
		list = append(list,
			pattern{name: name + " r,rm", rex: true, opcode: []byte{base | 1}, shape: twoRegisters, ext: -1},
			pattern{name: name + " rm,r", rex: true, opcode: []byte{base | 3}, shape: twoRegisters, ext: -1},
			pattern{name: name + " imm,eax", rex: true, opcode: []byte{base | 5}, imm: 4},
			pattern{name: name + " imm32", rex: true, opcode: []byte{0x81}, shape: twoRegisters, ext: kind, imm: 4},
			pattern{name: name + " imm8", rex: true, opcode: []byte{0x83}, shape: twoRegisters, ext: kind, imm: 1})
	}
	for c := range 16 {
		name := fmt.Sprint("jcc ", c)
		list = append(list,
			pattern{name: name + " rel8", opcode: []byte{byte(0x70 | c)}, imm: 1, branch: true},
			pattern{name: name + " rel32", opcode: []byte{0x0f, byte(0x80 | c)}, imm: 4, branch: true})
	}
	return list
}

// instance fills in the random parts. Only a memory operand relative to rip is aimed, at the data region.
func (p pattern) instance(rng *rand.Rand, at uint64) []byte {
	code := append([]byte(nil), p.prefix...)
	if p.rex && rng.IntN(3) != 0 {
		code = append(code, 0x40|byte(rng.IntN(16)))
	}
	code = append(code, p.opcode...)
	memory := p.shape == memoryOnly || p.shape == either && rng.IntN(2) == 0
	switch {
	case p.shape == opcodeReg:
		code[len(code)-1] |= byte(rng.IntN(8))
	case p.shape != noOperands:
		ext := byte(p.ext)
		if p.ext < 0 {
			ext = byte(rng.IntN(8))
		}
		code = appendOperand(code, rng, ext, memory, at, p.imm)
	}
	if p.branch {
		return appendDistance(code, rng, p.imm)
	}
	for range p.imm {
		code = append(code, byte(rng.IntN(256)))
	}
	if p.imm > 1 && rng.IntN(2) == 0 { // near zero, from either side
		sign := byte(-rng.IntN(2))
		for i := range p.imm - 1 {
			code[len(code)-1-i] = sign
		}
	}
	return code
}

// appendOperand appends ModRM, and SIB and displacement for a memory operand. behind is the number of bytes that follow.
func appendOperand(code []byte, rng *rand.Rand, reg byte, memory bool, at uint64, behind int) []byte {
	if !memory {
		return append(code, 0xc0|reg<<3|byte(rng.IntN(8)))
	}
	mod, rm, sib := byte(rng.IntN(3)), byte(rng.IntN(8)), byte(rng.IntN(256))
	if rng.IntN(4) == 0 {
		sib |= 4 << 3 // no index, so that the address is good more often
	}
	code = append(code, mod<<6|reg<<3|rm)
	if rm == 4 {
		code = append(code, sib)
	}
	switch {
	case mod == 0 && rm == 5:
		next := at + uint64(len(code)+4+behind)
		return binary.LittleEndian.AppendUint32(code, uint32(dataRegion+rng.Uint64N(0x800)*8-next))
	case mod == 1:
		return append(code, byte(rng.IntN(256))&^7)
	case mod == 2, mod == 0 && rm == 4 && sib&7 == 5:
		return binary.LittleEndian.AppendUint32(code, uint32(int32(rng.IntN(0x800)-0x400)&^7))
	}
	return code
}

// appendDistance appends the distance to a branch target, outside of the instruction and inside of the code region.
func appendDistance(code []byte, rng *rand.Rand, size int) []byte {
	if size == 1 {
		if rng.IntN(2) == 0 {
			return append(code, byte(rng.IntN(128)))
		}
		return append(code, byte(-32-rng.IntN(96)))
	}
	distance := int32(rng.IntN(0x8000))
	if rng.IntN(2) == 0 {
		distance = -distance - 32
	}
	return binary.LittleEndian.AppendUint32(code, uint32(distance))
}

// canonical reports whether an address has bit 47 in all higher bits.
func canonical(addr uint64) bool { return uint64(int64(addr<<16)>>16) == addr }

// TestEmulateAsProcessor compares Emulate with the processor, on random instances of every form and random registers.
// Where the processor faults Emulate must refuse, and nowhere else.
func TestEmulateAsProcessor(t *testing.T) {
	const at, instances = codeRegion + 0x20000, 150
	rng := rand.New(rand.NewPCG(1, 2))
	var cases []nativeCase
	var names []string
	for _, p := range emulated() {
		for range instances {
			cases = append(cases, nativeCase{regs: randomRegs(rng, at), code: p.instance(rng, at)})
			names = append(names, p.name)
		}
	}
	// Some hypervisors cannot let a program go on whose stack pointer is not canonical.
	odd := nativeCase{regs: randomRegs(rng, at), code: []byte{0x90}}
	odd.regs[RSP] = 1 << 62
	results := runNative(t, append(cases, odd))
	anyStack := results[len(cases)].left(&odd)
	t.Logf("the processor goes on with any stack pointer: %t", anyStack)
	faults := map[string]int{}
	for i, want := range results[:len(cases)] {
		if !anyStack && !canonical(cases[i].regs[RSP]) {
			continue
		}
		if !want.left(&cases[i]) {
			faults[names[i]]++
		}
		if diff := emulationDifference(cases[i], want); diff != "" {
			t.Errorf("%s, % x, with %x: %s", names[i], cases[i].code, cases[i].regs, diff)
		}
		if t.Failed() && i > 20*instances {
			t.FailNow()
		}
	}
	for name, n := range faults {
		if n > instances*9/10 {
			t.Errorf("%s: %d of %d cases fault, which leaves too few to compare", name, n, instances)
		}
	}
}

// emulationDifference emulates the case and says how that differs from what the processor did.
func emulationDifference(c nativeCase, want nativeResult) string {
	in, err := Decode(c.code, arch.Addr(c.regs[RIP]))
	if err != nil {
		return err.Error()
	}
	if !in.CanEmulate() || in.Len() != len(c.code) {
		return fmt.Sprintf("%d bytes, can emulate: %v", in.Len(), in.CanEmulate())
	}
	m, got := newFakeMemory(c.code, in.At()), c.regs
	done := in.Emulate(&got, m)
	if done != want.left(&c) {
		return fmt.Sprintf("emulated: %v, but the processor raised exception %d", done, want.exception)
	}
	if !done {
		return cmp.Diff(c.regs, got) + cmp.Diff(map[uint64]uint64{}, m.changes())
	}
	got[EFlags] &= visibleFlags
	want.regs[EFlags] &= visibleFlags
	return cmp.Diff(want.regs, got) + cmp.Diff(want.memory, m.changes())
}

// TestEmulateRefuses has the cases that the processor cannot show without a fault, or at all.
func TestEmulateRefuses(t *testing.T) {
	const at = 0x401000
	tests := []struct {
		name  string
		code  []byte
		set   func(*UserRegs)
		needs bool // done without the setting
	}{
		{"trap flag", []byte{0x90}, func(r *UserRegs) { r[EFlags] |= flagTrap }, true},
		{"alignment", []byte{0x50}, func(r *UserRegs) { r[EFlags] |= flagAlignment; r[RSP]++ }, true},
		{"no stack", []byte{0x50}, func(r *UserRegs) { r[RSP] = 0x10 }, true},
		{"no stack for a call", []byte{0xe8, 0, 0, 0, 0}, func(r *UserRegs) { r[RSP] = 8 }, true},
		{"target beyond user space", []byte{0xff, 0xe0}, func(r *UserRegs) { r[RAX] = 1 << 63 }, true},
		{"called target beyond user space", []byte{0xff, 0xd0}, func(r *UserRegs) { r[RAX] = userEnd }, true},
		{"no emulation", []byte{0x0f, 0xa2}, func(*UserRegs) {}, false}, // cpuid
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in, err := Decode(test.code, at)
			if err != nil {
				t.Fatal(err)
			}
			good := UserRegs{RSP: dataRegion + 0x100, EFlags: 0x202, RIP: at + 1}
			r := good
			if done := in.Emulate(&r, newFakeMemory(nil, 0)); done != test.needs {
				t.Errorf("without the setting: %v, want %v", done, test.needs)
			}
			r = good
			test.set(&r)
			before, m := r, newFakeMemory(nil, 0)
			if in.Emulate(&r, m) || r != before || m.writes != 0 {
				t.Errorf("emulated, or changed something: %x, %d writes", r, m.writes)
			}
		})
	}
}

// TestEmulateClearsResumeFlag: the flag would hide a hardware breakpoint on the next instruction.
func TestEmulateClearsResumeFlag(t *testing.T) {
	in, err := Decode([]byte{0x90}, 0x401000)
	if err != nil {
		t.Fatal(err)
	}
	r := UserRegs{EFlags: 0x202 | flagResume}
	if !in.Emulate(&r, nil) || r[EFlags] != 0x202 || r[RIP] != 0x401001 {
		t.Errorf("flags %#x, rip %#x", r[EFlags], r[RIP])
	}
}

// hotInstructions are what functions begin with, and the rarer ones that touch memory.
var hotInstructions = map[string][]byte{
	"push": {0x55},
	"mov":  {0x48, 0x89, 0xe5},
	"sub":  {0x48, 0x83, 0xec, 0x10},
	"lea":  {0x48, 0x8d, 0x44, 0x88, 0x10},
	"call": {0xe8, 0, 1, 0, 0},
	"jne":  {0x75, 0x10},
	"pop":  {0x5d},
}

func TestEmulateAllocatesNothing(t *testing.T) {
	var m Memory = newFakeMemory(nil, 0)
	for name, code := range hotInstructions {
		in, err := Decode(code, 0x401000)
		if err != nil {
			t.Fatal(err)
		}
		start := UserRegs{RSP: dataRegion + 0x100, EFlags: 0x202}
		var r UserRegs
		allocs := testing.AllocsPerRun(100, func() {
			r = start
			if !in.Emulate(&r, m) {
				t.Error("not emulated")
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}

func BenchmarkEmulate(b *testing.B) {
	var m Memory = newFakeMemory(nil, 0)
	for name, code := range hotInstructions {
		in, err := Decode(code, 0x401000)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			r := UserRegs{EFlags: 0x202}
			for b.Loop() {
				r[RSP] = dataRegion + 0x100
				if !in.Emulate(&r, m) {
					b.Fatal("not emulated")
				}
			}
		})
	}
}
