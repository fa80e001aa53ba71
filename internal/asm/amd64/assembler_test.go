package asm

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"tracewell/arch"
)

// TestLabels jumps forwards and backwards by every instruction that names a label, over every distance near the limit of a short
// displacement, and has x/arch say where that leads.
func TestLabels(t *testing.T) {
	jumps := map[string]func(a *Assembler, l Label){
		"jmp":       (*Assembler).Jmp,
		"jmp short": (*Assembler).JmpShort,
		"call":      (*Assembler).Call,
		"jcc":       func(a *Assembler, l Label) { a.Jcc(CondLE, l) },
		"jcc short": func(a *Assembler, l Label) { a.JccShort(CondLE, l) },
		"lea":       func(a *Assembler, l Label) { a.Lea(RDX, Near(l, 0)) },
		"cmp":       func(a *Assembler, l Label) { a.ArithImm(Cmp, 8, Near(l, 0), 0x1234567) }, // bytes behind the displacement
	}
	for name, jump := range jumps {
		for _, back := range []bool{false, true} {
			for _, distance := range []int{0, 1, 100, 120, 127, 128, 200, 70_000} {
				a := New(0x7fff_0000_0000)
				l := a.NewLabel()
				if back {
					a.Bind(l)
					a.Nop(distance)
				}
				from := a.Len()
				jump(a, l)
				end := a.Len()
				if !back {
					a.Nop(distance)
					a.Bind(l)
				}
				a.Ret()
				d := a.Offset(l) - end
				code, err := a.Finish()
				if reach := !strings.Contains(name, "short") || d >= -128 && d <= 127; !reach {
					if err == nil || !strings.Contains(err.Error(), "out of reach") {
						t.Errorf("%s over %d bytes: %v", name, d, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				in, err := x86asm.Decode(code[from:], 64)
				if err != nil || in.Len != end-from {
					t.Fatalf("% x: %v, %v", code[from:end], in, err)
				}
				if got := displacement(in); got != int64(d) {
					t.Errorf("%s: %v leads %d bytes on, want %d", name, in, got, d)
				}
			}
		}
	}
}

// displacement is what an instruction adds to the address of the next.
func displacement(in x86asm.Inst) int64 {
	for _, arg := range in.Args {
		switch v := arg.(type) {
		case x86asm.Rel:
			return int64(v)
		case x86asm.Mem:
			return int64(int32(v.Disp))
		}
	}
	return -1
}

// TestMistakes checks that what cannot be encoded is an error and not another instruction.
func TestMistakes(t *testing.T) {
	for want, emit := range map[string]func(a *Assembler){
		"rsp cannot be an index":         func(a *Assembler) { a.Lea(RAX, Index(RAX, RSP, 1, 0)) },
		"cannot be multiplied by 3":      func(a *Assembler) { a.Lea(RAX, Index(RAX, RCX, 3, 0)) },
		"cannot be multiplied by 0":      func(a *Assembler) { a.Lea(RAX, Index(RAX, RCX, 0, 0)) },
		"cannot be multiplied by 16":     func(a *Assembler) { a.Lea(RAX, Index(RAX, RCX, 16, 0)) },
		"Reg(16) or":                     func(a *Assembler) { a.Lea(RAX, At(16, 0)) },
		"Reg(255) is no operand":         func(a *Assembler) { a.Mov(8, RAX, NoReg) },
		"Reg(17) is no operand":          func(a *Assembler) { a.Mov(8, 17, RAX) },
		"Reg(18) is no operand":          func(a *Assembler) { a.Push(Reg(18)) },
		"Reg(19) is no operand":          func(a *Assembler) { a.Bswap(8, 19) },
		"Reg(20) is no operand":          func(a *Assembler) { a.MovImm(20, 1) },
		"has 3 bytes":                    func(a *Assembler) { a.Arith(Add, 3, RAX, RCX) },
		"has 16 bytes":                   func(a *Assembler) { a.Mov(16, RAX, RCX) },
		"no form for bytes":              func(a *Assembler) { a.Imul(1, RAX, RCX) },
		"bswap has no width of 2":        func(a *Assembler) { a.Bswap(2, RAX) },
		"no segment register 6":          func(a *Assembler) { a.MovSeg(RAX, 6) },
		"register 16 needs another":      func(a *Assembler) { a.MovupsStore(At(RAX, 0), 16) },
		"register 17 needs another":      func(a *Assembler) { a.Vextractf128(At(RAX, 0), 17, 1) },
		"no vector register 32":          func(a *Assembler) { a.VmovdquStore(64, At(RAX, 0), 32) },
		"no vectors of 8 bytes":          func(a *Assembler) { a.VmovdquStore(8, At(RAX, 0), 1) },
		"no vectors of 16 bytes":         func(a *Assembler) { a.Vextracti32x4(16, At(RAX, 0), 1, 0) },
		"kmov of 4 bytes":                func(a *Assembler) { a.KmovStore(4, At(RAX, 0), 1) },
		"kmov of 8 bytes of mask":        func(a *Assembler) { a.KmovStore(8, At(RAX, 0), 8) },
		"0x100000000 is out of reach":    func(a *Assembler) { a.Mov(8, RAX, Abs(0x1_0000_0000)) },
		"0x7fff00000000 is out of reach": func(a *Assembler) { a.JmpTo(0x7fff_0000_0000) },
		"bound nowhere":                  func(a *Assembler) { a.Jmp(a.NewLabel()) },
		"is bound at offset 0x0 already": func(a *Assembler) { a.Bind(a.Here()) },
	} {
		a := New(0x1000)
		emit(a)
		a.Ret()
		if _, err := a.Finish(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestFirstMistake checks that a mistake is not hidden by a later one.
func TestFirstMistake(t *testing.T) {
	a := New(0)
	a.Bswap(1, RAX)
	a.JmpTo(1 << 60)
	a.Jmp(a.NewLabel())
	if _, err := a.Finish(); err == nil || !strings.Contains(err.Error(), "bswap") {
		t.Error(err)
	}
}

// TestPlus moves operands of each kind.
func TestPlus(t *testing.T) {
	a := New(0x1000)
	l := a.Here()
	for _, m := range []Mem{At(RBX, 8), Index(RBX, RCX, 4, 8), Abs(0x2000), Near(l, 8)} {
		a.Lea(RAX, m)
		a.Lea(RAX, m.Plus(-16))
	}
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	at := int64(0)
	for len(code) > 0 {
		in, err := x86asm.Decode(code, 64)
		if err != nil {
			t.Fatal(err)
		}
		code, at = code[in.Len:], at+int64(in.Len)
		d := displacement(in)
		if in.Args[1].(x86asm.Mem).Base == x86asm.RIP {
			d += at
		}
		got = append(got, d)
	}
	if want := "[8 -8 8 -8 4096 4080 8 -8]"; fmt.Sprint(got) != want {
		t.Errorf("%d, want %s", got, want)
	}
}

// TestJmpFar checks the address behind the jump.
func TestJmpFar(t *testing.T) {
	a := New(0x1000)
	a.JmpFar(0x7fff_1234_5678_9abc)
	code, err := a.Finish()
	if want := []byte{0xff, 0x25, 0, 0, 0, 0, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12, 0xff, 0x7f}; err != nil || !bytes.Equal(code, want) {
		t.Errorf("% x, %v", code, err)
	}
}

// TestPlaces checks PC and Len beside each other.
func TestPlaces(t *testing.T) {
	a := New(0x1000)
	a.Nop(20)
	if l := a.Here(); a.PC() != 0x1014 || a.Len() != 20 || a.Offset(l) != 20 || a.Offset(a.NewLabel()) >= 0 {
		t.Errorf("pc %v, length %d, label at %d", a.PC(), a.Len(), a.Offset(l))
	}
	if code, err := a.Finish(); err != nil || arch.Addr(len(code)) != a.PC()-0x1000 {
		t.Error(len(code), err)
	}
}
