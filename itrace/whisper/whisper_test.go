package whisper

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
	{"VeeR-ISS, RV32, from a report of cosimulation", "#1 0 80000000 d0580537 r 0a         d0580000  lui      x10, -0x2fa80\n"},
	{"sources of Whisper of 2026: text, RV64", `_start:
#1 0  M 0000000080000000 00001117 r 0000000000000002 0000000080001000 auipc    x2, 0x1
#2 0  M 0000000080000004     4505 r 000000000000000a 0000000000000001 c.li     x10, 1
#3 0  M 0000000080000006 00b12023 m 0000000080001000 00000000deadbeef sw       x11, 0(x2) [0x80001000:0x90001000]
#4 1 HS 000000008000000a 00012583 r 000000000000000b ffffffffdeadbeef lw       x11, 0(x2) [0x80001000]
#5 1 VS 000000008000000e 00c57553 f 000000000000000a 3ff8000000000000 fadd.d   f10, f10, f12  +
#5 1 VS 000000008000000e 00c57553 c 0000000000000001 0000000000000001 fadd.d   f10, f10, f12
#6 0  U 0000000080000012 00d1262f r 000000000000000c 00000000deadbeef amoadd.w x12, x13, (x2) [0x80001000]  +
#6 0  U 0000000080000012 00d1262f m 0000000080001000 00000000deadbef0 amoadd.w x12, x13, (x2) [0x80001000]
#7 0  U 0000000080000016 00c68063 r 0000000000000000 0000000000000000 beq      x13, x12, . + 0
#8 0  U 000000008000001a 00000073 c 0000000000000341 000000008000001a ecall (exception)  +
#8 0  U 000000008000001a 00000073 c 0000000000000342 0000000000000008 ecall (exception)
#9 0  M 0000000080000184 34102373 c 0000000000000342 8000000000000007 csrrs    x6, mepc, x0 (interrupted)  +
#9 0  M 0000000080000184 34102373 c 0000000000000341 0000000080000184 csrrs    x6, mepc, x0 (interrupted)
#10 0  M 0000000080000188 02008057 v 02 00000000000000010000000000000002 vle64.v  v2, (x1) [0x80001000;0x80001008] +
#10 0  M 0000000080000188 02008057 v 03 00000000000000030000000000000004 vle64.v  v2, (x1) [0x80001000;0x80001008]
#11 0  M 000000008000018c 0200f127 r 0000000000000000 0000000000000000 vse64.v  v2, (x1) [0x80001000:0x90001000=0x0000000000000001;0x80001008=0x0000000000000002]  +
satp mode: Bare  +
iptw:  +
 gpa: 0x8000018c
`},
	{"sources of Whisper: text, RV32", `#1 0  M 80000000     4505 r 0a         00000001  c.li     x10, 1
#2 0  M 80000002 30529073 c 0305       80000184  csrrw    x0, mtvec, x5
#3 0  M 80000006 00052607 f 0c         3fc00000  flw      f12, 0(x10) [0x80001000]
#4 0  M 8000000a 00b12023 m 80001000   00000007  sw       x11, 0(x2) [0x80001000]
#5 0  M 8000000e 7a129073 c 000107a1   00000001  csrrw    x0, tdata1, x5
#6 0  M 80000012     a022 m 80001000   3ff00000  c.fsdsp  f8, 0 [0x80001000]
`},
	{"sources of Whisper: CSV", `pc, inst, modified regs, source operands, memory, inst info, privilege, trap, disassembly, hartid
80000000,1117,x2=80001000,i1,,,m,,auipc    x2; 0x1,0
80000004:90000004,b12023,,x11;x2;i0,80001000:90001000=7,s,s,,sw       x11; 0(x2),1
80000008,12583,x11=7,x2;i0,80001000,l,vu,,lw       x11; 0(x2),0
8000000c,d1262f,a2=7,x13;x2,80001000=8,a,u,,amoadd.w x12; x13; (x2),0
80000010,c57553,f10=3ff8000000000000;ff=1,f10;f12;rm=0,,f,m,,fadd.d   f10; f10; f12,0
80000014,30529073,c773=80000184;c768=a00001800,x5,,,m,,csrrw    x0; mtvec; x5,0
80000018,78000ef,x1=8000001c;pc=80000090,i78,,c,m,,jal      x1; . + 0x78,0
80000168,2056007,v0=00000001000000020000000300000004,x10,80001000;80001004m;80001008=3,v,m,,vle32.v v0; (x10),0
8000001c,73,c833=8000001c;c834=8,,,,u,8,ecall,a
80000184,34102373,c834=8000000000000007,c833,,,m,8000000000000007,csrrs    x6; mepc; x0,0
80000188,13,zero=0,,,,d,,nop
8000018c,e016,,,80001008=5,s,m,,c.sdsp   x5; 0,0
8000018e,e11c,,,8000100c=5,s,m,,c.fsw    f15; 0(x10),0
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	const (
		all      = `"tells":"opcode mode registers system loads stores store-data all-writes events trapped",`
		noSystem = `"tells":"opcode mode registers loads stores store-data all-writes events trapped",`
	)
	for i, want := range [][]string{
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":1,"address":"0x80000000","opcode":"0xd0580537","tells":"opcode registers system loads stores store-data all-writes events trapped","disasm":"lui      x10, -0x2fa80"}`,
			`1 {"kind":"register","time":0,"cpu":0,"name":"x10","value":"0xd0580000"}`,
		},
		{
			`1 {"remark":"_start:"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":1,"address":"0x0000000080000000","opcode":"0x00001117",` + all + `"mode":"M","disasm":"auipc    x2, 0x1"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"x2","value":"0x0000000080001000"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":2,"address":"0x0000000080000004","opcode":"0x4505",` + all + `"mode":"M","disasm":"c.li     x10, 1"}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"x10","value":"0x0000000000000001"}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":3,"address":"0x0000000080000006","opcode":"0x00b12023",` + all + `"mode":"M","disasm":"sw       x11, 0(x2)"}`,
			`4 {"kind":"memory","time":0,"cpu":0,"access":"write","size":4,"address":"0x0000000080001000","data":"0xdeadbeef","physical":"0x90001000"}`,
			`5 {"kind":"instruction","time":0,"cpu":1,"id":4,"address":"0x000000008000000a","opcode":"0x00012583",` + all + `"mode":"S","disasm":"lw       x11, 0(x2)"}`,
			`5 {"kind":"memory","time":0,"cpu":1,"access":"read","partial":true,"size":4,"address":"0x80001000"}`,
			`5 {"kind":"register","time":0,"cpu":1,"name":"x11","value":"0xffffffffdeadbeef"}`,
			`6 {"kind":"instruction","time":0,"cpu":1,"id":5,"address":"0x000000008000000e","opcode":"0x00c57553",` + all + `"mode":"VS","disasm":"fadd.d   f10, f10, f12"}`,
			`6 {"kind":"register","time":0,"cpu":1,"name":"f10","value":"0x3ff8000000000000"}`,
			`7 {"kind":"register","time":0,"cpu":1,"name":"fflags","value":"0x0000000000000001","number":1,"system":true}`,
			`8 {"kind":"instruction","time":0,"cpu":0,"id":6,"address":"0x0000000080000012","opcode":"0x00d1262f",` + all + `"mode":"U","disasm":"amoadd.w x12, x13, (x2)"}`,
			`8 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"size":4,"address":"0x80001000"}`,
			`8 {"kind":"register","time":0,"cpu":0,"name":"x12","value":"0x00000000deadbeef"}`,
			`9 {"kind":"memory","time":0,"cpu":0,"access":"write","size":4,"address":"0x0000000080001000","data":"0xdeadbef0"}`,
			`10 {"kind":"instruction","time":0,"cpu":0,"id":7,"address":"0x0000000080000016","opcode":"0x00c68063",` + all + `"mode":"U","disasm":"beq      x13, x12, . + 0"}`,
			`11 {"kind":"instruction","time":0,"cpu":0,"id":8,"address":"0x000000008000001a","opcode":"0x00000073","trapped":true,` + noSystem + `"mode":"U","disasm":"ecall"}`,
			`11 {"kind":"event","time":0,"cpu":0,"event":"exception","name":"exception","address":"0x000000008000001a"}`,
			`11 {"kind":"register","time":0,"cpu":0,"name":"mepc","value":"0x000000008000001a","number":833,"system":true}`,
			`12 {"kind":"register","time":0,"cpu":0,"name":"mcause","value":"0x0000000000000008","number":834,"system":true}`,
			`13 {"kind":"event","time":0,"cpu":0,"event":"interrupt","name":"interrupted","address":"0x0000000080000184"}`,
			`14 {"remark":"#9 0  M 0000000080000184 34102373 c 0000000000000341 0000000080000184 csrrs    x6, mepc, x0 (interrupted)"}`,
			`15 {"kind":"instruction","time":0,"cpu":0,"id":10,"address":"0x0000000080000188","opcode":"0x02008057",` + all + `"mode":"M","disasm":"vle64.v  v2, (x1)"}`,
			`15 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"address":"0x80001000"}`,
			`15 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"address":"0x80001008"}`,
			`15 {"kind":"register","time":0,"cpu":0,"name":"v2","value":"0x00000000000000010000000000000002"}`,
			`16 {"kind":"register","time":0,"cpu":0,"name":"v3","value":"0x00000000000000030000000000000004"}`,
			`17 {"kind":"instruction","time":0,"cpu":0,"id":11,"address":"0x000000008000018c","opcode":"0x0200f127",` + all + `"mode":"M","disasm":"vse64.v  v2, (x1)"}`,
			`17 {"kind":"memory","time":0,"cpu":0,"access":"write","size":8,"address":"0x80001000","data":"0x0000000000000001","physical":"0x90001000"}`,
			`17 {"kind":"memory","time":0,"cpu":0,"access":"write","size":8,"address":"0x80001008","data":"0x0000000000000002"}`,
			`18 {"remark":"satp mode: Bare  +"}`,
			`19 {"remark":"iptw:  +"}`,
			`20 {"remark":" gpa: 0x8000018c"}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":1,"address":"0x80000000","opcode":"0x4505",` + all + `"mode":"M","disasm":"c.li     x10, 1"}`,
			`1 {"kind":"register","time":0,"cpu":0,"name":"x10","value":"0x00000001"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":2,"address":"0x80000002","opcode":"0x30529073",` + all + `"mode":"M","disasm":"csrrw    x0, mtvec, x5"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"mtvec","value":"0x80000184","number":773,"system":true}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":3,"address":"0x80000006","opcode":"0x00052607",` + all + `"mode":"M","disasm":"flw      f12, 0(x10)"}`,
			`3 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"size":4,"address":"0x80001000"}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"f12","value":"0x3fc00000"}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":4,"address":"0x8000000a","opcode":"0x00b12023",` + all + `"mode":"M","disasm":"sw       x11, 0(x2)"}`,
			`4 {"kind":"memory","time":0,"cpu":0,"access":"write","size":4,"address":"0x80001000","data":"0x00000007"}`,
			`5 {"kind":"instruction","time":0,"cpu":0,"id":5,"address":"0x8000000e","opcode":"0x7a129073",` + all + `"mode":"M","disasm":"csrrw    x0, tdata1, x5"}`,
			`5 {"kind":"register","time":0,"cpu":0,"name":"tdata1","value":"0x00000001","number":1953,"system":true}`,
			`6 {"kind":"instruction","time":0,"cpu":0,"id":6,"address":"0x80000012","opcode":"0xa022",` + all + `"mode":"M","disasm":"c.fsdsp  f8, 0"}`,
			`6 {"kind":"memory","time":0,"cpu":0,"access":"write","size":8,"address":"0x80001000","data":"0x3ff00000"}`,
		},
		{
			`1 {"remark":"pc, inst, modified regs, source operands, memory, inst info, privilege, trap, disassembly, hartid"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000000","opcode":"0x1117",` + all + `"mode":"M","disasm":"auipc    x2; 0x1"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"x2","value":"0x80001000"}`,
			`3 {"kind":"instruction","time":0,"cpu":1,"id":0,"address":"0x80000004","opcode":"0xb12023","physical":"0x90000004",` + all + `"mode":"S","disasm":"sw       x11; 0(x2)"}`,
			`3 {"kind":"memory","time":0,"cpu":1,"access":"write","size":4,"address":"0x80001000","data":"0x7","physical":"0x90001000"}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000008","opcode":"0x12583",` + all + `"mode":"VU","disasm":"lw       x11; 0(x2)"}`,
			`4 {"kind":"register","time":0,"cpu":0,"name":"x11","value":"0x7"}`,
			`4 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"size":4,"address":"0x80001000"}`,
			`5 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x8000000c","opcode":"0xd1262f",` + all + `"mode":"U","disasm":"amoadd.w x12; x13; (x2)"}`,
			`5 {"kind":"register","time":0,"cpu":0,"name":"a2","value":"0x7"}`,
			`5 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"size":4,"address":"0x80001000"}`,
			`5 {"kind":"memory","time":0,"cpu":0,"access":"write","size":4,"address":"0x80001000","data":"0x8"}`,
			`6 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000010","opcode":"0xc57553",` + noSystem + `"mode":"M","disasm":"fadd.d   f10; f10; f12"}`,
			`6 {"kind":"register","time":0,"cpu":0,"name":"f10","value":"0x3ff8000000000000"}`,
			`7 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000014","opcode":"0x30529073",` + all + `"mode":"M","disasm":"csrrw    x0; mtvec; x5"}`,
			`7 {"kind":"register","time":0,"cpu":0,"name":"mtvec","value":"0x80000184","number":773,"system":true}`,
			`7 {"kind":"register","time":0,"cpu":0,"name":"mstatus","value":"0xa00001800","number":768,"system":true}`,
			`8 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000018","opcode":"0x78000ef",` + all + `"mode":"M","disasm":"jal      x1; . + 0x78"}`,
			`8 {"kind":"register","time":0,"cpu":0,"name":"x1","value":"0x8000001c"}`,
			`9 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000168","opcode":"0x2056007",` + all + `"mode":"M","disasm":"vle32.v v0; (x10)"}`,
			`9 {"kind":"register","time":0,"cpu":0,"name":"v0","value":"0x00000001000000020000000300000004"}`,
			`9 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"address":"0x80001000"}`,
			`9 {"kind":"memory","time":0,"cpu":0,"access":"write","partial":true,"address":"0x80001008","data":"0x3"}`,
			`10 {"kind":"instruction","time":0,"cpu":10,"id":0,"address":"0x8000001c","opcode":"0x73","trapped":true,` + noSystem + `"mode":"U","disasm":"ecall"}`,
			`10 {"kind":"event","time":0,"cpu":10,"event":"exception","name":"8","address":"0x8000001c"}`,
			`10 {"kind":"register","time":0,"cpu":10,"name":"mepc","value":"0x8000001c","number":833,"system":true}`,
			`10 {"kind":"register","time":0,"cpu":10,"name":"mcause","value":"0x8","number":834,"system":true}`,
			`11 {"kind":"event","time":0,"cpu":0,"event":"interrupt","name":"8000000000000007","address":"0x80000184"}`,
			`12 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000188","opcode":"0x13",` + all + `"mode":"D","disasm":"nop"}`,
			`12 {"kind":"register","time":0,"cpu":0,"name":"zero","value":"0x0","zero":true}`,
			`13 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x8000018c","opcode":"0xe016",` + all + `"mode":"M","disasm":"c.sdsp   x5; 0"}`,
			`13 {"kind":"memory","time":0,"cpu":0,"access":"write","size":8,"address":"0x80001008","data":"0x5"}`,
			`14 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x8000018e","opcode":"0xe11c",` + all + `"mode":"M","disasm":"c.fsw    f15; 0(x10)"}`,
			`14 {"kind":"memory","time":0,"cpu":0,"access":"write","size":4,"address":"0x8000100c","data":"0x5"}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestCut: a line that ends in + behind which lines are missing does not take the next for its own.
func TestCut(t *testing.T) {
	const text = "#5 0  M 80000000 00c57553 f 0a 3f800000 fadd.s   f10, f10, f12  +\n" +
		"#9 0  M 80000010     4505 r 0b 00000001 c.li     x11, 1\n"
	dialecttest.Run(t, Dialect, text)
	var kinds []itrace.Kind
	for _, r := range dialecttest.Read(t, Dialect, strings.NewReader(text), 8) {
		kinds = append(kinds, r.Kind)
	}
	want := []itrace.Kind{itrace.Instruction, itrace.Register, itrace.Instruction, itrace.Register}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestProblems says what is wrong with lines, and where. What could be read of them is there.
func TestProblems(t *testing.T) {
	const start = "#1 0  M 80000000     4505 "
	for text, want := range map[string]string{
		"hello":                         `1: column 1: found "hello", expected "#" and a number, or an address in hexadecimal and a comma`,
		"#x":                            `1: column 2: found "x", expected a number`,
		"#1 x":                          `1: column 4: found "x", expected the number of a hart`,
		"#1 2147483648 M":               `1: column 14: found " M", expected the number of a hart`,
		"#1 0  M xyz":                   `1: column 9: found "xyz", expected an address in hexadecimal`,
		"#1 0  M 80000000 xyz":          `1: column 18: found "xyz", expected an opcode in hexadecimal`,
		start + "r":                     `1: column 28: found the end of the line, expected r, f, v, c or m, and a blank`,
		start + "r x":                   `1: column 29: found "x", expected the number of a register or an address in hexadecimal`,
		start + "r 0a x":                `1: column 32: found "x", expected a value in hexadecimal`,
		start + "r 20 1 nop":            `1: column 27: found "r", expected r, f, v, c or m with the number of a register or an address`,
		start + "q 0a 1 nop":            `1: column 27: found "q", expected r, f, v, c or m with the number of a register or an address`,
		start + "r 0a 1 lw [0x80 0x81]": `1: column 42: found " 0x81", expected ";" or "]"`,
		start + "r 0a 1 lw [0x80:0x]":   `1: column 45: found the end of the line, expected 0x and an address`,
		"80000000,xyz,":                 `1: column 10: found "xyz,", expected an opcode in hexadecimal and a comma`,
		"80000000,13,":                  `1: column 13: found the end of the line, expected a comma, and columns up to the disassembly`,
		"80000000:x,13,,,,,m,,nop,0":    `1: column 1: found "80000000:x,13,,,,,m,"…, expected "#" and a number, or an address in hexadecimal and a comma`,
		"80000000,13,,,,,m,,nop,x":      `1: column 24: found "x", expected the number of a hart in hexadecimal`,
		"80000000,13,x5,,,,m,,nop,0":    `1: column 13: found "x5,,,,m,,nop,0", expected a register, "=" and a value in hexadecimal`,
		"80000000,13,y5=1,,,,m,,nop,0":  `1: column 13: found "y5=1,,,,m,,nop,0", expected a register, "=" and a value in hexadecimal`,
		"80000000,13,,,80=x,,m,,nop,0":  `1: column 15: found "80=x,,m,,nop,0", expected an address in hexadecimal, and behind "=" data`,
	} {
		got := ""
		for _, r := range dialecttest.Read(t, Dialect, strings.NewReader(text+"\n"), 8) {
			if r.Kind == itrace.Unknown && got == "" {
				got = fmt.Sprintf("%d: %v", r.Line, r.Problem)
			}
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	for _, state := range []string{"\x00", "\x02\x00", "\x00\x01\x01", "\x00\x80"} {
		if (&reader{}).Restore([]byte(state)) == nil {
			t.Errorf("%q is taken for a state", state)
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, m := range museum {
		dialecttest.Allocations(t, Dialect, m.text)
	}
}

func FuzzWhisper(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

// BenchmarkRead reads text and CSV.
func BenchmarkRead(b *testing.B) {
	b.Run("text", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[1].text) })
	b.Run("csv", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[3].text) })
}
