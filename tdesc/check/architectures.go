package check

import "strings"

// architectures are the names that <architecture> and <compatible> can have, in small letters: GDB does not mind the case. Each
// GDB knows those that it was built for. The list is what GDB 13 for all that Debian builds it for lists, and of the rest of
// binutils 2.40 the processors that GDB has code for.
var architectures = words(`
	68000 68008 68010 68020 68030 68040 68060 a6 a7 aarch64 aarch64:armv8-r aarch64:ilp32 aarch64:llp64 alpha
	alpha:ev4 alpha:ev5 alpha:ev6 am33 am33-2 arc arc600 arc601 arc700 arcv2 arm arm_any armv2 armv2a armv3 armv3m
	armv4 armv4t armv5 armv5t armv5te armv5tej armv6 armv6-m armv6k armv6kz armv6s-m armv6t2 armv7 armv7e-m armv8-a
	armv8-m.base armv8-m.main armv8-r armv8.1-m.main armv9-a avr avr:1 avr:100 avr:101 avr:102 avr:103 avr:104 avr:105
	avr:106 avr:107 avr:2 avr:25 avr:3 avr:31 avr:35 avr:4 avr:5 avr:51 avr:6 bpf cris cris:common_v10_v32 crisv32
	csky csky:ck510 csky:ck610 csky:ck801 csky:ck802 csky:ck803 csky:ck807 csky:ck810 csky:ck860 em ep9312 ez80-adl
	ez80-z80 fr300 fr400 fr450 fr500 fr550 frv ft32 gbz80 h8300 h8300h h8300hn h8300s h8300sn h8300sx h8300sxn hppa
	hppa1.0 hs i386 i386:intel i386:x64-32 i386:x64-32:intel i386:x86-64 i386:x86-64:intel i8086 ia64 ia64-elf32
	ia64-elf64 iq2000 iwmmxt iwmmxt2 lm32 loongarch32 loongarch64 m16c m32c m32r m32r2 m32rx m68hc11 m68hc12 m68k
	m68k:5200 m68k:5206e m68k:521x m68k:5249 m68k:528x m68k:5307 m68k:5407 m68k:547x m68k:548x m68k:68000 m68k:68008
	m68k:68010 m68k:68020 m68k:68030 m68k:68040 m68k:68060 m68k:cfv4e m68k:cpu32 m68k:fido m68k:isa-a m68k:isa-a:emac
	m68k:isa-a:mac m68k:isa-a:nodiv m68k:isa-aplus m68k:isa-aplus:emac m68k:isa-aplus:mac m68k:isa-b m68k:isa-b:emac
	m68k:isa-b:float m68k:isa-b:float:emac m68k:isa-b:float:mac m68k:isa-b:mac m68k:isa-b:nousp m68k:isa-b:nousp:emac
	m68k:isa-b:nousp:mac m68k:isa-c m68k:isa-c:emac m68k:isa-c:mac m68k:isa-c:nodiv m68k:isa-c:nodiv:emac
	m68k:isa-c:nodiv:mac m9s12x m9s12xg mep microblaze mips mips:10000 mips:12000 mips:14000 mips:16 mips:16000
	mips:3000 mips:3900 mips:4000 mips:4010 mips:4100 mips:4111 mips:4120 mips:4300 mips:4400 mips:4600 mips:4650
	mips:5000 mips:5400 mips:5500 mips:5900 mips:6000 mips:7000 mips:8000 mips:9000 mips:gs264e mips:gs464 mips:gs464e
	mips:interaptiv-mr2 mips:isa32 mips:isa32r2 mips:isa32r3 mips:isa32r5 mips:isa32r6 mips:isa64 mips:isa64r2
	mips:isa64r3 mips:isa64r5 mips:isa64r6 mips:loongson_2e mips:loongson_2f mips:micromips mips:mips5 mips:octeon
	mips:octeon+ mips:octeon2 mips:octeon3 mips:sb1 mips:xlr mn10300 moxie msp430 msp:430x n1 n1h n1h_v2 n1h_v3
	n1h_v3m nds32 nios2 nios2:r1 nios2:r2 or1k or1knd powerpc powerpc:403 powerpc:601 powerpc:603 powerpc:604
	powerpc:620 powerpc:630 powerpc:7400 powerpc:750 powerpc:a35 powerpc:common powerpc:common64 powerpc:e500
	powerpc:e500mc powerpc:e500mc64 powerpc:e5500 powerpc:e6500 powerpc:ec603e powerpc:mpc8xx powerpc:rs64ii
	powerpc:rs64iii powerpc:titan powerpc:vle pru r800 riscv riscv:rv32 riscv:rv64 rl78 rs6000 rs6000:6000 rs6000:rs1
	rs6000:rs2 rs6000:rsc rx rx:v2 rx:v3 s390 s390:31-bit s390:64-bit sh sh-dsp sh2 sh2a sh2a-nofpu
	sh2a-nofpu-or-sh3-nommu sh2a-nofpu-or-sh4-nommu-nofpu sh2a-or-sh3e sh2a-or-sh4 sh2e sh3 sh3-dsp sh3-nommu sh3e sh4
	sh4-nofpu sh4-nommu-nofpu sh4a sh4a-nofpu sh4al-dsp sparc sparc:sparclet sparc:sparclite sparc:sparclite_le
	sparc:v8plus sparc:v8plusa sparc:v8plusb sparc:v8plusc sparc:v8plusd sparc:v8pluse sparc:v8plusm sparc:v8plusm8
	sparc:v8plusv sparc:v9 sparc:v9a sparc:v9b sparc:v9c sparc:v9d sparc:v9e sparc:v9m sparc:v9m8 sparc:v9v tic6x
	tilegx tilegx32 tilepro v850 v850e v850e1 v850e2 v850e2v3 v850e2v4 v850e3v5 vax xbpf xscale xstormy16 xtensa z180
	z80 z80-any z80:full z80:strict z80n
`)

// osABIs are the names that <osabi> can have.
var osABIs = words(`
	none SVR4 GNU/Hurd Solaris GNU/Linux FreeBSD NetBSD OpenBSD WindowsCE DJGPP QNX-Neutrino Cygwin Windows AIX DICOS Darwin
	OpenVMS LynxOS178 Newlib SDE PikeOS
`)

// words is a set of words.
func words(text string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}
