package arch

import "debug/elf"

// table has all rows. Its order matters in two places: an execution trace is taken for the first of the machines that fit it
// equally well, and a description without an architecture for the first that it could be of.
var table = []*Machine{
	AMD64, x32, i386,
	MIPS, mips64,
	riscv32, RISCV64, riscvAny,
	arm, aarch64,
	powerPC64, powerPC,
	s390x, s390, s390Any,
	loongArch64, loongArch32,
	sparc64, sparc,
	alpha, coldfire, m68k, hppa, superH, m32r, avr,
}

// C on most machines of 32 and 64 bits.
var (
	c32 = C{Pointer: 4, Long: 4, LongDouble: LongDoublePlain}
	c64 = C{Pointer: 8, Long: 8, LongDouble: LongDoubleQuad}
)

// unsigned is C where a plain char has no sign.
func (c C) unsigned() C {
	c.UnsignedChar = true
	return c
}

// with is C with another long double.
func (c C) with(d LongDouble) C {
	c.LongDouble = d
	return c
}

// The types of C are what GDB 13.1 answers to sizeof and print with each architecture selected and no program loaded: so MIPS
// has the sizes of the ABI o32 also with 64-bit registers, and SPARC V9 those of its narrower sister unless the system is
// Linux. LoongArch and Alpha, which that GDB was built without, are by the documents of their ABIs.

var (
	powerRegisters = func(size int) []Register {
		return append(append(registers(General, size, numbered("r", 32)...),
			append(registers(Float, 8, numbered("f", 32)...), registers(Vector, 16, numbered("vr", 32)...)...)...),
			append(registers(Status, size, "pc", "msr", "lr", "ctr"), registers(Status, 4, "cr", "xer")...)...)
	}
	powerDWARF = dwarf(map[int][]string{0: numbered("r", 32), 32: numbered("f", 32), 1124: numbered("vr", 32)})

	powerPC = &Machine{
		Name: "powerpc", Title: "PowerPC of 32 bits", Family: "powerpc", Architectures: []string{"powerpc", "rs6000"},
		ELF: elf.EM_PPC, Multiarch: "powerpc-linux-gnu", AddrSize: 4, Order: big,
		C: c32.with(LongDoublePadded).unsigned(), Linux: c32.with(LongDoublePair).unsigned(),
		Breakpoint: []byte{0x7d, 0x82, 0x10, 0x08}, Registers: powerRegisters(4), DWARF: powerDWARF,
		PC: "pc", SP: "r1", Arguments: words("r3 r4 r5 r6 r7 r8 r9 r10"), CalleeSaved: numbered("r", 32)[14:],
		Mnemonics: powerMnemonics, Flags: words("cr cr0 fpscr"),
	}
	powerPC64 = &Machine{
		Name: "powerpc64", Title: "PowerPC of 64 bits", Family: "powerpc",
		Architectures: words("powerpc:common64 powerpc:620 powerpc:630 powerpc:a35 powerpc:rs64"),
		ELF:           elf.EM_PPC64, Multiarch: "powerpc64le-linux-gnu", AddrSize: 8, Order: big,
		C: c64.with(LongDoublePadded).unsigned(), Linux: c64.with(LongDoublePair).unsigned(),
		Breakpoint: powerPC.Breakpoint, Registers: powerRegisters(8), DWARF: powerDWARF,
		PC: "pc", SP: "r1", Arguments: powerPC.Arguments, CalleeSaved: powerPC.CalleeSaved,
		Mnemonics: powerMnemonics, Flags: powerPC.Flags,
	}
	powerMnemonics = Mnemonics{Moves: words("l neg"), Compares: words("cmp fcmp"), Jumps: words("b ba blr bctr rfi rfid")}
)

var (
	s390Registers = func(size int) []Register {
		return append(append(registers(Status, size, "pswm", "pswa"), registers(General, size, numbered("r", 16)...)...),
			append(registers(Status, 4, numbered("acr", 16)...),
				append(registers(Status, 4, "fpc"), registers(Float, 8, numbered("f", 16)...)...)...)...)
	}
	// s390DWARF has the floating-point registers in the pairs that made up the wide ones.
	s390DWARF = dwarf(map[int][]string{0: numbered("r", 16), 48: numbered("acr", 16), 64: {"pswm", "pswa"},
		16: words("f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15")})

	s390x = &Machine{
		Name: "s390x", Title: "S/390 of 64 bits", Family: "s390", Architectures: []string{"s390:64-bit"},
		ELF: elf.EM_S390, Multiarch: "s390x-linux-gnu", AddrSize: 8, Order: big, OneOrder: true, C: c64.unsigned(),
		Breakpoint: []byte{0x00, 0x01}, TrapShift: 2, Registers: s390Registers(8), DWARF: s390DWARF,
		PC: "pswa", SP: "r15", Arguments: words("r2 r3 r4 r5 r6"), CalleeSaved: words("r6 r7 r8 r9 r10 r11 r12 r13"),
		CallerSP: 160, Unwinding: UnwindsAlways, Flags: []string{"fpc"},
	}
	s390 = &Machine{
		Name: "s390", Title: "S/390 of 31 bits", Family: "s390", Architectures: []string{"s390:31-bit"},
		ELF: elf.EM_S390, Multiarch: "s390-linux-gnu", AddrSize: 4, Order: big, OneOrder: true,
		C: c32.with(LongDoubleQuad).unsigned(), Breakpoint: s390x.Breakpoint, TrapShift: s390x.TrapShift,
		Registers: s390Registers(4), DWARF: s390DWARF,
		PC: "pswa", SP: "r15", Arguments: s390x.Arguments, CalleeSaved: s390x.CalleeSaved, CallerSP: 96, Unwinding: UnwindsAlways,
	}
	s390Any = &Machine{
		Name: "s390:any", Title: "S/390", Family: "s390", Architectures: []string{"s390"}, Order: big, OneOrder: true,
		C: C{UnsignedChar: true}, Registers: s390Registers(0), PC: "pswa", SP: "r15", Unwinding: UnwindsAlways,
	}
)

var (
	loongArchRegisters = func(size int) []Register {
		general := called(registers(General, size, numbered("r", 32)...), words(`zero ra tp sp a0 a1 a2 a3 a4 a5 a6 a7
			t0 t1 t2 t3 t4 t5 t6 t7 t8 r21 fp s0 s1 s2 s3 s4 s5 s6 s7 s8`))
		return append(append(general, registers(Float, 8, numbered("f", 32)...)...), append(registers(Status, size, "pc", "badv"),
			append(registers(Status, 1, numbered("fcc", 8)...), registers(Status, 4, "fcsr")...)...)...)
	}
	loongArchDWARF = dwarf(map[int][]string{0: numbered("r", 32), 32: numbered("f", 32)})

	loongArch64 = &Machine{
		Name: "loongarch64", Title: "LoongArch of 64 bits", Family: "loongarch", Architectures: []string{"loongarch64"},
		ELF: elf.EM_LOONGARCH, Multiarch: "loongarch64-linux-gnu", AddrSize: 8, Order: little, OneOrder: true, LittleCode: true, C: c64,
		Breakpoint: []byte{0x05, 0x00, 0x2a, 0x00}, Registers: loongArchRegisters(8), DWARF: loongArchDWARF,
		PC: "pc", SP: "r3", FP: "r22", Zero: "r0", ThreadPointer: "r2", Arguments: words("r4 r5 r6 r7 r8 r9 r10 r11"),
		CalleeSaved: words("r22 r23 r24 r25 r26 r27 r28 r29 r30 r31"), Flags: []string{"fcsr"},
	}
	loongArch32 = &Machine{
		Name: "loongarch32", Title: "LoongArch of 32 bits", Family: "loongarch", Architectures: []string{"loongarch32"},
		ELF: elf.EM_LOONGARCH, Multiarch: "loongarch32-linux-gnu", AddrSize: 4, Order: little, OneOrder: true, LittleCode: true,
		C: c32.with(LongDoubleQuad), Breakpoint: loongArch64.Breakpoint, Registers: loongArchRegisters(4), DWARF: loongArchDWARF,
		PC: "pc", SP: "r3", FP: "r22", Zero: "r0", ThreadPointer: "r2", Arguments: loongArch64.Arguments,
		CalleeSaved: loongArch64.CalleeSaved,
	}
)

// Of the rest the tree has no descriptions of its own: what is known is what trace files and descriptions of others need.
var (
	sparc64 = &Machine{
		Name: "sparc64", Title: "SPARC V9", Family: "sparc", Architectures: []string{"sparc:v9"}, ELF: elf.EM_SPARCV9, AddrSize: 8,
		Order: big, OneOrder: true, C: c32.with(LongDoubleQuad), Linux: c64, PC: "pc", SP: "sp", FP: "fp", Unwinding: UnwindsFrames,
	}
	sparc = &Machine{
		Name: "sparc", Title: "SPARC", Family: "sparc", Architectures: []string{"sparc"}, ELF: elf.EM_SPARC, AddrSize: 4,
		Order: big, OneOrder: true, C: c32.with(LongDoubleQuad), PC: "pc", SP: "sp", FP: "fp", Unwinding: UnwindsFrames,
		Flags: []string{"psr"},
	}
	alpha = &Machine{
		Name: "alpha", Title: "Alpha", Family: "alpha", Architectures: []string{"alpha"}, Features: []string{"org.gnu.gdb.alpha."},
		ELF: elf.EM_ALPHA, AddrSize: 8, Order: little, C: c64.with(LongDoublePlain), PC: "pc",
	}
	// coldfire is the m68k without its extended floating point.
	coldfire = &Machine{
		Name: "coldfire", Title: "ColdFire", Family: "m68k", Architectures: words("m68k:isa- m68k:52 m68k:53 m68k:54 m68k:cfv4e"),
		Features: []string{"org.gnu.gdb.coldfire.core"}, Order: big, OneOrder: true, C: c32, PC: "pc", SP: "sp", FP: "fp",
		Unwinding: UnwindsFrames,
	}
	m68k = &Machine{
		Name: "m68k", Title: "Motorola 68000", Family: "m68k", Architectures: []string{"m68k"},
		Features: words("org.gnu.gdb.m68k. org.gnu.gdb.fido."), ELF: elf.EM_68K, AddrSize: 4, Order: big, OneOrder: true,
		C: c32.with(LongDoubleM68k), PC: "pc", SP: "sp", FP: "fp", Unwinding: UnwindsFrames, Flags: words("sr ccr"),
	}
	hppa = &Machine{
		Name: "hppa", Title: "PA-RISC", Family: "hppa", Architectures: []string{"hppa"}, ELF: elf.EM_PARISC, AddrSize: 4, Order: big,
		C: c32.with(LongDoubleQuad), Linux: c32,
	}
	superH = &Machine{
		Name: "sh", Title: "SuperH", Family: "sh", Architectures: []string{"sh"}, ELF: elf.EM_SH, AddrSize: 4, Order: little, C: c32,
		PC: "pc", SP: "r15",
	}
	m32r = &Machine{
		Name: "m32r", Title: "M32R", Family: "m32r", Architectures: []string{"m32r"}, ELF: elf.EM_M32R, AddrSize: 4, Order: big, C: c32,
		PC: "pc", SP: "r15",
	}
	avr = &Machine{Name: "avr", Title: "AVR", Family: "avr", Architectures: []string{"avr"}, Order: little, OneOrder: true}
)
