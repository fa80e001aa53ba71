//go:build linux && amd64

package fast

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/cpuid"
	"tracewell/internal/sys"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

// TestAllRegisters compares every register of a block with what ptrace says of it, the vectors and the x87 stack holding random
// bits.
func TestAllRegisters(t *testing.T) {
	v := newVictim(t)
	layout := layoutHere(t)
	rng := rand.New(rand.NewPCG(11, 12))
	for _, length := range []int{layout.Size, layout.Size - 100, coreSize, 17 * 8, 100, 8 * 16, 500} {
		registers, err := NewRegisters(layout, length, Processor{AVX512BW: has(t, "avx512bw"), RDFSBase: true, XGETBV1: has(t, "xgetbv1")})
		if err != nil {
			t.Fatal(err)
		}
		arena := v.arena
		pad, err := Build(&Site{Arena: &arena, Index: 1, Addr: siteAddr, Pad: padAddr, Registers: registers,
			Tracepoints: []Tracepoint{tracepoint(t, 1, "", "R")}, Next: siteAddr + arch.Addr(len(moved)),
			Displace: func(arch.Addr) ([]byte, error) { return moved, nil }})
		if err != nil {
			t.Fatal(err)
		}
		v.WriteMemory(padAddr, pad.Code)
		v.WriteMemory(siteAddr+arch.Addr(len(moved)), []byte{0xcc})
		for range 20 {
			reader := v.begin()
			reader.Define(pad.Slots)
			v.control.SwitchOn()
			v.control.Enable(1, true)
			regs := v.registers()
			for i := range regs[:amd64.RDI+1] {
				regs[i] = rng.Uint64()
			}
			regs[amd64.OrigRAX], regs[amd64.RSP], regs[amd64.RIP] = ^uint64(0), stackRegion+stackSize/2, padAddr
			v.setRegisters(regs)
			state := v.randomState(rng)
			before := v.registers()
			if signal := v.resume(sys.Cont); signal != sigTrap {
				t.Fatalf("signal %d", signal)
			}
			after := v.extendedState()
			if sameInUse(state, after) {
				copy(after[inUseAt:][:8], state[inUseAt:])
			}
			for i, b := range after {
				if b != state[i] {
					t.Errorf("the pad has changed the extended state at %d from %#x to %#x", i, state[i], b)
				}
			}
			var block []byte
			_, err := reader.Drain(1<<20, each(func(r *Record) { block = bytes.Clone(r.Frames[frameHeader+1:]) }))
			if err != nil {
				t.Fatal(err)
			}
			if len(block) != length {
				t.Fatalf("%d bytes, want %d", len(block), length)
			}
			want := blockOf(t, layout, length, &before, state)
			for i := range layout.Slots {
				s := &layout.Slots[i]
				if s.Offset+s.Size > length {
					break
				}
				if got, want := block[s.Offset:][:s.Size], want[s.Offset:][:s.Size]; !bytes.Equal(got, want) {
					t.Errorf("block of %d bytes: %s is % x, want % x", length, s.Reg.Name, got, want)
				}
			}
		}
	}
}

// layoutHere is the layout of all registers that this processor has.
func layoutHere(t testing.TB) *tdesc.Layout {
	t.Helper()
	m := machine.LinuxAMD64
	m.AVX, m.AVX512, m.PKU = has(t, "avx"), has(t, "avx512f"), has(t, "pku")
	layout, err := m.Target().Layout()
	if err != nil {
		t.Fatal(err)
	}
	return layout
}

// blockOf is the register block by what ptrace says.
func blockOf(t testing.TB, layout *tdesc.Layout, length int, regs *amd64.UserRegs, state []byte) []byte {
	t.Helper()
	block := make([]byte, length)
	for i := range layout.Slots {
		if s := &layout.Slots[i]; s.Offset+s.Size <= length {
			copy(block[s.Offset:][:s.Size], valueOf(t, s.Reg.Name, regs, state))
		}
	}
	return block
}

// extendedState is the save area that ptrace shows.
func (v *victim) extendedState() []byte {
	state := make([]byte, 1<<14)
	n, err := sys.GetRegSet(v.pid, sys.RegSetXState, state)
	if err != nil {
		v.t.Fatal(err)
	}
	return state[:n]
}

// Where the save area has which components are enabled and in use; those above are the vectors and masks.
const (
	xcr0At  = 464
	inUseAt = 512
)

var components = []int{2, 5, 6, 7}

// sameInUse reports whether save areas differ in nothing but components of zeros that count as in use in one of them: a processor may
// take such a one for used.
func sameInUse(a, b []byte) bool {
	differ := binary.LittleEndian.Uint64(a[inUseAt:]) ^ binary.LittleEndian.Uint64(b[inUseAt:])
	for _, n := range components {
		if differ>>n&1 != 0 {
			c := cpuid.StateComponent(n)
			if !bytes.Equal(a[c.Offset:][:c.Size], make([]byte, c.Size)) {
				return false
			}
			differ &^= 1 << n
		}
	}
	return differ == 0
}

// randomState fills those of the vectors that it has be in use and the x87 stack with random bits, and returns the save area.
func (v *victim) randomState(rng *rand.Rand) []byte {
	state := v.extendedState()
	fill := func(offset, n int) {
		for i := range n {
			state[offset+i] = byte(rng.Uint32())
		}
	}
	enabled := binary.LittleEndian.Uint64(state[xcr0At:])
	inUse := enabled & 0x203
	for _, n := range components {
		if enabled>>n&1 != 0 {
			c := cpuid.StateComponent(n)
			clear(state[c.Offset:][:c.Size])
		}
		inUse |= enabled & (rng.Uint64N(2) << n)
	}
	// The kernel keeps what a component held that is no longer in use, and a Zen 5 may bring that back at a context switch. So each
	// holds zeros first.
	binary.LittleEndian.PutUint64(state[inUseAt:], enabled&0x2e7)
	if err := sys.SetRegSet(v.pid, sys.RegSetXState, state); err != nil {
		v.t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(state[inUseAt:], inUse)
	state[2], state[3], state[4] = 0, byte(rng.Uint32())&0x38, byte(rng.Uint32()) // the status word's top, the abridged tags
	for i := range 8 {
		fill(32+16*i, 10)
		if rng.IntN(3) == 0 {
			clear(state[32+16*i:][:10])
		}
	}
	fill(160, 256)
	for _, n := range components {
		if inUse>>n&1 != 0 {
			c := cpuid.StateComponent(n)
			fill(c.Offset, c.Size)
		}
	}
	if err := sys.SetRegSet(v.pid, sys.RegSetXState, state); err != nil {
		v.t.Fatal(err)
	}
	return v.extendedState()
}

// valueOf is a register by what ptrace says.
func valueOf(t testing.TB, name string, regs *amd64.UserRegs, state []byte) []byte {
	t.Helper()
	general := map[string]int{"rax": amd64.RAX, "rbx": amd64.RBX, "rcx": amd64.RCX, "rdx": amd64.RDX, "rsi": amd64.RSI,
		"rdi": amd64.RDI, "rbp": amd64.RBP, "rsp": amd64.RSP, "r8": amd64.R8, "r9": amd64.R9, "r10": amd64.R10, "r11": amd64.R11,
		"r12": amd64.R12, "r13": amd64.R13, "r14": amd64.R14, "r15": amd64.R15, "eflags": amd64.EFlags, "cs": amd64.CS, "ss": amd64.SS,
		"ds": amd64.DS, "es": amd64.ES, "fs": amd64.FS, "gs": amd64.GS, "fs_base": amd64.FSBase, "gs_base": amd64.GSBase,
		"orig_rax": amd64.OrigRAX}
	if i, ok := general[name]; ok {
		return binary.LittleEndian.AppendUint64(nil, regs[i])
	}
	at := func(component, offset, n int) []byte {
		if component > 0 {
			offset += cpuid.StateComponent(component).Offset
		}
		return state[offset:][:n]
	}
	switch name {
	case "rip":
		return binary.LittleEndian.AppendUint64(nil, siteAddr)
	case "fctrl":
		return at(0, 0, 2)
	case "fstat":
		return at(0, 2, 2)
	case "ftag":
		return tagWord(state)
	case "fop":
		return at(0, 6, 2)
	case "fioff":
		return at(0, 8, 4)
	case "fiseg":
		return at(0, 12, 2)
	case "fooff":
		return at(0, 16, 4)
	case "foseg":
		return at(0, 20, 2)
	case "mxcsr":
		return at(0, 24, 4)
	case "pkru":
		return at(9, 0, 4)
	}
	var n int
	for format, find := range map[string]func() []byte{
		"st%d":  func() []byte { return at(0, 32+16*n, 10) },
		"k%d":   func() []byte { return at(5, 8*n, 8) },
		"xmm%d": func() []byte { return pick(n, at(0, 160+16*(n&15), 16), func() []byte { return at(7, 64*(n-16), 16) }) },
		"ymm%dh": func() []byte {
			return pick(n, at(2, 16*(n&15), 16), func() []byte { return at(7, 64*(n-16)+16, 16) })
		},
		"zmm%dh": func() []byte {
			return pick(n, at(6, 32*(n&15), 32), func() []byte { return at(7, 64*(n-16)+32, 32) })
		},
	} {
		if _, err := fmt.Sscanf(name, format, &n); err == nil && fmt.Sprintf(format, n) == name {
			return find()
		}
	}
	t.Fatalf("no register %s", name)
	return nil
}

// pick is low for the first 16 registers of a bank.
func pick(n int, low []byte, high func() []byte) []byte {
	if n < 16 {
		return low
	}
	return high()
}

// tagWord is the full tag word, by the processor's manual: 0 valid, 1 zero, 2 special, 3 empty.
func tagWord(state []byte) []byte {
	var tag uint16
	for st := range 8 {
		physical := (int(state[3]>>3&7) + st) & 7
		kind := uint16(3)
		if state[4]>>physical&1 != 0 {
			mantissa, exponent := binary.LittleEndian.Uint64(state[32+16*st:]), binary.LittleEndian.Uint16(state[40+16*st:])&0x7fff
			switch {
			case mantissa == 0 && exponent == 0:
				kind = 1
			case exponent == 0x7fff, exponent == 0, mantissa>>63 == 0:
				kind = 2
			default:
				kind = 0
			}
		}
		tag |= kind << (2 * physical)
	}
	return binary.LittleEndian.AppendUint16(nil, tag)
}
