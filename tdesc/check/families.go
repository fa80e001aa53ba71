package check

// Names of features without this are nobody's but their author's.
const prefix = "org.gnu.gdb."

// family is the architectures for which GDB asks for the same features.
type family struct {
	name          string     // for people
	architectures []string   // names as in <architecture>, in small letters; with * at the end, all that begin so
	since         int        // the GDB that first takes registers of a description at all; 0 for 13 and before, never for none
	required      [][]string // of the features in each row GDB needs one
	features      []feature
}

// never is a GDB that there is not yet.
const never = 1 << 30

// feature is a standard feature. The registers are words separated by blanks:
//
//	pc        GDB rejects the description without it
//	x0-x30    so many of them
//	x1|ra     either name
//	?ilink    GDB uses it if it is there
//	~restart  without it GDB makes nothing of the feature, and does not say so
//	!z0       without it GDB crashes
//	[x16-x31] all of them, if the first is there
//	{a0-a3}   all of them, if the first in the brackets before them is not there
//
// Names are compared without regard to case.
type feature struct {
	name      string // behind the prefix
	registers string
	requires  []string // other features that GDB needs beside it
	excludes  []string // those that it does not bear beside it
	useless   string   // the feature without which GDB makes nothing of this one
	beside    string   // registers that GDB needs in that one, if it is there
	equal     equality // which of its registers GDB needs to have the same bitsize
	forgets   []string // the features that GDB 13 takes without all of their registers, if this one is there
	crashes   bool     // GDB 13 crashes on the feature
	since     int      // the GDB that knows it first; 0 for 13 and before
	until     int      // the last GDB that knows it; 0 for the newest
	instead   string   // the feature that has taken its place
}

// equality is which registers have to have the same bitsize.
type equality uint8

const (
	anySize     equality = iota
	equalNeeded          // those that the feature needs
	equalAll             // all that it has, also those of other names
)

// families is what GDB's manual says in the chapter on standard target features, corrected by trying each of the registers
// with GDB 13, as far as Debian's is made for the architecture; the test does so. Where GDB does without a register that
// the manual asks for it has a question mark.
var families = []family{
	{
		name:          "AArch64",
		architectures: []string{"aarch64*"},
		required:      [][]string{{"aarch64.core"}},
		features: []feature{
			{name: "aarch64.core", registers: "x0-x30 sp pc cpsr"},
			{name: "aarch64.fpu", registers: "v0-v31 fpsr fpcr", excludes: []string{"aarch64.sve"}},
			{name: "aarch64.sve", registers: "!z0 z1-z31 fpsr fpcr p0-p15 ffr vg"},
			{name: "aarch64.pauth", registers: "pauth_dmask pauth_cmask ?pauth_dmask_high ?pauth_cmask_high", instead: "aarch64.pauth_v2"},
			{name: "aarch64.pauth_v2", registers: "pauth_dmask pauth_cmask ?pauth_dmask_high ?pauth_cmask_high", since: 14},
			{name: "aarch64.mte", registers: "tag_ctl"},
			{name: "aarch64.tls", registers: "tpidr ?tpidr2", forgets: []string{"aarch64.core", "aarch64.fpu", "aarch64.sve"}},
			{name: "aarch64.sme", registers: "za svg svcr", since: 14},
			{name: "aarch64.sme2", registers: "zt0", requires: []string{"aarch64.sme"}, since: 14},
			{name: "aarch64.gcs", registers: "gcspr", since: 17},
			{
				name: "aarch64.gcs.linux", registers: "gcs_features_enabled gcs_features_locked",
				requires: []string{"aarch64.gcs"}, since: 17,
			},
			{name: "aarch64.fpmr", registers: "fpmr", since: 18},
		},
	},
	{
		name:          "Alpha",
		architectures: []string{"alpha*"},
		since:         15,
		required:      [][]string{{"alpha.core"}},
		features: []feature{{
			name:      "alpha.core",
			registers: "v0 t0-t7 s0-s5 fp a0-a5 t8-t11 ra t12 at gp sp zero f0-f30 fpcr pc unique",
		}},
	},
	{
		name:          "ARC",
		architectures: []string{"arc", "arc6*", "arc7*", "a6", "a7"},
		required:      arcRequired,
		features:      arc("?ilink ?ilink1 ?ilink2 ?r30"),
	},
	{
		name:          "ARCv2",
		architectures: []string{"arcv2", "em", "hs"},
		required:      arcRequired,
		features:      arc("?ilink r30"),
	},
	{
		name:          "Arm",
		architectures: []string{"arm*", "xscale", "ep9312", "iwmmxt*"},
		required:      [][]string{{"arm.core", "arm.m-profile"}},
		features: []feature{
			{name: "arm.core", registers: "r0-r12 sp|r13 lr|r14 pc|r15 cpsr"},
			{name: "arm.m-profile", registers: "r0-r12 sp|r13 lr|r14 pc|r15 xpsr"},
			{name: "arm.fpa", registers: "f0-f7 fps", instead: "arm.vfp"},
			{name: "arm.vfp", registers: "d0-d15 [d16-d31] fpscr"},
			{name: "arm.neon", useless: "arm.vfp", beside: "d16-d31"},
			{name: "arm.m-system", registers: "msp psp", useless: "arm.m-profile"},
			{name: "arm.secext", registers: "msp_ns psp_ns msp_s psp_s", useless: "arm.m-profile"},
			{name: "arm.m-profile-mve", registers: "vpr", useless: "arm.m-profile"},
			{name: "arm.m-profile-pacbti", useless: "arm.m-profile"},
			{name: "arm.tls", registers: "tpidruro"},
			{name: "xscale.iwmmxt", registers: "wr0-wr15 ?wcid ?wcon ?wcssf ?wcasf wcgr0-wcgr3"},
		},
	},
	{
		name:          "x86-64",
		architectures: []string{"i386:x86-64*", "i386:x64-32*"},
		required:      [][]string{{"i386.core"}},
		features: x86(
			"rax rbx rcx rdx rsi rdi rbp rsp r8-r15 rip", "xmm0-xmm15", "ymm0h-ymm15h",
			"k0-k7 zmm0h-zmm15h xmm16-xmm31 ymm16h-ymm31h zmm16h-zmm31h", "~orig_rax",
		),
	},
	{
		name:          "i386",
		architectures: []string{"i386*", "i8086"},
		required:      [][]string{{"i386.core"}},
		features: x86(
			"eax ecx edx ebx esp ebp esi edi eip", "xmm0-xmm7", "ymm0h-ymm7h", "k0-k7 zmm0h-zmm7h",
			"~orig_eax ?i386_tls_gdt_0 ?i386_tls_gdt_1 ?i386_tls_gdt_2",
		),
	},
	{
		name:          "LoongArch",
		architectures: []string{"loongarch*"},
		required:      [][]string{{"loongarch.base"}},
		features: []feature{
			{
				name: "loongarch.base",
				registers: "r0|zero r1|ra r2|tp r3|sp r4|a0 r5|a1 r6|a2 r7|a3 r8|a4 r9|a5 r10|a6 r11|a7 r12|t0 r13|t1 r14|t2 r15|t3 " +
					"r16|t4 r17|t5 r18|t6 r19|t7 r20|t8 r21 r22|fp r23|s0 r24|s1 r25|s2 r26|s3 r27|s4 r28|s5 r29|s6 r30|s7 r31|s8 " +
					"?orig_a0 pc badv",
			},
			{name: "loongarch.fpu", registers: "f0-f31 ?fcc ?fcc0-fcc7 fcsr"},
			{name: "loongarch.lsx", registers: "vr0-vr31", since: 16},
			{name: "loongarch.lasx", registers: "xr0-xr31", since: 16},
			{name: "loongarch.lbt", registers: "scr0-scr3 eflags ftop", since: 16},
		},
	},
	{
		name:          "MicroBlaze",
		architectures: []string{"microblaze*"},
		required:      [][]string{{"microblaze.core"}},
		features: []feature{
			{
				name:      "microblaze.core",
				registers: "r0-r31 rpc rmsr rear resr rfsr rbtr rpvr0|rpvr rpvr1-rpvr11 redr rpid rzpr rtlbx rtlbsx rtlblo rtlbhi",
			},
			{name: "microblaze.stack-protect", registers: "rslr rshr"},
		},
	},
	{
		name:          "MIPS",
		architectures: []string{"mips*"},
		required:      [][]string{{"mips.cpu"}, {"mips.cp0"}, {"mips.fpu"}},
		features: []feature{
			{name: "mips.cpu", registers: "r0-r31 lo hi pc"},
			{name: "mips.cp0", registers: "status badvaddr cause"},
			{name: "mips.fpu", registers: "f0-f31 fcsr fir"},
			{name: "mips.dsp", registers: "hi1-hi3 lo1-lo3 dspctl"},
			{name: "mips.linux", registers: "~restart"},
		},
	},
	{
		name:          "Motorola 68000",
		architectures: []string{"m68k*", "68*"},
		required:      [][]string{{"m68k.core", "coldfire.core", "fido.core"}},
		features: []feature{
			{name: "m68k.core", registers: m68kCore},
			{name: "coldfire.core", registers: m68kCore},
			{name: "fido.core", registers: m68kCore},
			{name: "coldfire.fp", registers: "fp0-fp7 fpcontrol fpstatus fpiaddr"},
		},
	},
	{
		name:          "NDS32",
		architectures: []string{"nds32*", "n1*"},
		required:      [][]string{{"nds32.core"}},
		features: []feature{
			{name: "nds32.core", registers: "r0-r10 ?r11-r14 r15 ?r16-r27 fp gp lp sp pc ?d0lo ?d0hi ?d1lo ?d1hi"},
			{name: "nds32.fpu", registers: "fd0-fd3 ?fd4-fd31 ?fs0-fs31"},
		},
	},
	{
		name:          "Nios II",
		architectures: []string{"nios2*"},
		required:      [][]string{{"nios2.cpu"}},
		features: []feature{{
			name: "nios2.cpu",
			registers: "zero at r2-r23 et bt gp sp fp ea sstatus ra pc status estatus bstatus ienable ipending cpuid ctl6 exception " +
				"pteaddr tlbacc tlbmisc eccinj badaddr config mpubase mpuacc",
		}},
	},
	{
		name:          "OpenRISC 1000",
		architectures: []string{"or1k*"},
		required:      [][]string{{"or1k.group0"}},
		features:      []feature{{name: "or1k.group0", registers: "r0-r31 ppc npc sr"}},
	},
	{
		name:          "PowerPC",
		architectures: []string{"powerpc*", "rs6000*"},
		required:      [][]string{{"power.core"}},
		features:      power,
	},
	{
		name:          "RISC-V",
		architectures: []string{"riscv*"},
		required:      [][]string{{"riscv.cpu"}},
		features:      riscv,
	},
	{
		name:          "RX",
		architectures: []string{"rx*"},
		required:      [][]string{{"rx.core"}},
		features:      []feature{{name: "rx.core", registers: "r0-r15 usp isp psw pc intb bpsw bpc fintv fpsw acc"}},
	},
	{
		name:          "s390",
		architectures: []string{"s390*"},
		required:      [][]string{{"s390.core"}, {"s390.fpr"}, {"s390.acr"}},
		features:      s390,
	},
	{
		name:          "SPARC, 64 bits",
		architectures: []string{"sparc:v9*"},
		required:      [][]string{{"sparc.cpu"}, {"sparc.fpu"}, {"sparc.cp0"}},
		features: []feature{
			{name: "sparc.cpu", registers: sparcCPU},
			{name: "sparc.fpu", registers: "f0-f31 f32 f34 f36 f38 f40 f42 f44 f46 f48 f50 f52 f54 f56 f58 f60 f62"},
			{name: "sparc.cp0", registers: "pc npc state fsr fprs y"},
		},
	},
	{
		name:          "SPARC",
		architectures: []string{"sparc*"},
		required:      [][]string{{"sparc.cpu"}, {"sparc.fpu"}, {"sparc.cp0"}},
		features: []feature{
			{name: "sparc.cpu", registers: sparcCPU},
			{name: "sparc.fpu", registers: "f0-f31"},
			{name: "sparc.cp0", registers: "y psr wim tbr pc npc fsr csr"},
		},
	},
	{
		name:          "TMS320C6x",
		architectures: []string{"tic6x*"},
		required:      [][]string{{"tic6x.core"}},
		features: []feature{
			{name: "tic6x.core", registers: "a0-a15 b0-b15 csr pc"},
			{name: "tic6x.gp", registers: "a16-a31 b16-b31"},
			{name: "tic6x.c6xp", registers: "tsr ilc rilc"},
		},
	},
	{
		name:          "Z80",
		architectures: []string{"z80*", "ez80*", "gbz80", "r800", "z180"},
		required:      [][]string{{"z80.cpu"}},
		features: []feature{{
			name: "z80.cpu", registers: "af bc de hl sp pc ix iy af' bc' de' hl' ir ?sps",
		}},
	},
	{name: "HP-PA", architectures: []string{"hppa*"}, since: never},
	{name: "Itanium", architectures: []string{"ia64*"}, since: never},
	{name: "SuperH", architectures: []string{"sh*"}, since: never},
}
