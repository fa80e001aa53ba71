package flow

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/arch/arm/armasm"
	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/riscv64/riscv64asm"

	"tracewell/arch"
)

const at = 0x10000

// words yields random instructions, of which many are near those that change the flow.
func words(n int, bases ...uint32) func(yield func(uint32) bool) {
	r := rand.New(rand.NewPCG(1, 2))
	return func(yield func(uint32) bool) {
		for range n {
			w := r.Uint32()
			if base := bases[r.IntN(len(bases))]; base != 0 {
				w = base ^ r.Uint32()&r.Uint32()&r.Uint32()&-(r.Uint32()&1)
			}
			if !yield(w) {
				return
			}
		}
	}
}

// TestRISCV holds what RISC-V instructions do against another decoder of them.
func TestRISCV(t *testing.T) {
	set, seen := Of(arch.ByName("riscv64"), binary.LittleEndian), map[Kind]int{}
	for w := range words(60000, 0, 0x6f, 0xef, 0x67, 0x8067, 0x300e7, 0x63, 0x8082, 0x9082, 0xa001, 0xc001, 0xe001, 0x73, 0x30200073) {
		code := binary.LittleEndian.AppendUint32(nil, w)
		in, err := riscv64asm.Decode(code)
		if w&0xffff == 0 {
			continue // never an instruction
		}
		if err != nil {
			continue
		}
		f := set.Decode(code, at)
		if int(f.Len) != in.Len {
			t.Fatalf("%08x %v: length %d, not %d", w, in, f.Len, in.Len)
		}
		want := Flow{Len: f.Len, Kind: f.Kind} // of others only that they go on
		var offset riscv64asm.Simm
		for _, arg := range in.Args {
			if o, ok := arg.(riscv64asm.Simm); ok {
				offset = o
			}
		}
		link := func(i int) bool { return in.Args[i] == riscv64asm.X1 || in.Args[i] == riscv64asm.X5 }
		switch op := in.Op.String(); {
		case strings.HasPrefix(op, "JALR") || strings.HasPrefix(op, "C.JALR") || op == "C.JR":
			if f.Kind == Next || f.Direct || f.Conditional {
				t.Fatalf("%08x %v: %+v", w, in, f)
			}
			continue
		case op == "JAL":
			want = Flow{Kind: Jump, Direct: true, Len: 4, Target: at + uint64(int64(offset.Imm))}
			if link(0) {
				want.Kind = Call
			}
		case op[0] == 'B' && in.Len == 4 && w&0x7f == 0x63:
			want = Flow{Kind: Jump, Direct: true, Conditional: true, Len: 4, Target: at + uint64(int64(offset.Imm))}
		case w&0x7f != 0x73 && in.Len == 4:
			want.Kind = Next
		}
		if in.Len == 4 && f != want {
			t.Fatalf("%08x %v: %+v, not %+v", w, in, f, want)
		}
		seen[f.Kind]++
	}
	for _, k := range []Kind{Next, Jump, Call, Trap} {
		if seen[k] < 10 {
			t.Errorf("%v: %d instructions", k, seen[k])
		}
	}
}

// TestA64 does the same for AArch64.
func TestA64(t *testing.T) {
	set, seen := Of(arch.ByName("aarch64"), binary.LittleEndian), map[Kind]int{}
	kinds := map[arm64asm.Op]Kind{arm64asm.B: Jump, arm64asm.BL: Call, arm64asm.BLR: Call, arm64asm.BR: Jump, arm64asm.RET: Return,
		arm64asm.ERET: TrapReturn, arm64asm.SVC: Trap, arm64asm.HVC: Trap, arm64asm.SMC: Trap, arm64asm.BRK: Trap, arm64asm.HLT: Trap,
		arm64asm.CBZ: Jump, arm64asm.CBNZ: Jump, arm64asm.TBZ: Jump, arm64asm.TBNZ: Jump, arm64asm.DCPS1: Trap, arm64asm.DCPS2: Trap,
		arm64asm.DCPS3: Trap}
	for w := range words(60000, 0, 0x14000000, 0x94000000, 0x54000000, 0x34000000, 0x37000000, 0xd61f0000, 0xd63f0000, 0xd65f03c0,
		0xd69f03e0, 0xd4000001) {
		code := binary.LittleEndian.AppendUint32(nil, w)
		in, err := arm64asm.Decode(code)
		if err != nil {
			continue
		}
		f, offset, direct := set.Decode(code, at), arm64asm.PCRel(0), false
		for _, arg := range in.Args {
			if o, ok := arg.(arm64asm.PCRel); ok && kinds[in.Op] != Next {
				offset, direct = o, true
			}
		}
		want := Flow{Kind: kinds[in.Op], Len: 4, Direct: direct}
		if direct {
			want.Target = at + uint64(offset)
			_, hasCondition := in.Args[0].(arm64asm.Cond)
			want.Conditional = hasCondition || in.Op != arm64asm.B && in.Op != arm64asm.BL
		}
		if f != want {
			t.Fatalf("%08x %v: %+v, not %+v", w, in, f, want)
		}
		seen[f.Kind]++
	}
	for k := Next; k <= Trap; k++ {
		if seen[k] < 10 && k != Swap {
			t.Errorf("%v: %d instructions", k, seen[k])
		}
	}
}

// TestA32 holds branches of the state A against another decoder.
func TestA32(t *testing.T) {
	set := Of(arch.ByName("arm"), binary.LittleEndian)
	for w := range words(30000, 0xea000000, 0xeb000000, 0x0a000000, 0x1b000000, 0xe12fff1e, 0xe12fff30) {
		code := binary.LittleEndian.AppendUint32(nil, w)
		in, err := armasm.Decode(code, armasm.ModeARM)
		if err != nil {
			continue
		}
		name, condition, _ := strings.Cut(in.Op.String(), ".")
		f := set.Decode(code, at)
		if offset, ok := in.Args[0].(armasm.PCRel); ok && (name == "B" || name == "BL") {
			want := Flow{Kind: Jump, Direct: true, Len: 4, Target: at + 8 + uint64(int64(offset)), Conditional: condition != ""}
			if name == "BL" {
				want.Kind = Call
			}
			if f != want {
				t.Fatalf("%08x %v: %+v, not %+v", w, in, f, want)
			}
		}
	}
}

// TestKnown is instructions by the manuals, in the order of memory, as assemblers write them.
func TestKnown(t *testing.T) {
	for _, test := range []struct {
		set, code string
		want      Flow
	}{
		{"RISC-V", "67800000", Flow{Kind: Return, Len: 4}},
		{"RISC-V", "67800200", Flow{Kind: Return, Len: 4}},
		{"RISC-V", "e7000300", Flow{Kind: Call, Len: 4}},
		{"RISC-V", "e7800200", Flow{Kind: Swap, Len: 4}},
		{"RISC-V", "67000300", Flow{Kind: Jump, Len: 4}},
		{"RISC-V", "8280", Flow{Kind: Return, Len: 2}},
		{"RISC-V", "0290", Flow{Kind: Trap, Len: 2}},
		{"RISC-V", "0293", Flow{Kind: Call, Len: 2}},
		{"RISC-V", "7dfd", Flow{Kind: Jump, Conditional: true, Direct: true, Len: 2, Target: at - 2}},
		{"RISC-V of 32 bits", "0120", Flow{Kind: Call, Direct: true, Len: 2, Target: at}},
		{"RISC-V", "0120", Flow{Len: 2}},
		{"T32", "7047", Flow{Kind: Return, Len: 2}},
		{"T32", "1847", Flow{Kind: Jump, Len: 2}},
		{"T32", "9847", Flow{Kind: Call, Len: 2}},
		{"T32", "10bd", Flow{Kind: Return, Len: 2}},
		{"T32", "fed1", Flow{Kind: Jump, Conditional: true, Direct: true, Len: 2, Target: at}},
		{"T32", "fee7", Flow{Kind: Jump, Direct: true, Len: 2, Target: at}},
		{"T32", "00df", Flow{Kind: Trap, Len: 2}},
		{"T32", "08b1", Flow{Kind: Jump, Conditional: true, Direct: true, Len: 2, Target: at + 6}},
		{"T32", "fff7feff", Flow{Kind: Call, Direct: true, Len: 4, Target: at}},
		{"T32", "00f002f8", Flow{Kind: Call, Direct: true, Len: 4, Target: at + 8}},
		{"T32", "00f004b8", Flow{Kind: Jump, Direct: true, Len: 4, Target: at + 12}},
		{"T32", "bde81080", Flow{Kind: Return, Len: 4}},
		{"T32", "5df804fb", Flow{Kind: Return, Len: 4}},
		{"T32", "dfe800f0", Flow{Kind: Jump, Len: 4}},
		{"T32", "0020", Flow{Len: 2}},
		{"A32", "1eff2fe1", Flow{Kind: Return, Len: 4}},
		{"A32", "0ef0a0e1", Flow{Kind: Return, Len: 4}},
		{"A32", "1080bde8", Flow{Kind: Return, Len: 4}},
		{"A32", "04f09de4", Flow{Kind: Return, Len: 4}},
		{"A32", "1eff2f01", Flow{Kind: Return, Conditional: true, Len: 4}},
		{"A32", "33ff2fe1", Flow{Kind: Call, Len: 4}},
		{"A32", "04f05ee2", Flow{Kind: TrapReturn, Len: 4}},
		{"A32", "000000ef", Flow{Kind: Trap, Len: 4}},
		{"MIPS", "03e00008", Flow{Kind: Return, Len: 8, Delayed: true}},
		{"MIPS", "03400008", Flow{Kind: TrapReturn, Len: 8, Delayed: true}},
		{"MIPS", "42000018", Flow{Kind: TrapReturn, Len: 4}},
		{"MIPS", "00000000", Flow{Len: 4}},
		{"MIPS", "0c004000", Flow{Kind: Call, Direct: true, Len: 8, Delayed: true, Target: at}},
		{"little-endian MIPS", "ffff0010", Flow{Kind: Jump, Direct: true, Len: 8, Delayed: true, Target: at}},
		{"MIPS", "1440ffff", Flow{Kind: Jump, Conditional: true, Direct: true, Len: 8, Delayed: true, Target: at}},
		{"x86-64", "e800000000", Flow{Kind: Call, Direct: true, Len: 5, Target: at + 5}},
		{"x86-64", "c3", Flow{Kind: Return, Len: 1}},
		{"x86-64", "ff2500000000", Flow{Kind: Jump, Len: 6}},
		{"x86-64", "41ffd4", Flow{Kind: Call, Len: 3}},
		{"x86-64", "75fe", Flow{Kind: Jump, Conditional: true, Direct: true, Len: 2, Target: at}},
		{"x86-64", "0f05", Flow{Kind: Trap, Len: 2}},
		{"x86-64", "48cf", Flow{Kind: TrapReturn, Len: 2}},
		{"x86-64", "e8f1ffff", Flow{Kind: Call, Len: 5}}, // cut off
		{"x86-64", "488d2549", Flow{}},                   // the same
	} {
		code, _ := hex.DecodeString(test.code)
		for _, s := range Sets() {
			if s.Title == test.set {
				if got := s.Decode(code, at); got != test.want {
					t.Errorf("%s %s: %+v, not %+v", test.set, test.code, got, test.want)
				}
			}
		}
	}
}

// TestText is disassemblies, as producers write them.
func TestText(t *testing.T) {
	for text, want := range map[string]Kind{
		"ret": Return, "jal ra, 0x10": Call, "jal     zero, 8": Jump, "jalr x0, 0(ra)": Return, "c.jr ra": Return, "c.jr a5": Jump,
		"callq 0x401000 <f>": Call, "retq": Return, "BL 0x8000": Call, "pop {r4, pc}": Return, "pop {r4}": Next, "bx lr": Return,
		"mret": TrapReturn, "ecall": Trap, "addi a0, a0, 1": Next, "j pc - 0x4": Jump, "beq a0, a1, pc + 8": Jump, "jne 0x10": Jump, "": Next,
		"blt a0, a1, 8": Jump, "bic r0, r1": Next, "mov pc, lr": Return,
	} {
		if got := OfText(text); got.Kind != want {
			t.Errorf("%q: %v, not %v", text, got.Kind, want)
		}
	}
}

// TestNumbers: opcodes of traces are put in the order of memory.
func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		set   string
		value uint64
		size  int
		want  string
	}{
		{"T32", 0x4770, 2, "7047"}, {"T32", 0xf000f802, 4, "00f002f8"}, {"T32", 0x8010e8bd, 4, "bde81080"},
		{"x86-64", 0x1ff83, 3, "83ff01"}, {"x86-64", 0xc3, 1, "c3"}, {"RISC-V", 0x8082, 2, "8280"}, {"MIPS", 0x03e00008, 4, "03e00008"},
	} {
		for _, s := range Sets() {
			if got := hex.EncodeToString(s.Append(nil, test.value, test.size)); s.Title == test.set && got != test.want {
				t.Errorf("%s %x: %s, not %s", test.set, test.value, got, test.want)
			}
		}
	}
}

// TestDisassembly: instructions in words, and nothing at all for what is none, whatever it is.
func TestDisassembly(t *testing.T) {
	for machine, words := range map[string]map[string]string{
		"riscv64": {"13050500": "mv a0,a0", "8280": "ret"}, "aarch64": {"fd7bbfa9": "stp x29, x30, [sp,#-16]!"},
		"arm": {"04e02de5": "push {lr}"}, "x86-64": {"4889e5": "mov %rsp,%rbp", "e800000000": "callq 0x10005"},
		"mips": {"00000000": ""},
	} {
		set := Of(arch.ByName(machine), arch.ByName(machine).Order)
		for digits, want := range words {
			code, err := hex.DecodeString(digits)
			if err != nil {
				t.Fatal(err)
			}
			if got := set.Text(code, at); got != want {
				t.Errorf("%s %s: %q, want %q", machine, digits, got, want)
			}
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, set := range sets {
		for range 20000 {
			code := binary.LittleEndian.AppendUint64(nil, r.Uint64())
			set.Text(code[:1+r.IntN(8)], at)
		}
	}
}
