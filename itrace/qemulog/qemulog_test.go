package qemulog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines as producers wrote them; of dumps some lines are left out.
var museum = []struct{ producer, text string }{
	{"QEMU 7.2, RISC-V, -singlestep -d in_asm,exec,nochain,cpu,int", `----------------
IN: 
Priv: 0; Virt: 0
0x000000008000006c:  00000073          ecall                   

Trace 0: 0x7fc250008c80 [0000000000000000/000000008000006c/00207000/ff000201] 
 V      =   0
 pc       000000008000006c
 mepc     0000000080000062
 x8/s0    0000000000000000 x9/s1    0000000000000000 x10/a0   0000000000000000 x11/a1   00000000800010b0
 x16/a6   0000000000000000 x17/a7   000000000000005d x18/s2   0000000000000000 x19/s3   0000000000000000
riscv_cpu_do_interrupt: hart:0, async:0, cause:0000000000000008, epc:0x000000008000006c, tval:0x0000000000000000, desc=user_ecall
----------------
IN: 
Priv: 3; Virt: 0
0x0000000080000184:  05e00813          addi                    a6,zero,94

Trace 0: 0x7fc250008dc0 [0000000000000000/0000000080000184/0020f003/ff000201] 
 V      =   0
 pc       0000000080000184
 mepc     000000008000006c
 x8/s0    0000000000000000 x9/s1    0000000000000000 x10/a0   0000000000000000 x11/a1   00000000800010b0
 x16/a6   0000000000000000 x17/a7   000000000000005d x18/s2   0000000000000000 x19/s3   0000000000000000
Trace 0: 0x7fc250008f00 [0000000000000000/0000000080000188/0020f003/ff000201] 
 V      =   0
 pc       0000000080000188
 mepc     000000008000006c
 x8/s0    0000000000000000 x9/s1    0000000000000000 x10/a0   0000000000000000 x11/a1   00000000800010b0
 x16/a6   000000000000005e x17/a7   000000000000005d x18/s2   0000000000000000 x19/s3   0000000000000000
`},
	{"QEMU 7.2, RISC-V, -d in_asm,exec: blocks are linked", `----------------
IN: 
Priv: 3; Virt: 0
0x80000000:  0800006f          j                       128                     # 0x80000080

Trace 0: 0x7f9cc0000400 [00000000/80000000/00109003/ff000000] 
----------------
IN: 
Priv: 3; Virt: 0
0x80000100:  00000093          mv                      ra,zero
0x80000104:  078000ef          jal                     ra,120                  # 0x8000017c

Linking TBs 0x7f9cc0000400 index 0 -> 0x7f9cc0000500
Trace 0: 0x7f9cc0000500 [00000000/80000100/00109003/ff000000] 
Trace 0: 0x7f9cc0000400 [00000000/80000000/00109003/ff000000] 
`},
	{"QEMU 7.2, AArch64, -singlestep -d in_asm,exec,nochain,cpu,int", `----------------
IN: 
0x40080040:  d40000e1  svc      #0x7

Trace 0: 0x7efe08004340 [0000000000004000/0000000040080040/00000021/ff000201] 
 PC=0000000040080040 X00=0000000040090000 X01=0000000040090030
X29=0000000000000000 X30=0000000040080040  SP=0000000040090260
PSTATE=600003c5 -ZC- EL1h
Taking exception 2 [SVC] on CPU 0
...from EL1 to EL1
...with ESR 0x15/0x56000007
...with ELR 0x40080044
...to EL1 PC 0x40080a00 PSTATE 0x3c5
----------------
IN: 
0x40080a00:  91000694  add      x20, x20, #1

Trace 0: 0x7efe08004480 [0000000000004000/0000000040080a00/00000021/ff000201] 
 PC=0000000040080a00 X00=0000000040090000 X01=0000000040090031
X29=0000000000000000 X30=0000000040080040  SP=0000000040090260
PSTATE=000003c5 ---- EL1h
Exception return from AArch64 EL1 to AArch64 EL1 PC 0x40080044
`},
	{"QEMU 7.2, x86, -singlestep -d in_asm,exec,nochain,cpu", `----------------
IN: 
0xfffffff0:  ea 5b e0 00 f0           ljmpw    $0xf000:$0xe05b

Trace 0: 0x7f1688000100 [00000000ffff0000/00000000fffffff0/00000040/ff000201] 
EAX=00000000 EBX=00000000 ECX=00000000 EDX=00060fb1
EIP=0000fff0 EFL=00000002 [-------] CPL=0 II=0 A20=1 SMM=0 HLT=0
CS =f000 ffff0000 0000ffff 00009b00
GDT=     00000000 0000ffff
CCS=00000000 CCD=00000000 CCO=EFLAGS
----------------
IN: 
0x000e7cb8:  66 c7 05 34 60 0f 00 00  movw     $0, 0xf6034
0x000e7cc0:  00

Trace 0: 0x7f1688000240 [00000000000e0000/00000000000e7cb8/00000040/ff000201] 
EAX=00000000 EBX=00000000 ECX=00000000 EDX=00060000
EIP=0000e05b EFL=00000046 [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=0
CS =f000 000f0000 0000ffff 00009b00
GDT=     00000000 0000ffff
CCS=00000044 CCD=00000000 CCO=EFLAGS
`},
	{"its source: older forms, a block that has not run, an interrupt, and exceptions of x86", `Trace 0x7f1688000100 [40080000] main
Trace 0x7f1688000100 [1: 40080000] main
Trace 1: 0x7f1688000100 [0000000000000000/0000000040080004/0x80] 
Chain 1: 0x7f1688000200 [0000000000000000/0000000040080008/0x80] 
     0: v=0e e=0004 i=0 cpl=3 IP=0033:0000000000401000 pc=0000000000401000 SP=002b:00007ffe12345678 CR2=0000000000000010
Trace 0: 0x7f0c04000100 [0000000000000000/0000000080001000/00209003/ff000201] memcpy
Stopped execution of TB chain before 0x7f0c04000100 [0000000080001000] memcpy
riscv_cpu_do_interrupt: hart:1, async:1, cause:0000000000000007, epc:0x0000000080001000, tval:0x0000000000000000, desc=m_timer
`},
	{"QEMU 7.2, Arm, -singlestep -d in_asm,exec,nochain,cpu", `----------------
IN: 
0x00000000:  00000000  andeq    r0, r0, r0

Trace 0: 0x7f4b28000100 [00000400/00000000/00000120/ff000201] 
R00=00000000 R01=00000000 R02=00000000 R03=00000000
R12=00000000 R13=00000000 R14=00000000 R15=00000000
PSR=400001d3 -Z-- A svc32
----------------
IN: 
0x00000004:  00000000  andeq    r0, r0, r0

Trace 0: 0x7f4b28000240 [00000400/00000004/00000120/ff000201] 
R00=00000000 R01=00000000 R02=00000000 R03=00000000
R12=00000000 R13=00000000 R14=00000000 R15=00000004
PSR=400001d3 -Z-- A svc32
Trace 0: 0x7f4b28000380 [00000400/00000008/00000120/ff000201] 
R00=00000000 R01=00000000 R02=00000000 R03=00000000
R12=00000000 R13=00000000 R14=00000000 R15=00000008
PSR=400001d3 -Z-- A svc32
`},
	{"QEMU 7.2, MIPS, -singlestep -d in_asm,exec,nochain,cpu", `----------------
IN: _start
0x00020398:  addiu	sp,sp,-24

Trace 0: 0x7fcba56000c0 [00000000/00020398/000000e2/00000201] _start
pc=0x00020398 HI=0x00000000 LO=0x00000000 ds 00e2 00000000 0
GPR04: a0 00000000 a1 00000000 a2 00000000 a3 00000000
GPR24: t8 00000000 t9 00000000 k0 00000000 k1 00000000
GPR28: gp 00000000 sp 40800970 s8 00000000 ra 00000000
CP0 Status  0x24000010 Cause   0x00000000 EPC    0x00000000
    Config0 0x80008482 Config1 0x9e190c8f LLAddr 0x0000000000000000
----------------
IN: _start
0x0002039c:  sw	ra,20(sp)

Trace 0: 0x7fcba56001c0 [00000000/0002039c/000000e2/00000201] _start
pc=0x0002039c HI=0x00000000 LO=0x00000000 ds 00e2 00000000 0
GPR04: a0 00000000 a1 00000000 a2 00000000 a3 00000000
GPR24: t8 00000000 t9 00000000 k0 00000000 k1 00000000
GPR28: gp 00000000 sp 40800958 s8 00000000 ra 00000000
CP0 Status  0x24000010 Cause   0x00000000 EPC    0x00000000
    Config0 0x80008482 Config1 0x9e190c8f LLAddr 0x0000000000000000
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// brief says what records are in few words.
func brief(t *testing.T, text string) (lines []string) {
	for _, r := range dialecttest.Read(t, Dialect, strings.NewReader(text), 64) {
		line := fmt.Sprintf("%d %d ", r.Line, r.CPU)
		switch r.Kind {
		case itrace.Instruction:
			line += fmt.Sprintf("%s %s %s %q", r.AddrDigits, r.Digits, r.Mode, r.Disasm)
			for _, is := range []struct {
				is   bool
				word string
			}{
				{r.Trapped, "trapped"}, {r.Scope&itrace.Gaps != 0, "gap"}, {r.Scope&itrace.NoRegisters == 0, "registers"},
				{r.Scope&itrace.TellsEvents != 0, "events"},
				{r.Scope&itrace.TellsTrapped != 0, "traps"},
			} {
				if is.is {
					line += " " + is.word
				}
			}
		case itrace.Register:
			line += fmt.Sprintf("%s=%s", r.Name, r.Digits)
			if r.System {
				line += " system"
			}
		case itrace.Event:
			line += fmt.Sprintf("%s %s at %s, %s, %s", r.Event, r.Name, r.AddrDigits, r.Digits, r.Detail)
		case itrace.Unknown:
			line += r.Problem.Error()
		default:
			line += r.Kind.String()
		}
		lines = append(lines, line)
	}
	return lines
}

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	for i, want := range [][]string{
		{
			`2 0 remark`,
			`9 0 mepc=0000000080000062 system`,
			`10 0 x8=0000000000000000`,
			`10 0 x9=0000000000000000`,
			`10 0 x10=0000000000000000`,
			`10 0 x11=00000000800010b0`,
			`11 0 x16=0000000000000000`,
			`11 0 x17=000000000000005d`,
			`11 0 x18=0000000000000000`,
			`11 0 x19=0000000000000000`,
			`6 0 000000008000006c 00000073 U "ecall" trapped registers events traps`,
			`12 0 exception user_ecall at 000000008000006c, 0000000000000008, 0000000000000000`,
			`14 0 remark`,
			`21 0 mepc=000000008000006c system`,
			`18 0 0000000080000184 05e00813 M "addi                    a6,zero,94" registers events traps`,
			`29 0 x16=000000000000005e`,
			`24 0 0000000080000188   "" events traps`,
		}, {
			`2 0 remark`,
			`6 0 80000000 0800006f M "j                       128                     # 0x80000080"`,
			`8 0 remark`,
			`13 0 remark`,
			`14 0 80000100 00000093 M "mv                      ra,zero"`,
			`14 0 80000104 078000ef M "jal                     ra,120                  # 0x8000017c" gap`,
			`15 0 80000000 0800006f M "j                       128                     # 0x80000080" gap`,
		}, {
			`2 0 remark`,
			`6 0 X00=0000000040090000`,
			`6 0 X01=0000000040090030`,
			`7 0 X29=0000000000000000`,
			`7 0 SP=0000000040090260`,
			`8 0 PSTATE=600003c5 system`,
			`5 0 40080040 d40000e1  "svc      #0x7" registers events`,
			`9 0 exception SVC at 40080044, , 56000007`,
			`15 0 remark`,
			`19 0 X01=0000000040090031`,
			`21 0 PSTATE=000003c5 system`,
			`18 0 40080a00 91000694  "add      x20, x20, #1" events`,
			`22 0 remark`,
		}, {
			`2 0 remark`,
			`6 0 EAX=00000000`,
			`6 0 EBX=00000000`,
			`6 0 ECX=00000000`,
			`6 0 EDX=00060fb1`,
			`7 0 EFL=00000002 system`,
			`8 0 CS=f000 system`,
			`9 0 GDT=00000000 system`,
			`5 0 fffffff0 ea5be000f0  "ljmpw    $0xf000:$0xe05b" registers`,
			`12 0 remark`,
			`17 0 EDX=00060000`,
			`18 0 EFL=00000046 system`,
			`16 0 000e7cb8 66c70534600f000000  "movw     $0, 0xf6034"`,
		}, {
			`1 0 40080000   ""`,
			`2 1 40080000   ""`,
			`3 1 0000000040080004   ""`,
			`4 1 0000000040080008   "" events`,
			`5 1 exception 0e at 0000000000401000, 0e, 0004`,
			`6 0 remark`,
			`7 0 remark`,
			`8 1 interrupt m_timer at 0000000080001000, 0000000000000007, 0000000000000000`,
		}, {
			`2 0 remark`,
			`6 0 R00=00000000`,
			`6 0 R01=00000000`,
			`6 0 R02=00000000`,
			`6 0 R03=00000000`,
			`7 0 R12=00000000`,
			`7 0 R13=00000000`,
			`7 0 R14=00000000`,
			`7 0 R15=00000000`,
			`8 0 PSR=400001d3 system`,
			`5 0 00000000 00000000  "andeq    r0, r0, r0" registers`,
			`10 0 remark`,
			`13 0 00000004 00000000  "andeq    r0, r0, r0" registers`,
			`17 0 00000008   ""`,
		}, {
			`2 0 remark`,
			`6 0 HI=00000000 system`,
			`6 0 LO=00000000 system`,
			`7 0 a0=00000000`,
			`7 0 a1=00000000`,
			`7 0 a2=00000000`,
			`7 0 a3=00000000`,
			`8 0 t8=00000000`,
			`8 0 t9=00000000`,
			`8 0 k0=00000000`,
			`8 0 k1=00000000`,
			`9 0 gp=00000000`,
			`9 0 sp=40800970`,
			`9 0 s8=00000000`,
			`9 0 ra=00000000`,
			`10 0 Status=24000010 system`,
			`10 0 Cause=00000000 system`,
			`10 0 EPC=00000000 system`,
			`11 0 Config0=80008482 system`,
			`11 0 Config1=9e190c8f system`,
			`11 0 LLAddr=0000000000000000 system`,
			`5 0 00020398   "addiu\tsp,sp,-24" registers`,
			`13 0 remark`,
			`20 0 sp=40800958`,
			`16 0 0002039c   "sw\tra,20(sp)"`,
		},
	} {
		if diff := cmp.Diff(want, brief(t, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// a block of three instructions at 1000 and one at 2000, as translated.
const (
	blockA = "----------------\nIN: a\n0x1000:  0001  nop\n0x1002:  0002  lw\n0x1004:  0003  ret\n\n"
	blockB = "----------------\nIN: b\n0x2000:  0004  nop\n\n"
	runA   = "Trace 0: 0x7f00 [0/1000/0/200] a\n"
	runB   = "Trace 0: 0x7f80 [0/2000/0/200] b\n"
)

// pcs lists the addresses of the instructions, with an exclamation mark where one had an exception.
func pcs(t *testing.T, text string) string {
	var all []string
	for _, r := range dialecttest.Read(t, Dialect, strings.NewReader(text), 64) {
		switch {
		case r.Kind == itrace.Unknown:
			all = append(all, r.Problem.Error())
		case r.Kind == itrace.Instruction && r.Trapped:
			all = append(all, fmt.Sprintf("%x!", r.Addr))
		case r.Kind == itrace.Instruction:
			all = append(all, fmt.Sprintf("%x", r.Addr))
		}
	}
	return strings.Join(all, " ")
}

// TestBlocks: an exec line is the instructions that ran of its block as it was translated last.
func TestBlocks(t *testing.T) {
	const fault = "riscv_cpu_do_interrupt: hart:0, async:0, cause:00000005, epc:0x00001002, tval:0x00000000, desc=fault_load\n"
	for name, test := range map[string]struct{ text, want string }{
		"again":        {blockA + runA + blockB + runB + runA, "1000 1002 1004 2000 1000 1002 1004"},
		"fault within": {blockA + runA + fault + blockB + runB, "1000 1002! 2000"},
		"fault of Arm": {blockA + runA + "Taking exception 4 [Data Abort] on CPU 0\n...with ELR 0x1002\n" + blockB + runB, "1000 1002! 2000"},
		"two faults": {blockA + runA + "Taking exception 4 [Data Abort] on CPU 0\n...with ELR 0x1002\n" +
			"Taking exception 4 [Data Abort] on CPU 0\n...with ELR 0x1000\n", "1000 1002!"},
		"interrupt":      {blockA + runA + "Taking exception 5 [IRQ] on CPU 0\n...with ELR 0x1000\n" + runA, "1000 1002 1004 1000 1002 1004"},
		"not run":        {blockA + runA + "Stopped execution of TB chain before 0x7f00 [1000] a\n" + runA, "1000 1002 1004"},
		"two translated": {blockA + blockB + runA + runB, "1000 1002 1004 2000"},
		"translated again": {blockA + runA + "----------------\nIN: a\n0x1000:  0001  nop\n0x1002:  0003  ret\n\n" + runA + runA,
			"1000 1002 1004 1000 1002 1000 1002"},
		"other flags": {blockA + runA + "----------------\nIN: a\n0x1000:  0003  ret\n\n" + strings.Replace(runA, "/0/", "/1/", 1) + runA,
			"1000 1002 1004 1000 1000 1002 1004"},
		"waiting": {strings.ReplaceAll(blockA, "lw", "wfi") + runA + blockB + runB, "1000 1002 2000"},
	} {
		if got := pcs(t, test.text); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		dialecttest.Run(t, Dialect, test.text)
	}
}

// TestGaps: the length of a block that the log does not tell is one only if the exec line says so, or cannot.
func TestGaps(t *testing.T) {
	for text, want := range map[string]bool{
		"Trace 0: 0x7f00 [0/1000/0/201]\n": false, "Trace 0: 0x7f00 [0/1000/0/200]\n": true, "Trace 0: 0x7f00 [0/1000/0]\n": false,
		blockB + runB + "Trace 0: 0x7f00 [0/1000/0]\n": true,
		blockB + runB + runB:                           false, blockB + runB + "Linking TBs 0x7f80 index 0 -> 0x7f80\n" + runB: true,
		"Linking TBs 0x7f80 index 0 -> 0x7f80\n" + blockB + runB: true,
	} {
		all := dialecttest.Read(t, Dialect, strings.NewReader(text), 64)
		if got := all[len(all)-1].Scope&itrace.Gaps != 0; got != want {
			t.Errorf("%q: a gap %v, want %v", text, got, want)
		}
	}
}

// TestCPUs: a dump is compared with that of the same processor.
func TestCPUs(t *testing.T) {
	text := ""
	for i, line := range []string{"0 1", "1 7", "0 2", "1 7", "0 2", "1 8"} {
		cpu, value, _ := strings.Cut(line, " ")
		text += fmt.Sprintf("Trace %s: 0x7f00 [0/%d000/0/201]\n x5/t0 0000000%s\n", cpu, i+1, value)
	}
	if diff := cmp.Diff([]string{"2 0 x5=00000001", "6 0 x5=00000002", "12 1 x5=00000008"}, changes(t, text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// changes lists the writes of registers.
func changes(t *testing.T, text string) (lines []string) {
	for _, line := range brief(t, text) {
		if strings.Contains(line, "=") {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestDumpBehindException: the state that is dumped with an exception is no state before a block.
func TestDumpBehindException(t *testing.T) {
	const run = "Trace 0: 0x7f00 [0/1000/0/201]\n"
	text := run + " x5/t0 00000001\n" + run + " x5/t0 00000001\n" +
		"riscv_cpu_do_interrupt: hart:0, async:0, cause:00000005, epc:0x00001000, tval:0x00000000, desc=fault_load\n x5/t0 00000002\n" +
		run + " x5/t0 00000002\n"
	if got, want := changes(t, text), []string{"2 0 x5=00000001", "8 0 x5=00000002"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDumpsOfBlocks: which instruction of a block of several wrote a register is not known, so that none tells it.
func TestDumpsOfBlocks(t *testing.T) {
	text := blockA + runA + " x5/t0 00000001\n" + blockB + runB + " x5/t0 00000002\n" + runB + " x5/t0 00000002\n"
	if got, want := changes(t, text), []string{"8 0 x5=00000001", "14 0 x5=00000002"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var told []uint64
	for _, r := range dialecttest.Read(t, Dialect, strings.NewReader(text), 64) {
		if r.Kind == itrace.Instruction && r.Scope&itrace.NoRegisters == 0 {
			told = append(told, r.Addr)
		}
	}
	if !slices.Equal(told, []uint64{0x2000}) {
		t.Errorf("%x tell registers", told)
	}
}

// TestMode: an in_asm block that differs by its privilege alone is another.
func TestMode(t *testing.T) {
	var modes []string
	for _, mode := range "30" {
		block := strings.Replace(blockB, "0x2000", fmt.Sprintf("Priv: %c; Virt: 0\n0x2000", mode), 1)
		modes = append(modes, block+runB)
	}
	got := brief(t, modes[0]+modes[1])
	if got[1] != `6 0 2000 0004 M "nop"` || got[3] != `12 0 2000 0004 U "nop"` {
		t.Errorf("got %q", got)
	}
}

// TestNeverRun: blocks that are translated and do not run take no memory in the long run.
func TestNeverRun(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		text.WriteString(strings.Replace(blockB, "0x2000", fmt.Sprintf("0x%d", 2000+i), 1))
	}
	r := itrace.NewReader(strings.NewReader(text.String()), Dialect)
	for records := make([]itrace.Record, 512); ; {
		if _, err := r.Read(records); err != nil {
			break
		}
	}
	if n := len(r.AppendState(nil)); n == 0 || n > 1000 {
		t.Errorf("a state of %d bytes", n)
	}
}

// TestProblems says what is wrong with lines, and where.
func TestProblems(t *testing.T) {
	for line, want := range map[string]string{
		"hello":                          `column 1: found "hello", expected Trace, a line of dashes, or an exception`,
		"0x1000:  0001  nop":             `column 1: found "0x1000:", expected Trace, a line of dashes, or an exception`,
		"Trace 0: [0/1000/0/201]":        `column 10: found "[0/1000/0/201]", expected the address of a translation and a bracket`,
		"Trace 0: 0x7f00 [0/x/0/201]":    `column 20: found "x/0/201]", expected hexadecimal digits`,
		"Trace 0: 0x7f00 [0/1000/0/2 1]": `column 28: found " 1]", expected a slash or a bracket`,
		"Trace 0: 0x7f00 [0/1/2/3/4]":    `column 26: found "4]", expected a slash or a bracket`,
		"Trace 0 [10000000000000021]":    `column 10: found "10000000000000021]", expected hexadecimal digits`,
		"Taking exception 2":             `column 1: found "Taking", expected an exception with its cause and address`,
		"----------------\nIN:\n0x10:":   `column 6: found the end of the line, expected an opcode or an instruction in words`,
	} {
		records := dialecttest.Read(t, Dialect, strings.NewReader(line+"\n"), 8)
		last := records[len(records)-1]
		if last.Kind != itrace.Unknown || last.Problem.Error() != want {
			t.Errorf("%s: got %v, want %s", line, last.Problem, want)
		}
	}
}

// TestStates: what is no state is refused.
func TestStates(t *testing.T) {
	d := &decoder{}
	for _, state := range []string{"\x00", "\x01", "\x01\x00\x01k\x03a\tb", "\x02\x00\x00", "\x03\x01", "\x04", "\x03\x00\x00\x09a"} {
		if err := d.Restore([]byte(state)); err != itrace.ErrState {
			t.Errorf("%q: %v", state, err)
		}
	}
}

func TestAllocations(t *testing.T) {
	dialecttest.Allocations(t, Dialect, museum[0].text+museum[1].text+museum[2].text+museum[3].text)
}

func FuzzQEMU(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

func BenchmarkRead(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[0].text) }
