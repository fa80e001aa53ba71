package tdesc

import (
	"slices"
	"strings"
)

// model is what an architecture's C types are, as far as registers depend on them.
type model struct {
	pointer      int    // bytes
	long         int    // bytes
	longDouble   *shape // what type float means at its size
	unsignedChar bool
}

// The long doubles that there are.
var (
	x87LongDouble    = &shape{kind: kindFloat, size: 16, float: &i387Ext}
	x86LongDouble    = &shape{kind: kindFloat, size: 12, float: &i387Ext}
	m68kLongDouble   = &shape{kind: kindFloat, size: 12, float: &m68881Ext}
	quadLongDouble   = &shape{kind: kindFloat, size: 16, float: &ieeeQuad}
	pairLongDouble   = &shape{kind: kindFloat, size: 16, float: &ibmPair}
	paddedLongDouble = &shape{kind: kindFloat, size: 16, float: &ieeeDouble}
	plainLongDouble  = predefined["ieee_double"]
)

// family is the architectures whose names begin alike, with the OS ABI where it matters.
type family struct {
	prefixes []string
	osabi    string // "" for any
	model    model
}

const linuxABI = "GNU/Linux"

// power64 has the architectures that the prefix powerpc would take for narrower ones.
var power64 = []string{"powerpc:common64", "powerpc:620", "powerpc:630", "powerpc:a35", "powerpc:rs64"}

// coldfire is the m68k without its extended floating point.
var coldfire = []string{"m68k:isa-", "m68k:52", "m68k:53", "m68k:54", "m68k:cfv4e"}

// families is searched from the top. It is what GDB 13.1 answers to sizeof and print with each architecture selected and no
// program loaded: so MIPS has the sizes of the ABI o32 also with 64-bit registers, and SPARC V9 depends on the OS ABI. Those
// from loongarch64 on, which this GDB was built without, are by the documents of their ABIs. One thing is not followed: without
// a program GDB takes the words of a double on arm in the order of the FPA, where type float asks for one.
var families = []family{
	{[]string{"i386:x86-64"}, "", model{8, 8, x87LongDouble, false}},
	{[]string{"i386:x64-32"}, "", model{4, 4, x87LongDouble, false}},
	{[]string{"i386", "i8086"}, "", model{4, 4, x86LongDouble, false}},
	{[]string{"aarch64"}, "", model{8, 8, quadLongDouble, true}},
	{[]string{"arm", "xscale", "ep9312", "iwmmxt"}, "", model{4, 4, plainLongDouble, true}},
	{[]string{"riscv:rv32", "s390:31-bit"}, "", model{4, 4, quadLongDouble, true}},
	{[]string{"riscv:rv64", "s390:64-bit"}, "", model{8, 8, quadLongDouble, true}},
	{power64, linuxABI, model{8, 8, pairLongDouble, true}},
	{power64, "", model{8, 8, paddedLongDouble, true}},
	{[]string{"powerpc", "rs6000"}, linuxABI, model{4, 4, pairLongDouble, true}},
	{[]string{"powerpc", "rs6000"}, "", model{4, 4, paddedLongDouble, true}},
	{[]string{"mips", "sh", "m32r"}, "", model{4, 4, plainLongDouble, false}},
	{[]string{"sparc:v9"}, linuxABI, model{8, 8, quadLongDouble, false}},
	{[]string{"sparc"}, "", model{4, 4, quadLongDouble, false}},
	{[]string{"alpha"}, "", model{8, 8, plainLongDouble, false}},
	{coldfire, "", model{4, 4, plainLongDouble, false}},
	{[]string{"m68k"}, "", model{4, 4, m68kLongDouble, false}},
	{[]string{"hppa"}, linuxABI, model{4, 4, plainLongDouble, false}},
	{[]string{"hppa"}, "", model{4, 4, quadLongDouble, false}},
	{[]string{"loongarch64"}, "", model{8, 8, quadLongDouble, false}},
	{[]string{"loongarch32"}, "", model{4, 4, quadLongDouble, false}},
}

// homes has the architecture whose types a standard feature goes with, where a description names none. GDB has then to be
// told the architecture; that of x86 depends on the size of a pointer.
var homes = []struct{ prefix, architecture string }{
	{"org.gnu.gdb.aarch64.", "aarch64"},
	{"org.gnu.gdb.arm.", "arm"},
	{"org.gnu.gdb.mips.", "mips"},
	{"org.gnu.gdb.alpha.", "alpha"},
	{"org.gnu.gdb.coldfire.core", "m68k:isa-a"},
	{"org.gnu.gdb.m68k.", "m68k"},
	{"org.gnu.gdb.fido.", "m68k"},
}

// modelOf finds the sizes for a description. Where neither the architecture nor a feature is in the tables, the bitsize of
// the first pointer register tells the size of a pointer, and a long is as wide but at least 32 bits; without one both have
// 64 bits.
func modelOf(t *Target) model {
	architecture := t.Architecture
	for _, f := range t.Features {
		for _, h := range homes {
			if architecture == "" && strings.HasPrefix(f.Name, h.prefix) {
				architecture = h.architecture
			}
		}
	}
	for _, f := range families {
		begins := func(prefix string) bool { return strings.HasPrefix(architecture, prefix) }
		if slices.ContainsFunc(f.prefixes, begins) && (f.osabi == "" || f.osabi == t.OSABI) {
			return f.model
		}
	}
	size := 8
	for _, r := range t.Registers() {
		if (r.Type == "code_ptr" || r.Type == "data_ptr") && (r.Bits == 16 || r.Bits == 32 || r.Bits == 64) {
			size = r.Bits / 8
			break
		}
	}
	return model{pointer: size, long: max(size, 4), longDouble: quadLongDouble}
}
