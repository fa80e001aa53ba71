package ovpsim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines as producers wrote them, and as notes on them say where that is noted.
var museum = []struct{ producer, text string }{
	{"riscvOVPsimPlus 20201109, --trace --tracechange --tracemode --traceshowicount, from its documentation of FORCE-RISCV", `Info 4509: 'riscvOVPsim/cpu', 0x000000007ff034cc(text1+3c): Machine 0056d493 srli    s1,a3,0x5
Info   s1 fffffffffffff890 -> 0000000000000000
Info 4510: 'riscvOVPsim/cpu', 0x000000007ff034d0(text1+40): Machine 00d311b3 sll     gp,t1,a3
Info   gp 0000000000000000 -> 000000001ea8d5b2
Info   System time           : 0.00 seconds
Info ---------------------------------------------------

riscvOVPsimPlus finished: Mon Nov  9 12:13:29 2020
`},
	{"riscvOVPsim, from a test of riscv-dv", `Info 5366: 'riscvOVPsim/cpu', 0x0000000080000d10(_main+bd6): Machine 0213b357 vadd.vi v6,v1,7
Warning (RISCV_IVI) CPU 'riscvOVPsim/cpu' 0x80000d10 0213b357 vadd.vi v6,v1,7: Illegal vector register index
`},
	{"readers of it: without options, several processors, exceptions, another processor", `Info 'platform/cpu_hart1', 0x80000000(_start): 4505     li      a0,1
Info 'platform/cpu_hart1', 0x80000002: 00052607 flw     fa2,0(a0)
Info fa2 00000000 -> 3fc00000
Info 'platform/cpu_hart1', 0x80000006(_start+6): Debug 00000073 ecall
 mepc 00000000 -> 80000006
 mcause 00000000 -> 0000000b
Info 'platform/cpu_hart1', 0x80000184(trap): User 34131073 csrrw   zero,mepc,t1
Info   mepc 80000006 -> 80000184
Info 'platform/arm', 0x80000188(f(int)): e0411000 sub     r1,r1,r0
Info   r1 00000002 -> 00000001
Info   cpsr 000001d3 -> 600001d3
Info 'platform/cpu_hart2', 0x8000018c: 00000013 nop

Info   a0 00000002 -> 00000001
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
		all    = `"tells":"opcode mode registers system",`
		noMode = `"tells":"opcode registers system",`
	)
	for i, want := range [][]string{
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":4509,"address":"0x000000007ff034cc","opcode":"0x0056d493",` + all + `"mode":"M","disasm":"srli    s1,a3,0x5"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"s1","value":"0x0000000000000000"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":4510,"address":"0x000000007ff034d0","opcode":"0x00d311b3",` + all + `"mode":"M","disasm":"sll     gp,t1,a3"}`,
			`4 {"kind":"register","time":0,"cpu":0,"name":"gp","value":"0x000000001ea8d5b2"}`,
			`5 {"remark":"Info   System time           : 0.00 seconds"}`,
			`6 {"remark":"Info ---------------------------------------------------"}`,
			`8 {"remark":"riscvOVPsimPlus finished: Mon Nov  9 12:13:29 2020"}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":5366,"address":"0x0000000080000d10","opcode":"0x0213b357","tells":"opcode mode","mode":"M","disasm":"vadd.vi v6,v1,7"}`,
			`2 {"remark":"Warning (RISCV_IVI) CPU 'riscvOVPsim/cpu' 0x80000d10 0213b357 vadd.vi v6,v1,7: Illegal vector register index"}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":1,"id":0,"address":"0x80000000","opcode":"0x4505","tells":"opcode","disasm":"li      a0,1"}`,
			`2 {"kind":"instruction","time":0,"cpu":1,"id":0,"address":"0x80000002","opcode":"0x00052607",` + noMode + `"disasm":"flw     fa2,0(a0)"}`,
			`3 {"kind":"register","time":0,"cpu":1,"name":"fa2","value":"0x3fc00000"}`,
			`4 {"kind":"instruction","time":0,"cpu":1,"id":0,"address":"0x80000006","opcode":"0x00000073","trapped":true,"tells":"opcode mode registers trapped","mode":"Debug","disasm":"ecall"}`,
			`5 {"kind":"register","time":0,"cpu":1,"name":"mepc","value":"0x80000006","system":true}`,
			`6 {"kind":"register","time":0,"cpu":1,"name":"mcause","value":"0x0000000b","system":true}`,
			`7 {"kind":"instruction","time":0,"cpu":1,"id":0,"address":"0x80000184","opcode":"0x34131073",` + all + `"mode":"U","disasm":"csrrw   zero,mepc,t1"}`,
			`8 {"kind":"register","time":0,"cpu":1,"name":"mepc","value":"0x80000184","system":true}`,
			`9 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000188","opcode":"0xe0411000",` + noMode + `"disasm":"sub     r1,r1,r0"}`,
			`10 {"kind":"register","time":0,"cpu":0,"name":"r1","value":"0x00000001"}`,
			`11 {"kind":"register","time":0,"cpu":0,"name":"cpsr","value":"0x600001d3","system":true}`,
			`12 {"kind":"instruction","time":0,"cpu":2,"id":0,"address":"0x8000018c","opcode":"0x00000013",` + noMode + `"disasm":"nop"}`,
			`14 {"kind":"register","time":0,"cpu":2,"name":"a0","value":"0x00000001"}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestProblems says what is wrong with lines, and where. What could be read of them is there.
func TestProblems(t *testing.T) {
	const good = "Info 1: 'cpu', 0x80000000(_start): Machine 4505 li a0,1\n"
	for text, want := range map[string]string{
		"hello":                                 `1: column 1: found "hello", expected Info, a processor and an address, or a register and "->"`,
		"Info 1x 'cpu', 0x80000000: 4505":       `1: column 7: found "x", expected a colon and a blank`,
		"Info 1 'cpu', 0x80000000: 4505":        `1: column 7: found " 'cpu',", expected a colon and a blank`,
		"Info 1: cpu', 0x80000000: 4505":        `1: column 9: found "cpu',", expected a processor in quotation marks`,
		"Info 'cpu', 0xyz: 4505":                `1: column 15: found "yz:", expected 0x and an address`,
		"Info 'a'b', 0x80000000: 4505":          `1: column 8: found "'b',", expected a comma and a blank`,
		"Info 'cpu', 0x80000000(x: 4505":        `1: column 24: found "x:", expected a symbol and "):"`,
		"Info 'cpu', 0x80000000 4505":           `1: column 23: found " 4505", expected ":" and a blank`,
		"Info 'cpu', 0x80000000: Machine nop":   `1: column 33: found "nop", expected a mode, or an opcode in hexadecimal`,
		"Info 'cpu', 0x80000000: Machine 13,":   `1: column 35: found ",", expected a blank or the end of the line`,
		good + "Info   s1 x -> 1":               `2: column 11: found "x", expected a value in hexadecimal`,
		good + "Info   s1 0 -> x":               `2: column 16: found "x", expected a value in hexadecimal`,
		good + "Info   s1 0 -> 1 2":             `2: column 17: found " 2", expected the end of the line`,
		good + "Info   s1 0 x -> 1":             `2: column 12: found " x", expected "->" between blanks`,
		good + "Info   s1 0 -> 1\nhello -> you": `3: column 7: found "->", expected a value in hexadecimal`,
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
	for _, state := range []string{"\x00", "\x02\x00", "\x01\x00\x00", "\x01\x80", "\x01\xff\xff\xff\xff\x0f"} {
		if (&decoder{}).Restore([]byte(state)) == nil {
			t.Errorf("%q is taken for a state", state)
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, m := range museum {
		dialecttest.Allocations(t, Dialect, m.text)
	}
}

func FuzzOVPsim(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

func BenchmarkRead(b *testing.B) {
	changes, _, _ := strings.Cut(museum[0].text, "Info   System")
	dialecttest.Benchmark(b, Dialect, changes)
}
