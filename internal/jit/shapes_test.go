//go:build linux && amd64

package jit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/arch/x86/x86asm"

	"tracewell/arch"
	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
)

// assemble makes a program of its text form, in which semicolons stand for line ends.
func assemble(t testing.TB, text string) *ax.Program {
	t.Helper()
	code, err := ax.Assemble(strings.ReplaceAll(text, ";", "\n"))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	p, err := ax.Decode(code)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// simple is an Env of registers in their places, rax and rcx for scratch, and variables at 0x5000.
func simple(a *asm.Assembler) *Env {
	failed := a.NewLabel()
	return &Env{
		Scratch: []asm.Reg{asm.RAX, asm.RCX},
		Register: func(r arch.Reg) Place {
			switch {
			case r == 7:
				return Sum(asm.RSP, 0x90)
			case r < 16 && hardware[r] != asm.RAX && hardware[r] != asm.RCX:
				return In(hardware[r])
			case r < 16:
				return Stored(8, asm.At(asm.RSP, 8*int32(r)))
			case r == 16:
				return Known(0x401000)
			}
			return Place{}
		},
		Variable: func(n uint16) Place { return Stored(8, asm.Abs(0x5000+8*arch.Addr(n))) },
		Failed:   func(*ax.Error) asm.Label { return failed },
	}
}

// TestShapes shows the code of what GDB makes of usual conditions, with $rdi and others in their registers.
func TestShapes(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{
			"$rdi == 5",
			"reg 5;const8 5;equal;end",
			"cmp rdi, 0x5; jnz false",
		},
		{
			"$rdi != $rsi",
			"reg 5;reg 4;equal;log_not;end",
			"cmp rdi, rsi; jz false",
		},
		{
			"$rax > 5: $rax is saved",
			"reg 0;const8 5;swap;less_signed;end",
			"cmp qword ptr [rsp], 0x5; jle false",
		},
		{
			"*(int *) ($rdi + 8) == 3",
			"reg 5;const8 8;add;ref32;ext 32;const8 3;equal;end",
			"movsxd rax, dword ptr [rdi+0x8]; cmp rax, 0x3; jnz false",
		},
		{
			"a local of a frame with rbp: x != 3",
			"reg 6;const8 16;add;const8 220;ext 8;add;ref32;ext 32;const8 3;equal;log_not;end",
			"movsxd rax, dword ptr [rbp-0x14]; cmp rax, 0x3; jz false",
		},
		{
			"a local relative to rsp",
			"reg 7;const8 12;add;ref8;end",
			"movzx eax, byte ptr [rsp+0x9c]; test rax, rax; jz false",
		},
		{
			"a global of a program that is not relocated: (n & 8) == 7",
			"const32 0x404040;ref32;const8 8;bit_and;const8 7;equal;end",
			"mov eax, dword ptr [0x404040]; and rax, 0x8; cmp rax, 0x7; jnz false",
		},
		{
			"$pc == 0x401000 is known",
			"reg 16;const32 0x401000;equal;end",
			"",
		},
		{
			"$n++ & 1",
			"getv 1;const8 1;add;setv 1;const8 1;bit_and;end",
			"mov rax, qword ptr [rip+0x4001]; lea rax, ptr [rax+0x1]; mov qword ptr [rip+0x3ff6], rax; and rax, 0x1; test rax, rax; jz false",
		},
		{
			"$rdi == 1 || $rsi == 2",
			"reg 5;const8 1;equal;if_goto yes;reg 4;const8 2;equal;if_goto yes;const8 0;goto out;yes: const8 1;out: end",
			"cmp rdi, 0x1; jz true; cmp rsi, 0x2; jz true; jmp false",
		},
		{
			"$rdi == 1 && $rsi == 2",
			"reg 5;const8 1;equal;if_goto on;goto no;on: reg 4;const8 2;equal;if_goto yes;goto no;" +
				"yes: const8 1;goto out;no: const8 0;out: end",
			"cmp rdi, 0x1; jnz 0x19; cmp rsi, 0x2; jnz 0x19; jmp true; jmp false",
		},
		{
			"*(char *) (8 + $rdi)",
			"const8 8;reg 5;add;ref8;ext 8;end",
			"movsx rax, byte ptr [rdi+0x8]; test rax, rax; jz false",
		},
		{
			"$rdi ? $rdx == 2 : $rsi == 1",
			"reg 5;if_goto yes;reg 4;const8 1;equal;goto out;yes: reg 3;const8 2;equal;out: end",
			"test rdi, rdi; jnz 0x18; cmp rsi, 0x1; jnz false; jmp true; cmp rdx, 0x2; jnz false",
		},
	} {
		a := asm.New(0x1000)
		e := simple(a)
		otherwise := a.NewLabel()
		p := assemble(t, test.text)
		if err := Condition(a, e, p, otherwise); err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		length := a.Len()
		a.Int3()
		a.Bind(otherwise)
		a.Bind(e.Failed(nil))
		code, err := a.Finish()
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(listing(t, code[:length], length), "; ")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// listing disassembles code. Jumps to its end are to "true", and those to the byte behind are to "false".
func listing(t *testing.T, code []byte, length int) (list []string) {
	t.Helper()
	for at := 0; at < len(code); {
		in, err := x86asm.Decode(code[at:], 64)
		if err != nil {
			t.Fatalf("% x: %v", code[at:], err)
		}
		at += in.Len
		text := strings.ToLower(x86asm.IntelSyntax(in, uint64(at-in.Len), nil))
		for _, arg := range in.Args {
			rel, ok := arg.(x86asm.Rel)
			mnemonic, _, _ := strings.Cut(text, " ")
			switch {
			case ok && at+int(rel) == length:
				text = mnemonic + " true"
			case ok && at+int(rel) == length+1:
				text = mnemonic + " false"
			}
		}
		list = append(list, text)
	}
	return list
}

// BenchmarkCondition compiles a local variable compared with a constant.
func BenchmarkCondition(b *testing.B) {
	p := assemble(b, "reg 6;const8 16;add;const8 220;ext 8;add;ref32;ext 32;const8 3;equal;log_not;end")
	for b.Loop() {
		a := asm.New(0x1000)
		if err := Condition(a, simple(a), p, a.NewLabel()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestOnlyRecorded has a variable recorded whose value nobody uses, and finds that it is not read.
func TestOnlyRecorded(t *testing.T) {
	const variable = 5
	for _, test := range []struct {
		source string
		reads  int
	}{
		{"getv 5;tracev 5;pop;end", 0},
		{"getv 5;tracev 5;end", 1},
		{"getv 5;pop;tracev 5;end", 1},
	} {
		reads, recorded := 0, 0
		e := &Env{
			Scratch:       []asm.Reg{asm.RAX},
			Variable:      func(uint16) Place { return Computed(func(asm.Reg) { reads++ }) },
			TraceVariable: func(n uint16) error { recorded += int(n); return nil },
		}
		if err := Run(asm.New(0), e, assemble(t, test.source)); err != nil || reads != test.reads || recorded != variable {
			t.Errorf("%q: read %d times, want %d; recorded %d; %v", test.source, reads, test.reads, recorded, err)
		}
	}
}
