package cva6

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines as producers wrote them, and as their sources say where that is noted.
var museum = []struct{ producer, text string }{
	{"rvfi_tracer of 2024 through spike-dasm, RV32, from issue 2432", `core   0: 0x0000000080000314 (0x0ff0000f) fence   iorw,iorw
3 0x0000000080000314 (0x0ff0000f)
core   0: 0x0000000080000318 (0x00004185) c.li    gp, 1
3 0x0000000080000318 (0x4185) x 3 0x00000001
`},
	{"rvfi_tracer of 2025 through spike-dasm, RV64, from issue 2962", `core   0: 0x0000000080000040 (0xd0307053) fcvt.s.lu ft0, zero
3 0x0000000080000040 (0xd0307053) f 0 0xffffffff00000000
`},
	{"sources of rvfi_tracer: accesses, exceptions, interrupts", `*** [rvfi_tracer] WARNING No valid address of 'tohost' (tohost == 0x0000000000000000), termination possible only by timeout or Ctrl-C!
core   0: 0x0000000080000010 (0x00053583) DASM(00053583)
3 0x0000000080000010 (0x00053583) x11 0x0000000000000007 mem 0x0000000080001000
core   0: 0x0000000080000014 (0x00b50023) DASM(00b50023)
3 0x0000000080000014 (0x00b50023) mem 0x0000000080001000 0x1122334455667788
core   0: 0x0000000080000018 (0x00d5262f) DASM(00d5262f)
3 0x0000000080000018 (0x00d5262f) x12 0x0000000000000007 mem 0x0000000080001000 mem 0x0000000080001000 0x0000000000000001
core   0: 0x000000008000001c (0x0000e016) DASM(0000e016)
3 0x000000008000001c (0xe016) mem 0x0000000080001008 0x0000000000000005
core   0: 0x000000008000001e (0x00052607) DASM(00052607)
1 0x000000008000001e (0x00052607) f12 0xffffffff3fc00000
ILLEGAL_INSTR exception @ 0x000000008000007c (0x30002673)
core   INTERRUPT 0: 0x0000000080000184 (0x05e00813) DASM(05e00813)
3 0x0000000080000184 (0x05e00813) x16 0x000000000000005e
`},
	{"sources of rvfi_tracer: 32 bits, an extended sign, cycles of newer flows", `core 0: 0xffffffff80000010 (0x00052583) @ 123 lw a1, 0(a0)
3 0xffffffff80000010 (0x00052583) x11 0x00000007 mem 0x80001000
core 0: 0xffffffff80000014 (0x00004585) @ 124 c.li a1, 1
3 0xffffffff80000014 (0x4585) x11 0x00000001
ENV_CALL_MMODE exception @ 0xffffffff80000016 (0x00000073)
`},
	{"sources of instr_tracer", `    2850ns       52 M 0000000080000000 0 00001117 auipc          sp, 0x1                   sp  :0000000080001000
    2860ns       53 M 0000000080000004 0 2f010113 addi           sp, sp, 752               sp  :00000000800012f0 sp  :0000000080001000
    2870ns       54 M 0000000080000008 0 0000e016 c.sdsp         t0, 0(sp)                 t0  :0000000000000001 sp  :00000000800012f0 VA: 00000000800012f0 PA: 000000800012f0
    2880ns       55 S 000000008000000a 1 00052583 lw             a1, 0(a0)                 a1  :ffffffff80000001 a0  :0000000080001000 VA: 0000000080001000 PA: 00000080001000
    2890ns       56 U 000000008000000e 0 00c67553 fadd.s        fa0, fa2, fa2, dyn fa0 :ffffffff40400000 fa2 :ffffffff3fc00000 fa2 :ffffffff3fc00000
    2900ns       57 D 0000000080000012 0 00000013 nop
    2910ns       58 M 0000000080000016 0 00d5262f amoadd.w       a2, a3, (a0)              a2  :0000000000000001 a0  :0000000080001000 a3  :0000000000000002
Exception @    2920ns, PC: 000000008000001a, Cause: Illegal Instruction,` + ` ` + `
				tval: 0000000030002673
Exception @      2930, PC: 000000008000001e, Cause: Environment Call Machine Mode
Exception @      2940, PC: 0000000080000022, Cause: Machine Timer Interrupt
`},
	{"CVA6 under Verilator, from issues 3083 and 134", `                  73 0x10000 M (0x00000000) DASM(00000000)
                  65 0x40000068 M (0x00006337) lui     t1, 0x6
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

const (
	commits = `"tells":"opcode mode registers loads stores store-data all-writes events trapped",`
	traced  = `"tells":"opcode mode registers loads stores all-writes events trapped",`
)

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	for i, want := range [][]string{
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000314","opcode":"0x0ff0000f",` + commits + `"mode":"M","disasm":"fence   iorw,iorw"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000318","opcode":"0x4185",` + commits + `"mode":"M","disasm":"c.li    gp, 1"}`,
			`4 {"kind":"register","time":0,"cpu":0,"name":"x3","value":"0x00000001"}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000040","opcode":"0xd0307053",` + commits + `"mode":"M","disasm":"fcvt.s.lu ft0, zero"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"f0","value":"0xffffffff00000000"}`,
		},
		{
			`1 {"remark":"*** [rvfi_tracer] WARNING No valid address of 'tohost' (tohost == 0x0000000000000000), termination possible only by timeout or Ctrl-C!"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000010","opcode":"0x00053583",` + commits + `"mode":"M"}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"x11","value":"0x0000000000000007"}`,
			`3 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"size":8,"address":"0x0000000080001000"}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000014","opcode":"0x00b50023",` + commits + `"mode":"M"}`,
			`5 {"kind":"memory","time":0,"cpu":0,"access":"write","size":1,"address":"0x0000000080001000","data":"0x88"}`,
			`6 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000018","opcode":"0x00d5262f",` + traced + `"mode":"M"}`,
			`7 {"kind":"register","time":0,"cpu":0,"name":"x12","value":"0x0000000000000007"}`,
			`7 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"size":4,"address":"0x0000000080001000"}`,
			`7 {"kind":"memory","time":0,"cpu":0,"access":"write","partial":true,"size":4,"address":"0x0000000080001000"}`,
			`8 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x000000008000001c","opcode":"0xe016",` + commits + `"mode":"M"}`,
			`9 {"kind":"memory","time":0,"cpu":0,"access":"write","size":8,"address":"0x0000000080001008","data":"0x0000000000000005"}`,
			`10 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x000000008000001e","opcode":"0x00052607","tells":"opcode mode registers stores store-data all-writes events trapped","mode":"S"}`,
			`11 {"kind":"register","time":0,"cpu":0,"name":"f12","value":"0xffffffff3fc00000"}`,
			`12 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x000000008000007c","opcode":"0x30002673","trapped":true,"tells":"opcode registers loads stores store-data all-writes events trapped"}`,
			`12 {"kind":"event","time":0,"cpu":0,"event":"exception","name":"ILLEGAL_INSTR","address":"0x000000008000007c"}`,
			`13 {"kind":"event","time":0,"cpu":0,"event":"interrupt","name":"INTERRUPT"}`,
			`13 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000184","opcode":"0x05e00813",` + commits + `"mode":"M"}`,
			`14 {"kind":"register","time":0,"cpu":0,"name":"x16","value":"0x000000000000005e"}`,
		},
		{
			`1 {"kind":"instruction","time":123,"cpu":0,"id":0,"address":"0x80000010","opcode":"0x00052583",` + commits + `"mode":"M","disasm":"lw a1, 0(a0)"}`,
			`2 {"kind":"register","time":123,"cpu":0,"name":"x11","value":"0x00000007"}`,
			`2 {"kind":"memory","time":123,"cpu":0,"access":"read","partial":true,"size":4,"address":"0x80001000"}`,
			`3 {"kind":"instruction","time":124,"cpu":0,"id":0,"address":"0x80000014","opcode":"0x4585",` + commits + `"mode":"M","disasm":"c.li a1, 1"}`,
			`4 {"kind":"register","time":124,"cpu":0,"name":"x11","value":"0x00000001"}`,
			`5 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000016","opcode":"0x00000073","trapped":true,"tells":"opcode registers loads stores store-data all-writes events trapped"}`,
			`5 {"kind":"event","time":0,"cpu":0,"event":"exception","name":"ENV_CALL_MMODE","address":"0x80000016"}`,
		},
		{
			`1 {"kind":"instruction","time":2850,"scale":"ns","cpu":0,"cycle":52,"id":0,"address":"0x0000000080000000","opcode":"0x00001117",` + traced + `"mode":"M","disasm":"auipc          sp, 0x1"}`,
			`1 {"kind":"register","time":2850,"scale":"ns","cpu":0,"cycle":52,"name":"sp","value":"0x0000000080001000"}`,
			`2 {"kind":"instruction","time":2860,"scale":"ns","cpu":0,"cycle":53,"id":0,"address":"0x0000000080000004","opcode":"0x2f010113",` + traced + `"mode":"M","disasm":"addi           sp, sp, 752"}`,
			`2 {"kind":"register","time":2860,"scale":"ns","cpu":0,"cycle":53,"name":"sp","value":"0x00000000800012f0"}`,
			`2 {"kind":"register-read","time":2860,"scale":"ns","cpu":0,"cycle":53,"name":"sp","value":"0x0000000080001000"}`,
			`3 {"kind":"instruction","time":2870,"scale":"ns","cpu":0,"cycle":54,"id":0,"address":"0x0000000080000008","opcode":"0xe016",` + traced + `"mode":"M","disasm":"c.sdsp         t0, 0(sp)"}`,
			`3 {"kind":"register-read","time":2870,"scale":"ns","cpu":0,"cycle":54,"name":"t0","value":"0x0000000000000001"}`,
			`3 {"kind":"register-read","time":2870,"scale":"ns","cpu":0,"cycle":54,"name":"sp","value":"0x00000000800012f0"}`,
			`3 {"kind":"memory","time":2870,"scale":"ns","cpu":0,"cycle":54,"access":"write","partial":true,"address":"0x00000000800012f0","physical":"0x800012f0"}`,
			`4 {"kind":"instruction","time":2880,"scale":"ns","cpu":0,"cycle":55,"id":0,"address":"0x000000008000000a","opcode":"0x00052583",` + traced + `"mode":"S","disasm":"lw             a1, 0(a0)"}`,
			`4 {"kind":"register","time":2880,"scale":"ns","cpu":0,"cycle":55,"name":"a1","value":"0xffffffff80000001"}`,
			`4 {"kind":"register-read","time":2880,"scale":"ns","cpu":0,"cycle":55,"name":"a0","value":"0x0000000080001000"}`,
			`4 {"kind":"memory","time":2880,"scale":"ns","cpu":0,"cycle":55,"access":"read","partial":true,"size":4,"address":"0x0000000080001000","physical":"0x80001000"}`,
			`5 {"kind":"instruction","time":2890,"scale":"ns","cpu":0,"cycle":56,"id":0,"address":"0x000000008000000e","opcode":"0x00c67553",` + traced + `"mode":"U","disasm":"fadd.s        fa0, fa2, fa2, dyn"}`,
			`5 {"kind":"register","time":2890,"scale":"ns","cpu":0,"cycle":56,"name":"fa0","value":"0xffffffff40400000"}`,
			`5 {"kind":"register-read","time":2890,"scale":"ns","cpu":0,"cycle":56,"name":"fa2","value":"0xffffffff3fc00000"}`,
			`5 {"kind":"register-read","time":2890,"scale":"ns","cpu":0,"cycle":56,"name":"fa2","value":"0xffffffff3fc00000"}`,
			`6 {"kind":"instruction","time":2900,"scale":"ns","cpu":0,"cycle":57,"id":0,"address":"0x0000000080000012","opcode":"0x00000013",` + traced + `"mode":"D","disasm":"nop"}`,
			`7 {"kind":"instruction","time":2910,"scale":"ns","cpu":0,"cycle":58,"id":0,"address":"0x0000000080000016","opcode":"0x00d5262f","tells":"opcode mode registers all-writes events trapped","mode":"M","disasm":"amoadd.w       a2, a3, (a0)"}`,
			`7 {"kind":"register","time":2910,"scale":"ns","cpu":0,"cycle":58,"name":"a2","value":"0x0000000000000001"}`,
			`7 {"kind":"register-read","time":2910,"scale":"ns","cpu":0,"cycle":58,"name":"a0","value":"0x0000000080001000"}`,
			`7 {"kind":"register-read","time":2910,"scale":"ns","cpu":0,"cycle":58,"name":"a3","value":"0x0000000000000002"}`,
			`8 {"kind":"instruction","time":2920,"scale":"ns","cpu":0,"id":0,"address":"0x000000008000001a","trapped":true,"tells":"registers loads stores all-writes events trapped"}`,
			`8 {"kind":"event","time":2920,"scale":"ns","cpu":0,"event":"exception","name":"Illegal Instruction","address":"0x000000008000001a","detail":"0x0000000030002673"}`,
			`10 {"kind":"instruction","time":2930,"scale":"ns","cpu":0,"id":0,"address":"0x000000008000001e","trapped":true,"tells":"registers loads stores all-writes events trapped"}`,
			`10 {"kind":"event","time":2930,"scale":"ns","cpu":0,"event":"exception","name":"Environment Call Machine Mode","address":"0x000000008000001e"}`,
			`11 {"kind":"event","time":2940,"scale":"ns","cpu":0,"event":"interrupt","name":"Machine Timer Interrupt","address":"0x0000000080000022"}`,
		},
		{
			`1 {"kind":"instruction","time":73,"cpu":0,"id":0,"address":"0x10000","opcode":"0x00000000","tells":"opcode mode all-writes","mode":"M"}`,
			`2 {"kind":"instruction","time":65,"cpu":0,"id":0,"address":"0x40000068","opcode":"0x00006337","tells":"opcode mode all-writes","mode":"M","disasm":"lui     t1, 0x6"}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestProblems says what is wrong with lines, and where. What could be read of them is there.
func TestProblems(t *testing.T) {
	const (
		first  = "core   0: 0x80000318 (0x00000013) nop\n"
		second = "3 0x80000318 (0x00000013)"
		tracer = "  2850ns 52 M 80000000 0 00001117 auipc sp, 0x1"
	)
	for text, want := range map[string]string{
		"hello":                                        `1: column 1: found "hello", expected core, a time or cycle, a cause, or "Exception @"`,
		"core":                                         `1: column 5: found the end of the line, expected the number of a hart, or INTERRUPT`,
		"core 0: 3 0x80000318 (0x13)":                  `1: column 9: found "3", expected 0x and an address`,
		"core 0: 0x80000318 0x13":                      `1: column 19: found " 0x13", expected an opcode in parentheses`,
		first:                                          `1: column 38: found the end of the line, expected a line that tells what the instruction did behind this one`,
		first + "core   0: 3 " + second[2:]:            `1: column 38: found the end of the line, expected a line that tells what the instruction did behind this one`,
		first + "3 0x8000031c (0x00000013)":            `1: column 38: found the end of the line, expected a line that tells what the instruction did behind this one`,
		first + second + " mem 8":                      `2: column 31: found "8", expected 0x and an address`,
		first + second + " v 1 0x1":                    `2: column 27: found "v", expected x or f with the number of a register, or mem`,
		first + second + " x32 0x1":                    `2: column 27: found "x32", expected a register`,
		first + second + " x 1 0x1,":                   `2: column 34: found ",", expected a blank or the end of the line`,
		first + second + " x 1 0x1 x 1 0x1":            `2: column 35: found "x", expected x or f with the number of a register, or mem`,
		first + second + strings.Repeat(" mem 0x1", 3): `2: column 43: found "mem", expected the end of the line`,
		second:                          `1: column 14: found "(0x00000013)", expected M, S, U or D`,
		"ILLEGAL_INSTR":                 `1: column 14: found the end of the line, expected core, or a cause and "exception @"`,
		"ILLEGAL_INSTR exception @ 0x1": `1: column 30: found the end of the line, expected an opcode in parentheses`,
		"ILLEGAL_INSTR exception @ 0x1 (0x1) nop": `1: column 36: found " nop", expected the end of the line`,
		"Exception @ 1":        `1: column 14: found the end of the line, expected PC and an address`,
		"73 0x10000 X":         `1: column 12: found "X", expected M, S, U or D`,
		"73 0x10000 M 0x13":    `1: column 13: found " 0x13", expected an opcode in parentheses`,
		tracer + " sp:x":       `1: column 52: found "x", expected a value in hexadecimal`,
		tracer + " sp:1 hello": `1: column 59: found the end of the line, expected a register, VA or PA, and a colon`,
		"2850ns x":             `1: column 8: found "x", expected a cycle`,
	} {
		got := ""
		for _, r := range dialecttest.Read(t, Dialect, strings.NewReader(text+"\n"), 8) {
			if r.Kind == itrace.Unknown && got == "" {
				got = fmt.Sprintf("%d: %v", r.Line, r.Problem)
			}
		}
		if want == "" || !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, m := range museum {
		dialecttest.Allocations(t, Dialect, m.text)
	}
}

func FuzzCVA6(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

// BenchmarkRead reads the lines of both tracers.
func BenchmarkRead(b *testing.B) {
	b.Run("rvfi", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[0].text) })
	b.Run("instr", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[4].text) })
}
