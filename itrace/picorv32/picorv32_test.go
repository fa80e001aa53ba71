package picorv32

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines as the producer wrote them, and lines by its source.
var museum = []struct{ producer, text string }{
	{"showtrace.py of PicoRV32's repository, 2024", `    >80000080 ** FOUND BRANCH AND STARTING DECODING **
    =80001080 | 80000080 | 00001117 | auipc sp,0x1
    =800012e0 | 80000084 | 26010113 | add sp,sp,608 # 800012e0 <_end>
    =00000000 | 80000090 | 00000213 | li tp,0
    >8000017c | 80000104 | 078000ef | jal 8000017c <sort_bytes>
    @80001080 | 80000194 | 00064283 | lbu t0,0(a2)
    =00000009 | 80000194 | 00064283 | lbu t0,0(a2)
    >800001ac | 8000019c | 00537863 | bgeu t1,t0,800001ac <sort_bytes+0x30>
    =800001ac | 8000019c | 00537863 | bgeu t1,t0,800001ac <sort_bytes+0x30>
    @80001082 | 800001a4 | 005600a3 | sb t0,1(a2)
    =000000c8 | 800001a4 | 005600a3 | sb t0,1(a2)
    @80001000 | 80000170 | 0062a023 | sw t1,0(t0)
    =00000001 | 80000170 | 0062a023 | sw t1,0(t0)
`},
	{"showtrace.py's source: an interrupt, compressed instructions, what is not in the program", `    =00000001 ** SKIPPING DATA UNTIL NEXT BRANCH **
    >00000100 ** FOUND BRANCH AND STARTING DECODING **
    =00000005 | 00000100 |     4295 | li t0,5
    >00000200 | 00000102 |     a005 | j 200
IRQ =00000204 | 00000010 | 0200a10b | custom0 2,1,0,1
IRQ =00000204 | 00000014 | 0000450b | custom0 10,0,0,0
IRQ >00000204 | 00000018 | 0400000b | custom0 0,0,0,2
    @00001000 | 00000204 |     4188 | lw a0,0(a1)
    =ffffff80 | 00000204 |     4188 | lw a0,0(a1)
    >00000300 ** UNEXPECTED BRANCH DATA FOR INSN AT 00000206! **
    >00000300 | 00000206 | 00000013 | nop
    =00000001 ** NO INFORMATION ON INSN AT 00000300! **
    =00000001 ** SKIPPING DATA UNTIL NEXT BRANCH **
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	instruction := func(address, opcode, not, disasm string) string {
		tells := "opcode registers loads load-data stores store-data all-writes events"
		if not != "" {
			tells = strings.Replace(tells, not, "", 1)
		}
		return `{"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x` + address + `","opcode":"0x` + opcode + `","tells":"` + tells +
			`","disasm":"` + disasm + `"}`
	}
	const memory, register = `{"kind":"memory","time":0,"cpu":0,"access":`, `{"kind":"register","time":0,"cpu":0,"name":`
	for i, want := range [][]string{
		{
			`1 {"remark":"    >80000080 ** FOUND BRANCH AND STARTING DECODING **"}`,
			`2 ` + instruction("80000080", "00001117", "", "auipc sp,0x1"),
			`2 ` + register + `"x2","value":"0x80001080"}`,
			`3 ` + instruction("80000084", "26010113", "", "add sp,sp,608 # 800012e0 <_end>"),
			`3 ` + register + `"x2","value":"0x800012e0"}`,
			`4 ` + instruction("80000090", "00000213", "", "li tp,0"),
			`4 ` + register + `"x4","value":"0x00000000"}`,
			`5 ` + instruction("80000104", "078000ef", "registers ", "jal 8000017c <sort_bytes>"),
			`6 ` + instruction("80000194", "00064283", "", "lbu t0,0(a2)"),
			`6 ` + memory + `"read","size":1,"address":"0x80001080","data":"0x09"}`,
			`7 ` + register + `"x5","value":"0x00000009"}`,
			`8 ` + instruction("8000019c", "00537863", "", "bgeu t1,t0,800001ac <sort_bytes+0x30>"),
			`9 ` + instruction("8000019c", "00537863", "", "bgeu t1,t0,800001ac <sort_bytes+0x30>"),
			`10 ` + instruction("800001a4", "005600a3", "", "sb t0,1(a2)"),
			`10 ` + memory + `"write","size":1,"address":"0x80001082","data":"0xc8"}`,
			`12 ` + instruction("80000170", "0062a023", "", "sw t1,0(t0)"),
			`12 ` + memory + `"write","size":4,"address":"0x80001000","data":"0x00000001"}`,
		},
		{
			`1 {"remark":"    =00000001 ** SKIPPING DATA UNTIL NEXT BRANCH **"}`,
			`2 {"remark":"    >00000100 ** FOUND BRANCH AND STARTING DECODING **"}`,
			`3 ` + instruction("00000100", "4295", "", "li t0,5"),
			`3 ` + register + `"x5","value":"0x00000005"}`,
			`4 ` + instruction("00000102", "a005", "", "j 200"),
			`5 {"kind":"event","time":0,"cpu":0,"event":"interrupt","name":"IRQ"}`,
			`5 ` + instruction("00000010", "0200a10b", "", "custom0 2,1,0,1"),
			`5 ` + register + `"q2","value":"0x00000204"}`,
			`6 ` + instruction("00000014", "0000450b", "", "custom0 10,0,0,0"),
			`6 ` + register + `"x10","value":"0x00000204"}`,
			`7 ` + instruction("00000018", "0400000b", "", "custom0 0,0,0,2"),
			`8 ` + instruction("00000204", "4188", "", "lw a0,0(a1)"),
			`8 ` + memory + `"read","size":4,"address":"0x00001000","data":"0xffffff80"}`,
			`9 ` + register + `"x10","value":"0xffffff80"}`,
			`10 {"remark":"    >00000300 ** UNEXPECTED BRANCH DATA FOR INSN AT 00000206! **"}`,
			`11 ` + instruction("00000206", "00000013", "", "nop"),
			`12 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x00000300","tells":"all-writes events gaps"}`,
			`13 {"remark":"    =00000001 ** SKIPPING DATA UNTIL NEXT BRANCH **"}`,
		},
	} {
		got := dialecttest.Lines(t, Dialect, museum[i].text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestProblems says what is wrong with lines, and where.
func TestProblems(t *testing.T) {
	for line, want := range map[string]string{
		"hello":                                     `column 1: found "hello", expected IRQ or blanks, and a word`,
		"    +00000000":                             `column 5: found "+00000000", expected =, @ or >`,
		"    =0000000x":                             `column 6: found "0000000x", expected eight hexadecimal digits`,
		"IRQ =00000000 | ":                          `column 14: found " |", expected " | " and a pc, or **`,
		"IRQ =00000000 | 80 | 00000013 | nop":       `column 17: found "80", expected a pc of eight digits`,
		"IRQ =00000000 | 00000080 | nop | nop":      `column 28: found "nop", expected an opcode in hexadecimal`,
		"IRQ =00000000 | 00000080 | 00000013 nop":   `column 36: found " nop", expected " | " and an instruction`,
		"    =00000000 ** STARTING":                 `column 18: found "STARTING", expected a note that ends with **`,
		"    @00000000 | 00000080 | 00000013 | nop": `column 5: found "@00000000", expected = or >, as this is no load and no store`,
	} {
		if got, records := dialecttest.Problem(t, Dialect, line+"\n"); got != want || records != 1 {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
}

// TestCut has loads and stores of which one word is missing, and a gap.
func TestCut(t *testing.T) {
	const text = `    =00000009 | 80000194 | 00064283 | lbu t0,0(a2)
    @80001082 | 800001a4 | 005600a3 | sb t0,1(a2)
    =00000001 ** SKIPPING DATA UNTIL NEXT BRANCH **
    @80001082 | 80000194 | 00064283 | lbu t0,0(a2)
    =s0000009 | 80000194 | 00064283 | lbu t0,0(a2)
`
	records := dialecttest.Read(t, Dialect, strings.NewReader(text), 8)
	if len(records) != 8 || records[0].Scope&itrace.NoLoads == 0 || records[2].Scope&itrace.Gaps == 0 || len(records[3].Digits) > 0 {
		t.Errorf("the records are %v", dialecttest.Lines(t, Dialect, text))
	}
}

func TestAllocations(t *testing.T) {
	dialecttest.Allocations(t, Dialect, museum[0].text+museum[1].text)
}

func FuzzPicoRV32(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

func BenchmarkRead(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[0].text) }
