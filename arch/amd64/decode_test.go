package amd64

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"tracewell/arch"
)

// way says how the displaced instruction is best given its effect.
func way(in *Instruction) string {
	switch {
	case in.CanEmulate() && in.CanRelocate():
		return "emulate or slot"
	case in.CanEmulate():
		return "emulate"
	case in.CanRelocate():
		return "slot"
	}
	return "step"
}

func mustHex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decodings has, for an instruction at 0x401000: bytes, text, ways on, flow and reason.
var decodings = []struct {
	code, text, way string
	flow            Flow
	reason          Reason
}{
	// What functions begin and end with.
	{"f3 0f 1e fa", "endbr64", "emulate or slot", FlowNext, Relocatable},
	{"f3 0f 1e fb", "endbr32", "emulate or slot", FlowNext, Relocatable},
	{"55", "push %rbp", "emulate or slot", FlowNext, Relocatable},
	{"41 57", "push %r15", "emulate or slot", FlowNext, Relocatable},
	{"5d", "pop %rbp", "emulate or slot", FlowNext, Relocatable},
	{"48 89 e5", "mov %rsp,%rbp", "emulate or slot", FlowNext, Relocatable},
	{"48 83 ec 18", "sub $0x18,%rsp", "emulate or slot", FlowNext, Relocatable},
	{"48 81 c4 88 00 00 00", "add $0x88,%rsp", "emulate or slot", FlowNext, Relocatable},
	{"48 c7 c0 2a 00 00 00", "mov $0x2a,%rax", "emulate or slot", FlowNext, Relocatable},
	{"b8 2a 00 00 00", "mov $0x2a,%eax", "emulate or slot", FlowNext, Relocatable},
	{"31 c0", "xor %eax,%eax", "emulate or slot", FlowNext, Relocatable},
	{"85 ff", "test %edi,%edi", "emulate or slot", FlowNext, Relocatable},
	{"48 8d 05 10 00 00 00", "lea 0x10(%rip),%rax", "emulate or slot", FlowNext, Relocatable},
	{"66 48 8d 3d 10 00 00 00", "data16 lea 0x10(%rip),%rdi", "emulate or slot", FlowNext, Relocatable},
	{"c9", "leaveq", "emulate or slot", FlowNext, Relocatable},
	{"c3", "retq", "emulate or slot", FlowReturn, Relocatable},
	{"f3 c3", "rep retq", "emulate or slot", FlowReturn, Relocatable},
	{"c2 08 00", "retq $0x8", "emulate or slot", FlowReturn, Relocatable},

	// All lengths of nop that assemblers use.
	{"90", "nop", "emulate or slot", FlowNext, Relocatable},
	{"66 90", "data16 nop", "emulate or slot", FlowNext, Relocatable},
	{"0f 1f 00", "nopl (%rax)", "emulate or slot", FlowNext, Relocatable},
	{"0f 1f 40 00", "nopl (%rax)", "emulate or slot", FlowNext, Relocatable},
	{"0f 1f 44 00 00", "nopl (%rax,%rax)", "emulate or slot", FlowNext, Relocatable},
	{"66 0f 1f 44 00 00", "nopw (%rax,%rax)", "emulate or slot", FlowNext, Relocatable},
	{"0f 1f 80 00 00 00 00", "nopl (%rax)", "emulate or slot", FlowNext, Relocatable},
	{"0f 1f 84 00 00 00 00 00", "nopl (%rax,%rax)", "emulate or slot", FlowNext, Relocatable},
	{"66 66 66 66 2e 0f 1f 84 00 00 00 00 00", "", "emulate or slot", FlowNext, Relocatable},
	{"41 90", "xchg %eax,%r8d", "slot", FlowNext, Relocatable},
	{"f3 90", "pause", "slot", FlowNext, Relocatable},
	{"0f 1e c0", "nop", "slot", FlowNext, Relocatable},
	{"f3 48 0f 1e c8", "rdssp", "slot", FlowNext, Relocatable},

	// Branches and calls.
	{"eb 10", "jmp 0x401012", "emulate", FlowJump, RelativeBranch},
	{"e9 00 01 00 00", "jmpq 0x401105", "emulate", FlowJump, RelativeBranch},
	{"74 fe", "je 0x401000", "emulate", FlowJump, RelativeBranch},
	{"0f 8f 00 00 00 00", "jg 0x401006", "emulate", FlowJump, RelativeBranch},
	{"e3 00", "jrcxz 0x401002", "emulate", FlowJump, RelativeBranch},
	{"67 e3 00", "jecxz 0x401003", "step", FlowJump, RelativeBranch},
	{"e2 00", "loop 0x401002", "emulate", FlowJump, RelativeBranch},
	{"67 e2 00", "", "step", FlowJump, RelativeBranch},
	{"66 eb 00", "", "step", FlowJump, RelativeBranch},
	{"e8 00 00 00 00", "callq 0x401005", "emulate", FlowCall, PushesAddress},
	{"67 e8 00 00 00 00", "", "emulate", FlowCall, PushesAddress},
	{"66 66 48 e8 00 00 00 00", "", "emulate", FlowCall, PushesAddress},
	{"ff d0", "call *%rax", "emulate", FlowCall, PushesAddress},
	{"ff 15 00 00 00 00", "callq *(%rip)", "emulate", FlowCall, PushesAddress},
	{"64 ff 10", "callq *%fs:(%rax)", "step", FlowCall, PushesAddress},
	{"66 ff d0", "", "step", FlowCall, PushesAddress},
	{"ff 18", "", "step", FlowCall, PushesAddress},
	{"ff e0", "jmp *%rax", "emulate or slot", FlowJump, Relocatable},
	{"ff 25 00 00 00 00", "jmpq *(%rip)", "emulate or slot", FlowJump, Relocatable},
	{"3e ff e0", "", "emulate or slot", FlowJump, Relocatable},
	{"64 ff 20", "jmpq *%fs:(%rax)", "slot", FlowJump, Relocatable},
	{"cb", "lretq", "slot", FlowReturn, Relocatable},

	// What is not emulated but copied.
	{"8b 05 00 01 00 00", "mov 0x100(%rip),%eax", "slot", FlowNext, Relocatable},
	{"64 48 8b 04 25 28 00 00 00", "mov %fs:0x28,%rax", "slot", FlowNext, Relocatable},
	{"66 89 c8", "mov %cx,%ax", "slot", FlowNext, Relocatable},
	{"66 50", "", "slot", FlowNext, Relocatable},
	{"67 8d 00", "", "slot", FlowNext, Relocatable},
	{"84 c0", "test %al,%al", "slot", FlowNext, Relocatable},
	{"f0 48 0f b1 0f", "lock cmpxchg %rcx,(%rdi)", "slot", FlowNext, Relocatable},
	{"f3 48 ab", "rep stos %rax,%es:(%rdi)", "slot", FlowNext, Relocatable},
	{"c5 f8 77", "vzeroupper", "slot", FlowNext, Relocatable},
	{"62 f1 7c 48 10 05 00 00 00 00", "", "slot", FlowNext, Relocatable},
	{"0f a2", "cpuid", "slot", FlowNext, Relocatable},
	{"0f 01 f9", "rdtscp", "slot", FlowNext, Relocatable},
	{"0f 01 ca", "clac", "slot", FlowNext, Relocatable},
	{"0f 01 cb", "stac", "slot", FlowNext, Relocatable},
	{"0f 01 ef", "wrpkru", "slot", FlowNext, Relocatable},
	{"f3 48 0f ae c0", "rdfsbase %rax", "slot", FlowNext, Relocatable},
	{"0f c7 f0", "rdrand %eax", "slot", FlowNext, Relocatable},
	{"f3 0f c7 f8", "rdpid", "slot", FlowNext, Relocatable},

	// What only works in its place.
	{"0f 05", "syscall", "step", FlowSyscall, EntersKernel},
	{"0f 34", "sysenter", "step", FlowSyscall, EntersKernel},
	{"cd 80", "int $0x80", "step", FlowSyscall, EntersKernel},
	{"cc", "int3", "step", FlowNext, Traps},
	{"f1", "icebp", "step", FlowNext, Traps},
	{"0f 0b", "ud2", "step", FlowNext, Traps},
	{"0f b9 c0", "", "step", FlowNext, Traps},
	{"f4", "hlt", "step", FlowNext, System},
	{"0f 01 d1", "", "step", FlowNext, System},
	{"48 cf", "iretq", "step", FlowJump, ReturnsFromTrap},
	{"9d", "popfq", "step", FlowNext, SetsTrapFlag},
	{"c7 f8 00 00 00 00", "", "step", FlowJump, Transaction},
	{"c6 f8 01", "xabort $0x1", "step", FlowNext, Transaction},
	{"0f 01 d5", "xend", "step", FlowNext, Transaction},
	{"d9 e8", "fld1", "step", FlowNext, RecordsAddress},
	{"67 8b 05 00 00 00 00", "", "step", FlowNext, NarrowAddress},
}

func TestDecode(t *testing.T) {
	for _, want := range decodings {
		code := mustHex(t, want.code)
		in, err := Decode(append(code, 0x90, 0x90), 0x401000)
		if err != nil {
			t.Errorf("%s: %v", want.code, err)
			continue
		}
		if in.Len() != len(code) || in.Next() != 0x401000+arch.Addr(len(code)) {
			t.Errorf("%s: length %d", want.code, in.Len())
		}
		if got := in.String(); want.text != "" && got != want.text {
			t.Errorf("%s: text %q, want %q", want.code, got, want.text)
		}
		if way(in) != want.way || in.Flow() != want.flow || in.Reason() != want.reason {
			t.Errorf("%s: %s, flow %v, reason %q; want %s, %v, %q",
				want.code, way(in), in.Flow(), in.Reason(), want.way, want.flow, want.reason)
		}
		if shadow := want.flow == FlowCall || want.flow == FlowReturn; in.WritesShadowStack() != shadow {
			t.Errorf("%s: WritesShadowStack is %v", want.code, !shadow)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	tests := []struct{ code, cause string }{
		{"", "ends early"},
		{"48", "ends early"},
		{"e8 00 00 00", "ends early"},
		{"48 b8 00 00 00 00 00 00 00", "ends early"},
		{"66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", "longer than 15 bytes"},
		{"06", "not an opcode in 64-bit mode"},
		{"9a 00 00 00 00 00 00", "not an opcode in 64-bit mode"},
		{"0f 04", "not an opcode in 64-bit mode"},
		{"66 e8 00 00 00 00", "a branch with an operand-size prefix, whose length differs between vendors"},
		{"66 c5 f8 77", "a prefix that VEX and EVEX exclude"},
		{"48 c5 f8 77", "a prefix that VEX and EVEX exclude"},
		{"0f 20 74 6c 2b", "its length is doubtful, 3 or 5 bytes"}, // mov %cr6,%rsp whatever the mod field says
		{"0f 38 f6 00", "not a known instruction"},
		{"48 66 b8 00 00 00 00", "not a known instruction"}, // a REX that counts for nothing
	}
	for _, test := range tests {
		code := mustHex(t, test.code)
		in, err := Decode(code, 0x401000)
		var decodeError *DecodeError
		if !errors.As(err, &decodeError) || decodeError.Cause != test.cause || decodeError.At != 0x401000 {
			t.Errorf("%s: %v, error %v, want cause %q", test.code, in, err, test.cause)
		}
	}
	_, err := Decode([]byte{0x0f, 0x04}, 0x401000)
	if want := "decode the instruction at 0x401000, bytes 0f 04: not an opcode in 64-bit mode"; err.Error() != want {
		t.Errorf("message %q, want %q", err, want)
	}
}

// TestGapsAreGaps: a gap that golang.org/x/arch has closed should leave the table.
func TestGapsAreGaps(t *testing.T) {
	samples := map[string]string{
		"endbr64": "f3 0f 1e fa", "endbr32": "f3 0f 1e fb", "rdssp": "f3 0f 1e c8", "nop": "0f 1e c0",
		"clac": "0f 01 ca", "stac": "0f 01 cb", "serialize": "0f 01 e8", "rdpkru": "0f 01 ee", "wrpkru": "0f 01 ef",
		"incssp": "f3 48 0f ae e9", "rdseed": "0f c7 f8", "rdpid": "f3 0f c7 f8", "vzeroupper": "c5 f8 77",
	}
	for _, g := range gaps {
		code := mustHex(t, samples[g.name])
		if inst, err := x86asm.Decode(append(code, 0x90, 0x90), 64); err == nil && inst.Len == len(code) {
			t.Errorf("%s: golang.org/x/arch decodes % x as %v", g.name, code, inst)
		}
		if in, err := Decode(code, 0); err != nil || in.Len() != len(code) {
			t.Errorf("%s: % x: %v", g.name, code, err)
		}
	}
}

func TestISA(t *testing.T) {
	if ISA.Machine.Breakpoint[0] != opcodeInt3 || ISA.AddrSize != 8 || ISA.Machine.TrapShift != 1 || ISA.Name != "i386:x86-64" {
		t.Errorf("%+v", ISA)
	}
	for reg, index := range map[arch.Reg]int{ISA.PC: RIP, ISA.SP: RSP, ISA.FP: RBP, 1: RBX, 17: EFlags, 23: GS} {
		if got, ok := RemoteIndex(reg); !ok || got != index {
			t.Errorf("remote register %d has index %d, %v, want %d", reg, got, ok, index)
		}
	}
	for _, reg := range []arch.Reg{-1, 24, 1000} {
		if _, ok := RemoteIndex(reg); ok {
			t.Errorf("remote register %d has an index", reg)
		}
	}
}
