package arm64

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"

	"tracewell/arch"
	"tracewell/internal/test/testtool"
)

// code is an instruction as memory has it.
func code(word uint32) []byte { return binary.LittleEndian.AppendUint32(nil, word) }

func decode(t *testing.T, word uint32, at arch.Addr) *Instruction {
	t.Helper()
	in, err := Decode(code(word), at)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// text is the code of the C library of a cross compiler: what compilers and people write.
func text(t *testing.T) []byte {
	t.Helper()
	libc, err := testtool.Command(t, "aarch64-linux-gnu-gcc", "-print-file-name=libc.so.6").Output()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(strings.TrimSpace(string(libc)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// listed are lines of objdump: the word, and the instruction.
var listed = regexp.MustCompile(`^ *([0-9a-f]+):\t([0-9a-f]{8}) \t(\S+)\s*([^/<]*)`)

// disassemble has objdump print words as code that begins at 0, and calls f with each.
func disassemble(t *testing.T, words []byte, f func(at arch.Addr, word uint32, mnemonic, operands string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(path, words, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := testtool.Command(t, "aarch64-linux-gnu-objdump", "-D", "-z", "-b", "binary", "-m", "aarch64", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(out)) {
		if m := listed.FindStringSubmatch(line); m != nil {
			var at arch.Addr
			var word uint32
			fmt.Sscanf(m[1], "%x", &at)
			fmt.Sscanf(m[2], "%x", &word)
			f(at, word, m[3], strings.TrimSpace(m[4]))
			n++
		}
	}
	if n != len(words)/Length {
		t.Errorf("objdump has %d instructions of %d", n, len(words)/Length)
	}
}

// inPlace are the mnemonics of what must not be copied for another reason than an operand that counts from the pc.
var inPlace = regexp.MustCompile(`^(bl|blr|blra.*|svc|hvc|smc|brk|hlt|udf|dcps.|eret.*|drps|tstart|tcancel|(cpy|set)f?[gpme].*)$`)

// relative is an operand that is an address in the listing: a number that stands alone behind the registers.
var relative = regexp.MustCompile(`(^|, )0x[0-9a-f]+$`)

// relatives are the mnemonics that have such an operand.
var relatives = regexp.MustCompile(`^(b|b\.\w+|bc\.\w+|cbn?z|tbn?z|adrp?|ldr|ldrsw|prfm|reta[ab]sppc.*)$`)

// branches are the mnemonics of direct branches and calls.
var branches = regexp.MustCompile(`^(b|bl|b\.\w+|bc\.\w+|cbn?z|tbn?z)$`)

// TestAsObjdump holds the classes of instructions to what objdump prints, for all of the C library and for random words: whatever it
// shows with an address, and calls, traps and their like, is never copied, and all else that it knows can be. Direct branches and
// calls lead where it says.
func TestAsObjdump(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 0, 1<<20)
	for range cap(random) / Length {
		random = binary.LittleEndian.AppendUint32(random, r.Uint32())
	}
	for name, words := range map[string][]byte{"libc": text(t), "random": random} {
		wrong := 0
		var steps []Step
		Scan(words, 0, func(s Step) { steps = append(steps, s) })
		disassemble(t, words, func(at arch.Addr, word uint32, mnemonic, operands string) {
			in, step := decode(t, word, 0), steps[at/Length]
			if to := relative.FindString(operands); branches.MatchString(mnemonic) {
				var want uint64
				fmt.Sscanf(strings.TrimPrefix(to, ", "), "0x%x", &want)
				if uint64(step.Target) != want || step.Always != (mnemonic == "b") || (step.Flow == FlowCall) != (mnemonic == "bl") {
					t.Errorf("%s: %s %s: %+v", name, mnemonic, operands, step)
				}
			}
			unknown := mnemonic == ".inst" || mnemonic == ".word"
			counts := relatives.MatchString(mnemonic) && relative.MatchString(operands) || inPlace.MatchString(mnemonic)
			if unknown || in.CanRelocate() != counts {
				return
			}
			if wrong++; wrong <= 20 {
				t.Errorf("%s: %08x %s %s: reason %q", name, word, mnemonic, operands, in.Reason())
			}
		})
	}
}

// TestAsXArch asks golang.org/x/arch for a second opinion on operands that count from the pc.
func TestAsXArch(t *testing.T) {
	known := 0
	words := text(t)
	for i := 0; i+Length <= len(words); i += Length {
		inst, err := arm64asm.Decode(words[i:])
		if err != nil {
			continue
		}
		known++
		in := decode(t, binary.LittleEndian.Uint32(words[i:]), 0)
		for _, arg := range inst.Args {
			if _, ok := arg.(arm64asm.PCRel); ok && in.CanRelocate() {
				t.Errorf("% x, %v, can be copied", words[i:i+Length], inst)
			}
		}
	}
	if known < len(words)/Length*9/10 {
		t.Errorf("x/arch decodes %d of %d", known, len(words)/Length)
	}
}

// memory is a few words at an address.
type memory struct {
	at    arch.Addr
	bytes [64]byte
}

func (m *memory) Read(addr arch.Addr, b []byte) bool {
	if addr < m.at || addr+arch.Addr(len(b)) > m.at+arch.Addr(len(m.bytes)) {
		return false
	}
	copy(b, m.bytes[addr-m.at:])
	return true
}

func (m *memory) Write(addr arch.Addr, b []byte) bool {
	if addr < m.at || addr+arch.Addr(len(b)) > m.at+arch.Addr(len(m.bytes)) {
		return false
	}
	copy(m.bytes[addr-m.at:], b)
	return true
}

// TestEmulate executes instructions that stand under tracepoints. Each leaves BTYPE clear, and the bit of a single step as it was.
func TestEmulate(t *testing.T) {
	const at, sp = 0x40_0000, 0x8000
	for _, test := range []struct {
		name string
		word uint32
		want func(r *UserRegs) // what changes
	}{
		{"nop", 0xd503201f, func(*UserRegs) {}},
		{"bti c", 0xd503245f, func(*UserRegs) {}},
		{"b .+8", 0x14000002, func(r *UserRegs) { r[PC] = at + 8 }},
		{"bl .-4", 0x97ffffff, func(r *UserRegs) { r[PC], r[LR] = at-4, at+4 }},
		{"br x3", 0xd61f0060, func(r *UserRegs) { r[PC] = 0x5000 }},
		{"blr x3", 0xd63f0060, func(r *UserRegs) { r[PC], r[LR] = 0x5000, at+4 }},
		{"ret", 0xd65f03c0, func(r *UserRegs) { r[PC] = 0x6000 }},
		{"adrp x0, .", 0x90000000, func(r *UserRegs) { r[0] = at &^ 0xfff }},
		{"mov x29, sp", 0x910003fd, func(r *UserRegs) { r[FP] = sp }},
		{"stp x29, x30, [sp, -16]!", 0xa9bf7bfd, func(r *UserRegs) { r[SP] = sp - 16 }},
		{"ldp x29, x30, [sp], 16", 0xa8c17bfd, func(r *UserRegs) { r[FP], r[LR], r[SP] = 7, 8, sp+16 }},
		{"cmp x3, x3", 0xeb03007f, func(r *UserRegs) { r[PState] = r[PState]&^(0xf<<28) | 6<<28 }},
	} {
		in := decode(t, test.word, at)
		if !in.CanEmulate() {
			t.Errorf("%s is not emulated", test.name)
			continue
		}
		m := &memory{at: sp - 32}
		binary.LittleEndian.PutUint64(m.bytes[32:], 7)
		binary.LittleEndian.PutUint64(m.bytes[40:], 8)
		r := UserRegs{3: 0x5000, FP: 0x77, LR: 0x6000, SP: sp, PC: 1, PState: 2<<10 | 1<<12 | softwareStep}
		want := r
		want[PC], want[PState] = at+4, 1<<12|softwareStep
		test.want(&want)
		if !in.Emulate(&r, m) || r != want {
			t.Errorf("%s: registers %x, want %x", test.name, r, want)
		}
		if test.name[:3] == "stp" && !bytes.Equal(m.bytes[16:32], append(code64(0x77), code64(0x6000)...)) {
			t.Errorf("%s stored % x", test.name, m.bytes[16:32])
		}
	}
}

func code64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// TestRefuse has what must not be emulated: accesses whose addresses may be tagged, exclusive ones, traps; and a branch that would
// fault, which leaves everything as it was.
func TestRefuse(t *testing.T) {
	for name, word := range map[string]uint32{
		"ldr x0, [x1]": 0xf9400020, "ldr x0, [sp, x1]": 0xf8616be0, "ldaxr x3, [x0]": 0xc85ffc03, "svc #0": 0xd4000001,
		"brk #0": 0xd4200000, "udf #0": 0, "paciasp": 0xd503233f, "fmov d0, x0": 0x9e670000, "retaa": 0xd65f0bff,
	} {
		if decode(t, word, 0x1000).CanEmulate() {
			t.Errorf("%s is emulated", name)
		}
	}
	r := UserRegs{3: 0x5002, PState: 3 << 10}
	was := r
	if decode(t, 0xd63f0060, 0x1000).Emulate(&r, nil) || r != was {
		t.Errorf("blr to an odd address leaves %x", r)
	}
	if _, err := Decode([]byte{1, 2, 3}, 0x1000); err == nil {
		t.Error("three bytes are an instruction")
	}
}

// TestRelocate copies an instruction as far as a branch reaches, and no farther.
func TestRelocate(t *testing.T) {
	const at = arch.Addr(1 << 30)
	in := decode(t, 0x9e670000, at)
	for slot, want := range map[arch.Addr]uint32{
		at + 16: 0x17fffffc, at - Reach: 0, at - Reach + Length: 0x15ffffff, at + Reach: 0x16000000, at + Reach + Length: 0,
	} {
		copied, resume, ok := in.Relocate(slot)
		switch {
		case ok != (want != 0):
			t.Errorf("slot %s: ok %t", slot, ok)
		case ok && (resume != Length || !bytes.Equal(copied, append(code(0x9e670000), code(want)...))):
			t.Errorf("slot %s: copy % x, resume %d, want a branch %08x", slot, copied, resume, want)
		}
	}
}

// TestExclusive looks from every instruction of some sequences.
func TestExclusive(t *testing.T) {
	const (
		ldaxr, stlxr, ldxp, stxp = 0xc85ffc03, 0xc809fc02, 0xc87f1403, 0xc8291403
		casp, ldar, clrex        = 0x48207c82, 0xc8dffc03, 0xd5033f5f
		add, cbnz, ret, bne      = 0x91000462, 0x35ffffa9, 0xd65f03c0, 0x54000061
	)
	for _, test := range []struct {
		name        string
		words       []uint32
		first, last int // found strictly behind first, up to last; -1 for nothing
	}{
		{"addition", []uint32{add, ldaxr, add, stlxr, cbnz, add}, 1, 3},
		{"compare and swap", []uint32{ldaxr, add, bne, stlxr, cbnz, clrex, add}, 0, 3},
		{"pair", []uint32{add, ldxp, stxp, cbnz}, 1, 2},
		{"no store", []uint32{add, ldaxr, cbnz, add, ret}, -1, -1},
		{"ends", []uint32{ldaxr, ret, add, stlxr}, -1, -1},
		{"single ones", []uint32{casp, add, ldar, add, casp}, -1, -1},
	} {
		var around []byte
		for _, w := range test.words {
			around = append(around, code(w)...)
		}
		for i := range test.words {
			at := arch.Addr(0x1000 + Length*i)
			first, last, found := Exclusive(around, Length*i, at)
			if want := i > test.first && i <= test.last; found != want {
				t.Errorf("%s, instruction %d: found %t", test.name, i, found)
			} else if found && (first != arch.Addr(0x1000+Length*test.first) || last != arch.Addr(0x1000+Length*test.last)) {
				t.Errorf("%s, instruction %d: %s to %s", test.name, i, first, last)
			}
		}
	}
}
