package asm

import (
	"fmt"
	"iter"
	"math"
	"strings"
)

// written is an operand as disassemblers write it.
type written struct{ objdump, xarch string }

// form is an instruction that the Assembler emits, and what it is by its operands. The texts are made here, from the meaning of the
// operands, and not from the bytes.
type form struct {
	name     string
	operands []written
	emit     func(a *Assembler)
	vectors  bool // x/arch does not decode it
}

var (
	allRegs    = []Reg{RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15}
	widths     = []Width{1, 2, 4, 8}
	immediates = []int32{0, 1, -1, 5, 0x7f, -0x80, 0x80, -0x81, 0x7fff, -0x8000, 0x12345678, math.MaxInt32, math.MinInt32}
	// disps are those at which the size of a displacement changes, with the units of EVEX.
	disps = []int32{0, 1, -1, 0x7f, -0x80, 0x80, -0x81, 16 * 0x7f, -16 * 0x80, 16 * 0x80, 32 * 0x7f, 64 * 0x7f, -64 * 0x80, 64 * 0x80,
		-64 * 0x81, 0x40, 0x20, math.MaxInt32, math.MinInt32}
)

// testOrg is where the code of the tests is, and absolute where absolute operands are.
const testOrg, absolute = 0x400000, 0x12345678

// regNamesOf are the names of registers by width, as Intel's manual lists them.
var regNamesOf = map[Width][16]string{
	1: {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil", "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"},
	2: {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8w", "r9w", "r10w", "r11w", "r12w", "r13w", "r14w", "r15w"},
	4: {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"},
	8: {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"},
}

func same(text string) written { return written{text, text} }

func reg(w Width, r Reg) written { return same(regNamesOf[w][r]) }

// imm is an immediate of an operation of w bytes: objdump shows these w bytes, x/arch the number, but unsigned for one byte.
func imm(w Width, v int32) written {
	x := int64(v)
	switch w {
	case 1:
		x = int64(uint8(v))
	case 2:
		x = int64(int16(v))
	}
	return written{fmt.Sprintf("%#x", uint64(x)<<(64-8*w)>>(64-8*w)), hexOf(x)}
}

func number(v int64) written { return same(hexOf(v)) }

func hexOf(v int64) string {
	if v < 0 {
		return fmt.Sprintf("-%#x", uint64(-v))
	}
	return fmt.Sprintf("%#x", v)
}

// units are the words for sizes of memory operands.
var units = map[Width]string{1: "byte ptr ", 2: "word ptr ", 4: "dword ptr ", 8: "qword ptr ", 16: "xmmword ptr ", 32: "ymmword ptr ",
	64: "zmmword ptr "}

// address is a memory operand with its parts, from which its text is made.
type address struct {
	base, index Reg
	factor      uint8
	disp        int32
	absolute    bool
}

func (m address) mem() Mem {
	switch {
	case m.absolute:
		return Abs(absolute)
	case m.index != NoReg:
		return Index(m.base, m.index, m.factor, m.disp)
	default:
		return At(m.base, m.disp)
	}
}

// ripTarget stands for the displacement of an operand relative to rip: the tests put in the address that the disassembler works out.
const ripTarget = "[rip:0x12345678]"

func (m address) text(w Width) written {
	unit := units[w]
	if w == 0 {
		unit = "ptr "
	}
	if m.absolute {
		return written{units[w] + ripTarget, unit + ripTarget}
	}
	if m.base == NoReg && m.index == NoReg { // objdump has the address, x/arch 32 bits of it
		x := fmt.Sprintf("%s[%#x]", unit, uint32(m.disp))
		return written{fmt.Sprintf("%sds:%#x", units[w], uint64(int64(m.disp))), strings.Replace(x, "[0x0]", "[]", 1)}
	}
	var sum written
	if m.base != NoReg {
		sum = reg(8, m.base)
	}
	if m.index != NoReg {
		index := regNamesOf[8][m.index]
		sum.objdump += fmt.Sprintf("+%s*%d", index, m.factor)
		if m.factor == 1 {
			sum.xarch += "+" + index
		} else {
			sum.xarch += fmt.Sprintf("+%d*%s", m.factor, index)
		}
	}
	disp := hexOf(int64(m.disp))
	switch {
	case m.disp > 0:
		disp = "+" + disp
	case m.disp == 0:
		disp = ""
	}
	sum.xarch += disp
	if m.disp == 0 && (m.base == NoReg || m.base&7 == RBP&7) { // objdump shows a displacement that is there
		disp = "+0x0"
	}
	sum.objdump += disp
	return written{units[w] + "[" + strings.TrimPrefix(sum.objdump, "+") + "]", unit + "[" + strings.TrimPrefix(sum.xarch, "+") + "]"}
}

// someAddresses are the shapes of addresses, each once with every base and with every index.
func someAddresses() (list []address) {
	for _, base := range append(allRegs, NoReg) {
		for _, disp := range []int32{0, 0x10, -0x1000} {
			list = append(list, address{base: base, index: NoReg, factor: 1, disp: disp})
		}
	}
	for i, index := range allRegs {
		if index != RSP {
			list = append(list, address{base: allRegs[(i*7+3)%16], index: index, factor: 1 << (i % 4), disp: int32(i%3) * 0x64})
		}
	}
	return append(list, address{base: R13, index: R12, factor: 8}, address{base: NoReg, index: RBP, factor: 4, disp: -1}, address{absolute: true})
}

// allAddresses are all bases with all indexes, factors and displacements.
func allAddresses() (list []address) {
	for _, base := range append(allRegs, NoReg) {
		for _, disp := range disps {
			list = append(list, address{base: base, index: NoReg, factor: 1, disp: disp})
			for _, index := range allRegs {
				for factor := uint8(1); factor <= 8 && index != RSP; factor *= 2 {
					list = append(list, address{base: base, index: index, factor: factor, disp: disp})
				}
			}
		}
	}
	return append(list, address{absolute: true})
}

// operandText is an operand that can be a register or memory.
type operandText struct {
	Operand
	text written
}

// operands are all registers and some addresses, of w bytes.
func operands(w Width) (list []operandText) {
	for _, r := range allRegs {
		list = append(list, operandText{r, reg(w, r)})
	}
	for _, m := range someAddresses() {
		list = append(list, operandText{m.mem(), m.text(w)})
	}
	return list
}

// forms yields all forms in all widths, with all registers, and with some addresses or, for one form of each way to encode, all.
func forms() iter.Seq[form] {
	return func(yield func(form) bool) {
		for _, part := range []func(func(form)){moveForms, addressForms, arithForms, groupForms, otherForms, plainForms, vectorForms} {
			more := true
			part(func(f form) { more = more && yield(f) })
			if !more {
				return
			}
		}
	}
}

func moveForms(add func(form)) {
	for _, w := range widths {
		for _, x := range allRegs {
			for _, o := range operands(w) {
				add(form{"mov", []written{reg(w, x), o.text}, func(a *Assembler) { a.Mov(w, x, o.Operand) }, false})
				add(form{"xchg", []written{o.text, reg(w, x)}, func(a *Assembler) { a.Xchg(w, o.Operand, x) }, false})
				m, isMem := o.Operand.(Mem)
				if isMem {
					add(form{"mov", []written{o.text, reg(w, x)}, func(a *Assembler) { a.Store(w, m, x) }, false})
					add(form{"xadd", []written{o.text, reg(w, x)}, func(a *Assembler) { a.Xadd(w, m, x) }, false})
					add(form{"lock xadd", []written{o.text, reg(w, x)}, func(a *Assembler) { a.Lock().Xadd(w, m, x) }, false})
					add(form{"cmpxchg", []written{o.text, reg(w, x)}, func(a *Assembler) { a.Cmpxchg(w, m, x) }, false})
					add(form{"lock cmpxchg", []written{o.text, reg(w, x)}, func(a *Assembler) { a.Lock().Cmpxchg(w, m, x) }, false})
				}
				zero, sign, full := "movzx", "movsx", reg(8, x)
				half := reg(4, x)
				switch w {
				case 8:
					zero, sign, half = "mov", "mov", full
				case 4:
					zero, sign = "mov", "movsxd"
				}
				add(form{zero, []written{half, o.text}, func(a *Assembler) { a.Load(w, false, x, o.Operand) }, false})
				add(form{sign, []written{full, o.text}, func(a *Assembler) { a.Load(w, true, x, o.Operand) }, false})
			}
		}
		for _, m := range someAddresses() {
			for _, v := range immediates {
				add(form{"mov", []written{m.text(w), imm(w, v)}, func(a *Assembler) { a.StoreImm(w, m.mem(), v) }, false})
			}
		}
	}
}

// addressForms has every way to address with one instruction of each encoding.
func addressForms(add func(form)) {
	for _, m := range allAddresses() {
		for _, x := range []Reg{RDX, R14} {
			add(form{"lea", []written{reg(8, x), m.text(0)}, func(a *Assembler) { a.Lea(x, m.mem()) }, false})
		}
		add(form{"cmp", []written{m.text(4), imm(4, 0x1234)}, func(a *Assembler) { a.ArithImm(Cmp, 4, m.mem(), 0x1234) }, false})
		add(form{"vmovdqu", []written{m.text(32), same("ymm9")}, func(a *Assembler) { a.VmovdquStore(32, m.mem(), 9) }, true})
		add(form{"vmovdqu64", []written{m.text(64), same("zmm25")}, func(a *Assembler) { a.VmovdquStore(64, m.mem(), 25) }, true})
		add(form{"vextracti64x4", []written{m.text(32), same("zmm7"), number(1)},
			func(a *Assembler) { a.Vextracti64x4(m.mem(), 7, 1) }, true})
		add(form{"vextracti32x4", []written{m.text(16), same("zmm30"), number(3)},
			func(a *Assembler) { a.Vextracti32x4(64, m.mem(), 30, 3) }, true})
	}
}

var ariths = []string{Add: "add", Or: "or", Adc: "adc", Sbb: "sbb", And: "and", Sub: "sub", Xor: "xor", Cmp: "cmp"}

func arithForms(add func(form)) {
	for op, name := range ariths {
		op := Arith(op)
		for _, w := range widths {
			for _, o := range operands(w) {
				for _, x := range allRegs {
					add(form{name, []written{reg(w, x), o.text}, func(a *Assembler) { a.Arith(op, w, x, o.Operand) }, false})
					if m, ok := o.Operand.(Mem); ok && x&3 == 1 {
						add(form{name, []written{o.text, reg(w, x)}, func(a *Assembler) { a.ArithMem(op, w, m, x) }, false})
					}
				}
				for _, v := range immediates {
					add(form{name, []written{o.text, imm(w, v)}, func(a *Assembler) { a.ArithImm(op, w, o.Operand, v) }, false})
				}
			}
		}
	}
}

// groupForms are the instructions of one operand, and those beside them.
func groupForms(add func(form)) {
	for _, w := range widths {
		for _, o := range operands(w) {
			for op, name := range map[Unary]string{Not: "not", Neg: "neg", Mul: "mul", Imul: "imul", Div: "div", Idiv: "idiv"} {
				add(form{name, []written{o.text}, func(a *Assembler) { a.Unary(op, w, o.Operand) }, false})
			}
			for op, name := range map[Shift]string{Rol: "rol", Ror: "ror", Rcl: "rcl", Rcr: "rcr", Shl: "shl", Shr: "shr", Sar: "sar"} {
				add(form{name, []written{o.text, same("cl")}, func(a *Assembler) { a.ShiftCL(op, w, o.Operand) }, false})
				add(form{name, []written{o.text, number(0x25)}, func(a *Assembler) { a.Shift(op, w, o.Operand, 0x25) }, false})
			}
			add(form{"inc", []written{o.text}, func(a *Assembler) { a.Inc(w, o.Operand) }, false})
			add(form{"dec", []written{o.text}, func(a *Assembler) { a.Dec(w, o.Operand) }, false})
			for _, x := range allRegs {
				add(form{"test", []written{o.text, reg(w, x)}, func(a *Assembler) { a.Test(w, o.Operand, x) }, false})
				if w == 1 {
					continue
				}
				add(form{"imul", []written{reg(w, x), o.text}, func(a *Assembler) { a.Imul(w, x, o.Operand) }, false})
				add(form{"shrd", []written{o.text, reg(w, x), number(0x21)}, func(a *Assembler) { a.Shrd(w, o.Operand, x, 0x21) }, false})
				for _, v := range []int32{-3, 0x1234567} {
					add(form{"imul", []written{reg(w, x), o.text, imm(w, v)}, func(a *Assembler) { a.ImulImm(w, x, o.Operand, v) }, false})
				}
			}
			for _, v := range immediates {
				add(form{"test", []written{o.text, imm(w, v)}, func(a *Assembler) { a.TestImm(w, o.Operand, v) }, false})
			}
		}
	}
}

var conds = []string{"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"}

func otherForms(add func(form)) {
	for i, cc := range conds {
		c := Cond(i)
		for _, o := range operands(1) {
			add(form{"set" + cc, []written{o.text}, func(a *Assembler) { a.Setcc(c, o.Operand) }, false})
		}
		for _, w := range widths[1:] {
			for _, o := range operands(w) {
				for _, x := range allRegs {
					add(form{"cmov" + cc, []written{reg(w, x), o.text}, func(a *Assembler) { a.Cmov(c, w, x, o.Operand) }, false})
				}
			}
		}
		add(form{"j" + cc, []written{same("0x400000")}, func(a *Assembler) { a.JccTo(c, testOrg) }, false})
	}
	for _, o := range operands(8) {
		add(form{"push", []written{o.text}, func(a *Assembler) { a.Push(o.Operand) }, false})
		add(form{"pop", []written{o.text}, func(a *Assembler) { a.Pop(o.Operand) }, false})
		add(form{"jmp", []written{o.text}, func(a *Assembler) { a.JmpBy(o.Operand) }, false})
		add(form{"call", []written{o.text}, func(a *Assembler) { a.CallBy(o.Operand) }, false})
	}
	for _, r := range allRegs {
		for _, v := range []int64{0, 1, math.MaxInt32, math.MaxUint32} {
			value := written{hexOf(v), hexOf(int64(int32(v)))}
			add(form{"mov", []written{reg(4, r), value}, func(a *Assembler) { a.MovImm(r, v) }, false})
		}
		add(form{"mov", []written{reg(8, r), imm(8, -2)}, func(a *Assembler) { a.MovImm(r, -2) }, false})
		for _, v := range []int64{1 << 32, 0x123456789abcdef0, math.MaxInt64} {
			add(form{"movabs", []written{reg(8, r), number(v)}, func(a *Assembler) { a.MovImm(r, v) }, false})
		}
		for s, name := range []string{"es", "cs", "ss", "ds", "fs", "gs"} {
			add(form{"mov", []written{reg(4, r), same(name)}, func(a *Assembler) { a.MovSeg(r, Seg(s)) }, false})
		}
		add(form{"rdpid", []written{reg(8, r)}, func(a *Assembler) { a.Rdpid(r) }, true})
		for _, w := range widths[2:] {
			add(form{"rdfsbase", []written{reg(w, r)}, func(a *Assembler) { a.Rdfsbase(w, r) }, false})
			add(form{"rdgsbase", []written{reg(w, r)}, func(a *Assembler) { a.Rdgsbase(w, r) }, false})
			add(form{"bswap", []written{reg(w, r)}, func(a *Assembler) { a.Bswap(w, r) }, false})
		}
	}
	for _, v := range immediates {
		add(form{"push", []written{{imm(8, v).objdump, fmt.Sprintf("%#x", uint32(v))}}, func(a *Assembler) { a.PushImm(v) }, false})
	}
	for _, m := range someAddresses() {
		add(form{"fxsave64", []written{m.text(0)}, func(a *Assembler) { a.Fxsave(m.mem()) }, false})
		add(form{"stmxcsr", []written{m.text(4)}, func(a *Assembler) { a.Stmxcsr(m.mem()) }, false})
		for v := range Vec(16) {
			xmm := same(fmt.Sprintf("xmm%d", v))
			add(form{"movups", []written{m.text(16), xmm}, func(a *Assembler) { a.MovupsStore(m.mem(), v) }, false})
			add(form{"movups", []written{xmm, m.text(16)}, func(a *Assembler) { a.MovupsLoad(v, m.mem()) }, false})
		}
	}
}

// anything is an operand that does not matter.
const anything = "anything"

// plainForms have no operands to choose.
func plainForms(add func(form)) {
	for name, emit := range map[string]func(a *Assembler){
		"cqo": (*Assembler).Cqo, "cdq": (*Assembler).Cdq, "lahf": (*Assembler).Lahf, "sahf": (*Assembler).Sahf,
		"pushf": (*Assembler).Pushf, "popf": (*Assembler).Popf, "cld": (*Assembler).Cld, "rdtsc": (*Assembler).Rdtsc,
		"rdtscp": (*Assembler).Rdtscp, "syscall": (*Assembler).Syscall, "pause": (*Assembler).Pause, "int3": (*Assembler).Int3,
		"ud2": (*Assembler).Ud2, "lfence": (*Assembler).Lfence, "mfence": (*Assembler).Mfence, "ret": (*Assembler).Ret,
		"xgetbv": (*Assembler).Xgetbv, "nop": func(a *Assembler) { a.Nop(1) },
	} {
		add(form{name, nil, emit, false})
	}
	add(form{"jmp", []written{same("0x12345678")}, func(a *Assembler) { a.JmpTo(absolute) }, false})
	add(form{"call", []written{same("0x12345678")}, func(a *Assembler) { a.CallTo(absolute) }, false})
	for _, w := range widths {
		to, from := written{units[w] + "es:[rdi]", units[w] + "[rdi]"}, written{units[w] + "ds:[rsi]", units[w] + "[rsi]"}
		add(form{"rep movs", []written{to, from}, func(a *Assembler) { a.RepMovs(w) }, false})
		add(form{"rep stos", []written{to, reg(w, RAX)}, func(a *Assembler) { a.RepStos(w) }, false})
	}
	for n := 2; n <= 9; n++ {
		add(form{"nop", []written{same(anything)}, func(a *Assembler) { a.Nop(n) }, false})
	}
}

func vectorForms(add func(form)) {
	for _, m := range someAddresses() {
		for v := range Vec(32) {
			for w, letter := range map[Width]string{16: "x", 32: "y", 64: "z"} {
				r, name := same(fmt.Sprintf("%smm%d", letter, v)), "vmovdqu"
				if w == 64 || v > 15 {
					name = "vmovdqu64"
				}
				add(form{name, []written{m.text(w), r}, func(a *Assembler) { a.VmovdquStore(w, m.mem(), v) }, true})
				add(form{name, []written{r, m.text(w)}, func(a *Assembler) { a.VmovdquLoad(w, v, m.mem()) }, true})
				if w > 16 {
					add(form{"vextracti32x4", []written{m.text(16), r, number(1)},
						func(a *Assembler) { a.Vextracti32x4(w, m.mem(), v, 1) }, true})
				}
			}
			if v < 16 {
				add(form{"vextractf128", []written{m.text(16), same(fmt.Sprintf("ymm%d", v)), number(1)},
					func(a *Assembler) { a.Vextractf128(m.mem(), v, 1) }, true})
			}
			add(form{"vextracti64x4", []written{m.text(32), same(fmt.Sprintf("zmm%d", v)), number(1)},
				func(a *Assembler) { a.Vextracti64x4(m.mem(), v, 1) }, true})
		}
		for k := range Mask(8) {
			for w, letter := range map[Width]string{2: "w", 8: "q"} {
				r := same(fmt.Sprintf("k%d", k))
				add(form{"kmov" + letter, []written{m.text(w), r}, func(a *Assembler) { a.KmovStore(w, m.mem(), k) }, true})
				add(form{"kmov" + letter, []written{r, m.text(w)}, func(a *Assembler) { a.KmovLoad(w, k, m.mem()) }, true})
			}
		}
	}
}
