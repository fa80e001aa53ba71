package arch

import (
	"debug/elf"
	"slices"
)

// MIPS

// mipsRegisters are the registers of either width. In execution traces they go by their numbers, with and without $, or by
// the names of a calling convention, and registers of coprocessor 0 with or without its name in front.
func mipsRegisters(size int, abi []string) []Register {
	general := alias(alias(called(registers(General, size, numbered("r", 32)...), abi), "$"), "r")
	for i, name := range abi {
		general[i].Aliases = append(general[i].Aliases, "$"+name)
	}
	general[30].Aliases = append(general[30].Aliases, "fp", "$fp")
	control := registers(Status, size, words("hi lo status cause badvaddr fcsr fir")...)
	for i, r := range control {
		control[i].Aliases = []string{"c0_" + r.Name, "cp0_" + r.Name}
	}
	return slices.Concat(general, alias(registers(Float, size, numbered("f", 32)...), "$f"), control, registers(Status, size, "pc"))
}

var (
	mipsOld = words(`zero at v0 v1 a0 a1 a2 a3 t0 t1 t2 t3 t4 t5 t6 t7 s0 s1 s2 s3 s4 s5 s6 s7 t8 t9 k0 k1 gp sp s8 ra`)
	mipsNew = words(`zero at v0 v1 a0 a1 a2 a3 a4 a5 a6 a7 t0 t1 t2 t3 s0 s1 s2 s3 s4 s5 s6 s7 t8 t9 k0 k1 gp sp s8 ra`)

	mipsDWARF     = dwarf(map[int][]string{0: numbered("r", 32), 32: numbered("f", 32), 64: {"hi", "lo"}})
	mipsMnemonics = Mnemonics{
		Moves:     words("l mov mf neg not clz ext jal"),
		Injective: words("addu addi addiu subu xori dadd daddu daddi daddiu dsub dsubu"),
		Jumps:     words("j jr jalr b eret eretnc deret"),
		Returns:   words("eret eretnc deret"),
		Waits:     words("wait pause"), Stores: words("sc scd sce scwp"),
	}
)

// MIPS is MIPS with registers of 32 bits.
var MIPS = &Machine{
	Name: "mips", Title: "MIPS of 32 bits", Family: "mips", Architectures: []string{"mips"}, Features: []string{"org.gnu.gdb.mips."},
	ELF: elf.EM_MIPS, Multiarch: "mips-linux-gnu", AddrSize: 4, Order: big, SignedAddr: true, C: c32,
	Breakpoint: []byte{0x00, 0x05, 0x00, 0x0d}, Registers: mipsRegisters(4, mipsOld), DWARF: mipsDWARF,
	PC: "pc", SP: "r29", FP: "r30", Zero: "r0", Arguments: words("r4 r5 r6 r7"),
	CalleeSaved: words("r16 r17 r18 r19 r20 r21 r22 r23 r28 r30"), Unwinding: UnwindsOrDies,
	Convention: &Convention{Mark: "a4", Registers: mipsRegisters(4, mipsNew)},
	Plausible:  func(_, size uint64) bool { return size == 4 }, AnyWord: true,
	Mnemonics: mipsMnemonics, Flags: []string{"sr"},
}

// mips64 is MIPS with registers of 64 bits.
var mips64 = &Machine{
	Name: "mips64", Title: "MIPS of 64 bits", Family: "mips", Architectures: []string{"mips:isa64"},
	ELF: elf.EM_MIPS, Multiarch: "mips64-linux-gnuabi64", AddrSize: 8, Order: big, SignedAddr: true, C: c32,
	Breakpoint: MIPS.Breakpoint, Registers: mipsRegisters(8, mipsOld), DWARF: mipsDWARF,
	PC: "pc", SP: "r29", FP: "r30", Zero: "r0", Arguments: words("r4 r5 r6 r7 r8 r9 r10 r11"),
	CalleeSaved: MIPS.CalleeSaved, Unwinding: UnwindsOrDies,
	Convention: &Convention{Mark: "a4", Registers: mipsRegisters(8, mipsNew)},
	Plausible:  MIPS.Plausible, AnyWord: true, Mnemonics: mipsMnemonics,
}

// RISC-V

var (
	riscvNames  = words("zero ra sp gp tp t0 t1 t2 fp s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6")
	riscvFloats = words(`ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7
		fs2 fs3 fs4 fs5 fs6 fs7 fs8 fs9 fs10 fs11 ft8 ft9 ft10 ft11`)
	riscvDWARF     = dwarf(map[int][]string{0: riscvNames, 32: riscvFloats})
	riscvMnemonics = Mnemonics{
		Moves:     words("l c.l mv c.mv neg not auipc csrr fl clz rev sext zext jal"),
		Injective: words("add addi addw addiw sub subw xor xori"),
		Jumps:     words("j jr jalr ret mret sret uret mnret dret c.jr c.j"),
		Returns:   words("mret sret uret mnret dret"),
		Waits:     words("wfi wrs.nto wrs.sto pause"),
		Stores:    words("sc.w sc.w.aq sc.w.rl sc.w.aqrl sc.d sc.d.aq sc.d.rl sc.d.aqrl"),
	}
)

func riscvRegisters(size int) []Register {
	general := alias(registers(General, size, riscvNames...), "x")
	general[8].ABI = "s0"
	return slices.Concat(general, alias(registers(Float, 0, riscvFloats...), "f"), registers(Vector, 0, numbered("v", 32)...),
		registers(Status, size, "pc"), registers(Status, 4, words("fflags frm fcsr")...))
}

// riscvPlausible looks at the two bits that tell how long an instruction is.
func riscvPlausible(op, size uint64) bool { return size == 4 && op&3 == 3 || size == 2 && op&3 != 3 }

// riscvBreakKind is the length of the breakpoint instruction, of which there is a short one where short instructions are.
func riscvBreakKind(code []byte, _ func(string) (uint64, bool)) int {
	if code[0]&3 == 3 {
		return 4
	}
	return 2
}

func riscv(name, title, architecture string, size int, c C) *Machine {
	return &Machine{
		Name: name, Title: title, Family: "riscv", Architectures: []string{architecture},
		ELF: elf.EM_RISCV, Multiarch: name + "-linux-gnu", AddrSize: size, Order: little, OneOrder: true, LittleCode: true,
		C:          c.unsigned(),
		Breakpoint: []byte{0x73, 0x00, 0x10, 0x00}, Registers: riscvRegisters(size), DWARF: riscvDWARF,
		PC: "pc", SP: "sp", FP: "fp", Zero: "zero", ThreadPointer: "tp", Arguments: words("a0 a1 a2 a3 a4 a5 a6 a7"),
		CalleeSaved: words("fp s1 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11"), Show: riscvShow,
		BreakKind: riscvBreakKind, ShortBreakpoint: []byte{0x02, 0x90}, Plausible: riscvPlausible, Mnemonics: riscvMnemonics,
	}
}

// traced is a row of machines whose processes are traced by a build of this program.
func traced(m *Machine, goarch string) *Machine {
	m.GOARCH, m.Variables = goarch, true
	return m
}

var (
	riscv32 = riscv("riscv32", "RISC-V of 32 bits", "riscv:rv32", 4, c32.with(LongDoubleQuad))
	// RISCV64 is RISC-V with registers of 64 bits.
	RISCV64 = traced(riscv("riscv64", "RISC-V of 64 bits", "riscv:rv64", 8, c64), "riscv64")
	// riscvAny is for descriptions that leave the width to the size of the registers.
	riscvAny = &Machine{
		Name: "riscv:any", Title: "RISC-V", Family: "riscv", Architectures: []string{"riscv"}, Order: little, OneOrder: true,
		LittleCode: true, C: C{UnsignedChar: true}, Registers: riscvRegisters(0), PC: "pc", SP: "sp", FP: "fp", Zero: "zero",
		ThreadPointer: "tp", Arguments: RISCV64.Arguments, Show: riscvShow,
	}
)

// Arm

// armBreakKind is 4 in Arm state; in Thumb state 2, or 3 for an instruction of two halfwords. A processor with an xpsr has no other
// state than Thumb.
func armBreakKind(code []byte, register func(string) (uint64, bool)) int {
	const thumb, long = 1 << 5, 0b11101 << 3
	_, always := register("xpsr")
	if status, ok := register("cpsr"); !always && (!ok || status&thumb == 0) {
		return 4
	}
	if code[1] >= long {
		return 3
	}
	return 2
}

// armReturn clears the bit that says which instruction set the caller has.
func armReturn(saved Addr, _ bool) Addr { return saved &^ 1 }

var arm = &Machine{
	Name: "arm", Title: "Arm of 32 bits", Family: "arm", Architectures: words("arm xscale ep9312 iwmmxt"),
	Features: []string{"org.gnu.gdb.arm."}, ELF: elf.EM_ARM, Multiarch: "arm-linux-gnueabihf", AddrSize: 4, Order: little,
	LittleCode: true, Halfwords: true, C: c32.unsigned(), Breakpoint: []byte{0xf0, 0x01, 0xf0, 0xe7}, BreakKind: armBreakKind,
	ShortBreakpoint: []byte{0x00, 0xbe},
	Registers: slices.Concat(padded(registers(General, 4, numbered("r", 9)...)), []Register{
		{Name: "r9", Size: 4, Aliases: []string{"sb", "r09"}}, {Name: "r10", Size: 4, Aliases: []string{"sl"}},
		{Name: "r11", Size: 4, Aliases: []string{"fp"}}, {Name: "r12", Size: 4, Aliases: []string{"ip"}},
		{Name: "sp", Size: 4, Aliases: []string{"r13"}}, {Name: "lr", Size: 4, Aliases: []string{"r14"}},
		{Name: "pc", Size: 4, Kind: Status, Aliases: []string{"r15"}},
	}, registers(Status, 4, "cpsr", "fpscr"), registers(Float, 8, numbered("d", 32)...)),
	DWARF: dwarf(map[int][]string{0: numbered("r", 13), 13: words("sp lr pc"), 256: numbered("d", 32)}),
	PC:    "pc", SP: "sp", FP: "r11", Arguments: words("r0 r1 r2 r3"), CalleeSaved: words("r4 r5 r6 r7 r8 r9 r10 r11"),
	Unwinding: UnwindsAlways, ReturnAddress: armReturn,
	Plausible: func(op, size uint64) bool { return size == 2 || size == 4 && op>>28 == 0xe }, WideValues: true,
	Mnemonics: Mnemonics{
		Moves:     words("l mov mvn neg adr mrs vmov clz rev ext uxt sxt pop bl"),
		Injective: words("add sub eor"), Compares: words("cmp cmn tst teq vcmp"),
		Jumps:   words("b bx bxj rfe rfeia rfeib rfeda rfedb"),
		Returns: words("rfe rfeia rfeib rfeda rfedb"),
		Waits:   words("wfi wfe yield"), Stores: words("strex strexb strexh strexd stlex stlexb stlexh stlexd"),
	},
	Flags: words("cpsr apsr psr xpsr fpscr"),
}

// aarch64Return removes a signature, which is in the bits above those of an address: they are all like bit 55 otherwise.
func aarch64Return(saved Addr, signed bool) Addr {
	const sign, above Addr = 1 << 55, 0xffff << 48
	switch {
	case !signed:
		return saved
	case saved&sign != 0:
		return saved | above
	}
	return saved &^ above
}

var aarch64 = &Machine{
	Name: "aarch64", Title: "AArch64", Family: "arm", GOARCH: "arm64", Architectures: []string{"aarch64"},
	Features: []string{"org.gnu.gdb.aarch64."},
	ELF:      elf.EM_AARCH64, Multiarch: "aarch64-linux-gnu", AddrSize: 8, Order: little, LittleCode: true,
	Loaded: [2]Addr{0xaaaa00000000, 0xffffffffffff}, C: c64.unsigned(), Breakpoint: []byte{0x00, 0x00, 0x20, 0xd4},
	Registers: slices.Concat(padded(registers(General, 8, numbered("x", 29)...)), []Register{
		{Name: "x29", Size: 8, Aliases: []string{"fp"}}, {Name: "x30", Size: 8, Aliases: []string{"lr"}}, {Name: "sp", Size: 8},
		{Name: "pc", Size: 8, Kind: Status}, {Name: "cpsr", Size: 4, Kind: Status, Aliases: []string{"pstate"}},
	}, registers(Status, 4, "fpsr", "fpcr"), registers(Vector, 16, numbered("v", 32)...)),
	Parts: aarch64Parts(),
	DWARF: dwarf(map[int][]string{0: numbered("x", 31), 31: {"sp"}, 64: numbered("v", 32)}),
	PC:    "pc", SP: "sp", FP: "x29", Zero: "xzr", ThreadPointer: "tpidr", Arguments: numbered("x", 8),
	CalleeSaved: words("x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29"), FrameChain: true, ReturnAddress: aarch64Return,
	Results: &Results{
		General: numbered("x", 8), Vector: numbered("v", 8), Homogeneous: 4,
		GoGeneral: numbered("x", 16), GoVector: numbered("v", 16), Goroutine: "x28",
	},
	Wider: map[string]string{"v": "z"}, BlocksAbove: 16,
	Plausible: func(op, size uint64) bool { return size == 4 && op>>25&0xf >= 4 }, WideValues: true,
	Mnemonics: Mnemonics{
		Moves:     words("l mov mvn neg adr mrs fmov clz rev ext uxt sxt bl"),
		Injective: words("add sub eor"), Compares: words("cmp cmn tst fcmp ccmp"),
		Jumps:   words("b br blr ret eret eretaa"),
		Returns: words("eret eretaa eretab"),
		Waits:   words("wfi wfe yield wfit wfet"), Stores: words("stxr stxrb stxrh stxp stlxr stlxrb stlxrh stlxp"),
	},
	Flags: words("cpsr nzcv psr fpsr"),
}

// aarch64Parts are the narrower registers. xzr is no register of target descriptions, but wzr is a part of it all the same.
func aarch64Parts() []Part {
	parts := []Part{{Name: "wsp", Of: "sp", Size: 4, Whole: true}, {Name: "wzr", Of: "xzr", Size: 4, Whole: true}}
	for i, name := range numbered("w", 31) {
		parts = append(parts, Part{Name: name, Of: numbered("x", 31)[i], Size: 4, Whole: true})
	}
	for i, of := range numbered("v", 32) {
		for _, view := range []struct {
			prefix string
			size   int
		}{{"q", 16}, {"d", 8}, {"s", 4}, {"h", 2}, {"b", 1}} {
			parts = append(parts, Part{Name: numbered(view.prefix, 32)[i], Of: of, Size: view.size})
		}
	}
	return parts
}
