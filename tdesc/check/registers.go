package check

import "strings"

const (
	m68kCore = "d0-d7 a0-a5 fp sp ps pc"
	sparcCPU = "g0-g7 o0-o5 sp o7 l0-l7 i0-i5 fp i7"
)

// x86 makes the features of i386 and x86-64, which differ in the registers, and in that GDB 13 fails an assertion on the
// segment bases of i386.
func x86(general, xmm, ymm, avx512, linux string) []feature {
	return []feature{
		{
			name:      "i386.core",
			registers: general + " eflags cs ss ds es fs gs st0-st7 fctrl fstat ftag fiseg fioff foseg fooff fop",
		},
		{name: "i386.sse", registers: xmm + " mxcsr"},
		{name: "i386.avx", registers: ymm, requires: []string{"i386.sse"}},
		{name: "i386.avx512", registers: avx512, requires: []string{"i386.avx"}},
		{name: "i386.mpx", registers: "bnd0raw bnd1raw bnd2raw bnd3raw bndcfgu bndstatus", until: 14},
		{name: "i386.linux", registers: linux},
		{name: "i386.segments", registers: "fs_base gs_base", crashes: strings.HasPrefix(general, "e")},
		{name: "i386.pkeys", registers: "pkru"},
		{name: "i386.pl3_ssp", registers: "pl3_ssp", since: 17},
	}
}

var power = []feature{
	{name: "power.core", registers: "r0-r31 pc msr|ps ?cr|cnd lr ?ctr|cnt xer"},
	{name: "power.fpu", registers: "f0-f31 fpscr"},
	{name: "power.altivec", registers: "vr0-vr31 vscr vrsave"},
	{name: "power.vsx", registers: "vs0h-vs31h", requires: []string{"power.fpu", "power.altivec"}},
	{name: "power.spe", registers: "ev0h-ev31h acc spefscr", excludes: []string{"power.fpu"}},
	{name: "power.linux", registers: "?orig_r3 ?trap"},
	{name: "power.ppr", registers: "ppr"},
	{name: "power.dscr", registers: "dscr"},
	{name: "power.tar", registers: "tar"},
	{name: "power.ebb", registers: "bescr ebbhr ebbrr"},
	{name: "power.linux.pmu", registers: "mmcr0 mmcr2 siar sdar sier"},
	{name: "power.htm.spr", registers: "tfhar texasr tfiar"},
	{name: "power.htm.core", registers: "cr0-cr31 ccr cxer clr cctr"},
	{name: "power.htm.fpu", registers: "cf0-cf31 cfpscr"},
	{name: "power.htm.altivec", registers: "cvr0-cvr31 cvscr cvrsave"},
	{name: "power.htm.vsx", registers: "cvs0h-cvs31h", requires: []string{"power.htm.fpu", "power.htm.altivec"}},
	{name: "power.htm.ppr", registers: "cppr"},
	{name: "power.htm.dscr", registers: "cdscr"},
	{name: "power.htm.tar", registers: "ctar"},
}

// arcAux is in its feature the same for all ARC.
const arcAux = "pc status32 ?lp_start ?lp_end ?bta"

// arc makes the features of an ARC, which differ in the registers from r29 to r30. GDB takes them by their older names, too.
func arc(ilink string) []feature {
	core := "r0-r3 ?r4-r9 r10-r15 ?r16-r25 gp fp sp " + ilink + " blink ?r32-r59 ?lp_count pcl"
	return []feature{
		{name: "arc.core", registers: core},
		{name: "arc.core.v2", registers: core, instead: "arc.core"},
		{name: "arc.core-reduced.v2", registers: core, instead: "arc.core"},
		{name: "arc.core.arcompact", registers: core, instead: "arc.core"},
		{name: "arc.aux", registers: arcAux},
		{name: "arc.aux-minimal", registers: arcAux, instead: "arc.aux"},
	}
}

var arcRequired = [][]string{{"arc.core", "arc.core.v2", "arc.core-reduced.v2", "arc.core.arcompact"},
	{"arc.aux", "arc.aux-minimal"}}

// riscv has the upper half of the integer registers optional because the E variants lack it.
var riscv = []feature{
	{
		name: "riscv.cpu",
		registers: "x0|zero x1|ra x2|sp x3|gp x4|tp x5|t0 x6|t1 x7|t2 x8|fp|s0 x9|s1 x10|a0 x11|a1 x12|a2 x13|a3 x14|a4 x15|a5 " +
			"[x16|a6 x17|a7 x18|s2 x19|s3 x20|s4 x21|s5 x22|s6 x23|s7 x24|s8 x25|s9 x26|s10 x27|s11 x28|t3 x29|t4 x30|t5 x31|t6] pc",
		equal: equalAll,
	},
	{
		name: "riscv.fpu",
		registers: "f0|ft0 f1|ft1 f2|ft2 f3|ft3 f4|ft4 f5|ft5 f6|ft6 f7|ft7 f8|fs0 f9|fs1 f10|fa0 f11|fa1 f12|fa2 f13|fa3 " +
			"f14|fa4 f15|fa5 f16|fa6 f17|fa7 f18|fs2 f19|fs3 f20|fs4 f21|fs5 f22|fs6 f23|fs7 f24|fs8 f25|fs9 f26|fs10 f27|fs11 " +
			"f28|ft8 f29|ft9 f30|ft10 f31|ft11 ?fflags ?frm ?fcsr",
		equal: equalNeeded,
	},
	{name: "riscv.virtual", registers: "?priv"},
	{name: "riscv.csr"},
	{name: "riscv.vector", registers: "v0-v31", equal: equalNeeded},
}

// s390 is the same for both sizes of addresses. If there is no r0, GDB looks for each register as two halves.
var s390 = []feature{
	{name: "s390.core", registers: "pswm pswa [r0-r15] {r0l-r15l r0h-r15h}"},
	{name: "s390.fpr", registers: "fpc f0-f15"},
	{name: "s390.acr", registers: "acr0-acr15"},
	{name: "s390.linux", registers: "?orig_r2 [system_call last_break]"},
	{name: "s390.tdb", registers: "tdb0 tac tct atia tr0-tr15"},
	{name: "s390.vx", registers: "v0l-v15l v16-v31"},
	{name: "s390.gs", registers: "gsd gssm gsepla"},
	{name: "s390.gsbc", registers: "bc_gsd bc_gssm bc_gsepla", requires: []string{"s390.gs"}},
}
