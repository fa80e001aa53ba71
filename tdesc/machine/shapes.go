package machine

import "tracewell/tdesc"

// Shape is a machine by a name.
type Shape struct {
	Name string
	Machine
}

// Machine is what every type of this package is.
type Machine interface {
	// Target makes the description, a new one with each call.
	Target() *tdesc.Target
}

// Shapes has machines of every kind that this package can describe, from the least to the most of each: to choose one by
// name, and to test with.
func Shapes() []Shape {
	avx := AMD64{OrigRAX: true, Segments: true, AVX: true}
	x32 := avx
	x32.X32 = true
	avx512 := AMD64{OrigRAX: true, Segments: true, AVX: true, AVX512: true, PKU: true}
	power8 := Power{Bits: 64, FPU: true, AltiVec: true, VSX: true, PPR: true, TAR: true, EBB: true}
	transactions := power8
	transactions.HTM = true
	return []Shape{
		{"amd64", LinuxAMD64},
		{"amd64-avx", avx},
		{"amd64-avx512", avx512},
		{"x32-avx", x32},
		{"i386", I386{OrigEAX: true}},
		{"i386-sse", I386{SSE: true, OrigEAX: true}},
		{"i386-avx512", I386{SSE: true, OrigEAX: true, AVX: true, AVX512: true, PKU: true}},
		{"aarch64-core", AArch64{}},
		{"aarch64", AArch64{FPU: true}},
		{"aarch64-auth", AArch64{FPU: true, Auth: true, MTE: true, TLS: 1}},
		{"aarch64-sve128", AArch64{SVE: 1}},
		{"aarch64-sve512", AArch64{SVE: 4, Auth: true, TLS: 2}},
		{"aarch64-sve2048", AArch64{SVE: 16}},
		{"arm", ARM{}},
		{"arm-vfpv2", ARM{VFP: 16}},
		{"arm-neon", ARM{VFP: 32, NEON: true, TLS: true}},
		{"arm-m", ARMM{}},
		{"arm-m-fpu", ARMM{VFP: true, System: true}},
		{"arm-m-mve", ARMM{VFP: true, MVE: true, System: true, SecExt: true}},
		{"riscv32", RISCV{Bits: 32}},
		{"riscv32-e", RISCV{Bits: 32, E: true}},
		{"riscv32-f", RISCV{Bits: 32, Float: 32}},
		{"riscv32-d", RISCV{Bits: 32, Float: 64, OSABI: linux}},
		{"riscv64", RISCV{Bits: 64, OSABI: linux}},
		{"riscv64-f", RISCV{Bits: 64, Float: 32}},
		{"riscv64-d", RISCV{Bits: 64, Float: 64, OSABI: linux}},
		{"riscv64-v256", RISCV{Bits: 64, Float: 64, Vector: 256, OSABI: linux}},
		{"mips", MIPS{Bits: 32}},
		{"mips-dsp", MIPS{Bits: 32, DSP: true}},
		{"mips64", MIPS{Bits: 64}},
		{"mips64-dsp", MIPS{Bits: 64, DSP: true}},
		{"power", Power{Bits: 32, FPU: true}},
		{"power-altivec", Power{Bits: 32, FPU: true, AltiVec: true}},
		{"power-spe", Power{Bits: 32, SPE: true}},
		{"power64", Power{Bits: 64, FPU: true}},
		{"power64-vsx", Power{Bits: 64, FPU: true, AltiVec: true, VSX: true, PPR: true}},
		{"power64-8", power8},
		{"power64-htm", transactions},
		{"s390", S390{Bits: 32}},
		{"s390x", S390{Bits: 64, LastBreak: true, SystemCall: true}},
		{"s390x-te", S390{Bits: 64, LastBreak: true, SystemCall: true, TDB: true}},
		{"s390x-gs", S390{Bits: 64, LastBreak: true, SystemCall: true, TDB: true, Vector: true, Guarded: true}},
		{"loongarch32", LoongArch{Bits: 32}},
		{"loongarch64", LoongArch{Bits: 64, FPU: true}},
		{"loongarch64-lasx", LoongArch{Bits: 64, FPU: true, LSX: true, LASX: true}},
	}
}
