package amd64

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
)

func TestRelocate(t *testing.T) {
	const at = 0x401000
	tests := []struct {
		name, code string
		slot       arch.Addr
		want       string // empty: not ok
	}{
		{"no operand", "0f a2", 0x501000, "0f a2 e9 fb ff ef ff"},
		{"ahead", "8b 05 00 01 00 00", 0x301000, "8b 05 00 01 10 00 e9 fb ff 0f 00"},
		{"behind", "8b 05 00 01 00 00", 0x501000, "8b 05 00 01 f0 ff e9 fb ff ef ff"},
		{"immediate behind the operand", "81 3d 00 01 00 00 78 56 34 12", 0x501000,
			"81 3d 00 01 f0 ff 78 56 34 12 e9 fb ff ef ff"},
		{"vector", "c5 fa 6f 05 00 01 00 00", 0x501000, "c5 fa 6f 05 00 01 f0 ff e9 fb ff ef ff"},
		{"jump through memory", "ff 25 00 01 00 00", 0x501000, "ff 25 00 01 f0 ff e9 fb ff ef ff"},
		{"far slot", "0f a2", 0x7f0000001000, "0f a2 ff 25 00 00 00 00 02 10 40 00 00 00 00 00"},
		{"operand out of reach", "8b 05 00 01 00 00", 0x7f0000001000, ""},
		{"operand just out of reach", "8b 05 ff ff ff 7f", at - 1, ""},
		{"operand just in reach", "8b 05 fe ff ff 7f", at - 1, "8b 05 ff ff ff 7f e9 fc ff ff ff"},
		{"relative branch", "eb 00", 0x501000, ""},
		{"call", "ff d0", 0x501000, ""},
		{"syscall", "0f 05", 0x501000, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in, err := Decode(mustHex(t, test.code), at)
			if err != nil {
				t.Fatal(err)
			}
			code, resume, ok := in.Relocate(test.slot)
			if ok != (test.want != "") {
				t.Fatalf("ok is %v: % x", ok, code)
			}
			if diff := cmp.Diff(test.want, fmt.Sprintf("% x", code)); diff != "" {
				t.Error(diff)
			}
			if ok && resume != in.Len() {
				t.Errorf("resume at %d, want %d", resume, in.Len())
			}
		})
	}
}

func TestOriginalPC(t *testing.T) {
	in, err := Decode([]byte{0x48, 0x89, 0xe5}, 0x401000)
	if err != nil {
		t.Fatal(err)
	}
	const slot = 0x501000
	tests := []struct {
		pc, want arch.Addr
		ok       bool
	}{
		{slot, 0x401000, true},
		{slot + 3, 0x401003, true},
		{slot + 1, 0, false},
		{slot + 8, 0, false},
		{slot - 1, 0, false},
		{0x401000, 0, false},
	}
	for _, test := range tests {
		if got, ok := in.OriginalPC(slot, test.pc); got != test.want || ok != test.ok {
			t.Errorf("pc %v: %v, %v, want %v, %v", test.pc, got, ok, test.want, test.ok)
		}
	}
}

// Where the differential test runs originals and copies: a megabyte apart.
const (
	originalAt = codeRegion + 0x20000
	slotAt     = originalAt + 1<<20
)

// unrepeatable are the mnemonics of instructions that do not do the same twice, or that the test cannot do without: they
// read a clock or a random number, or change where the program's own variables are.
var unrepeatable = regexp.MustCompile(`rdtsc|rdrand|rdseed|rdpmc|cpuid|rdpid|fsbase|gsbase|%fs|%gs|pkru|xrstor|xsave`)

// TestRelocateAsProcessor runs the instructions of libc, each form once or a few times, in place and from a slot, with the
// same random registers. All that can be seen afterwards must agree.
func TestRelocateAsProcessor(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const perForm = 6
	seen := map[string]int{}
	var cases []nativeCase // an original and its copy, alternating
	var ins []*Instruction
	for _, d := range objdump(t, libc(t)) {
		in, err := Decode(retarget(d.code, originalAt, rng), originalAt)
		if err != nil || !in.CanRelocate() || unrepeatable.MatchString(d.text) {
			continue
		}
		if form := fmt.Sprint(mnemonic(d.text), len(d.code), in.dispAt); seen[form] < perForm {
			seen[form]++
			regs := randomRegs(rng, originalAt)
			regs[RCX] &= 0xff // counts of string instructions
			cases = append(cases, nativeCase{regs: regs, code: in.Code()}, copyCase(t, in, regs))
			ins = append(ins, in)
		}
	}
	if len(ins) < 1500 {
		t.Fatalf("only %d instructions to run", len(ins))
	}
	results := runNative(t, cases)
	completed, adjusted := 0, 0
	for i, in := range ins {
		original, copied := results[2*i], results[2*i+1]
		if pc, ok := in.OriginalPC(slotAt, arch.Addr(copied.regs[RIP])); ok {
			copied.regs[RIP] = uint64(pc)
		}
		if diff := cmp.Diff(original, copied, cmp.AllowUnexported(nativeResult{})); diff != "" {
			t.Errorf("%v, % x, with %x:\n%s", in, in.Code(), cases[2*i].regs, diff)
		}
		if original.left(&cases[2*i]) {
			completed++
			adjusted += min(int(in.dispAt), 1)
		}
	}
	t.Logf("%d instructions, %d complete, of which %d with an operand relative to the pc", len(ins), completed, adjusted)
	if completed < len(ins)*6/10 || adjusted < 200 {
		t.Error("too few complete")
	}
}

// retarget lets an operand relative to the pc lie in the data region, aligned as any instruction wants it.
func retarget(code []byte, at arch.Addr, rng *rand.Rand) []byte {
	in, err := Decode(code, at)
	if err != nil || in.dispAt == 0 {
		return code
	}
	code = append([]byte(nil), code...)
	disp := dataRegion + rng.Uint64N(0x80)*64 - uint64(in.Next())
	binary.LittleEndian.PutUint32(code[in.dispAt:], uint32(disp))
	return code
}

// copyCase is the case of the relocated copy.
func copyCase(t *testing.T, in *Instruction, regs UserRegs) nativeCase {
	t.Helper()
	code, _, ok := in.Relocate(slotAt)
	if !ok || len(code) > SlotSize {
		t.Fatalf("%v: ok %v, %d bytes", in, ok, len(code))
	}
	regs[RIP] = slotAt
	return nativeCase{regs: regs, code: code}
}

// TestForeign: of an unknown instruction the length is known, and so the way back from a copy.
func TestForeign(t *testing.T) {
	in := Foreign([]byte("\x0f\x38\xf9\x01"), 0x401000)
	if in.Len() != 4 || in.Next() != 0x401004 || in.CanEmulate() || in.CanRelocate() || in.Flow() != FlowNext {
		t.Errorf("%v of %d bytes, next at %v", in, in.Len(), in.Next())
	}
	if got, want := in.JumpBack(0x400004), []byte{0xe9, 0xfb, 0x0f, 0, 0}; !bytes.Equal(got, want) {
		t.Errorf("jump back % x, want % x", got, want)
	}
	if pc, ok := in.OriginalPC(0x400000, 0x400004); !ok || pc != 0x401004 {
		t.Errorf("behind the copy is %v, %v", pc, ok)
	}
}
