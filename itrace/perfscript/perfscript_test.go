package perfscript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
)

// museum is lines of manuals and mails, and lines by the grammar of perf's source.
var museum = []struct{ producer, text string }{
	{"a mail about perf of 2024, --insn-trace=disasm", `           pushw   10349 [000] 10586.869237014:            401000 [unknown] (./pushw)           pushw $0x1234
           pushw   10349 [000] 10586.869237014:            401008 [unknown] (./pushw)           addb %cl, %ch
           pushw   10349 [000] 10586.869237014:            40100a [unknown] (./pushw)           addb $0x2e, (%rax)
   instruction trace error type 1 time 10586.869237224 cpu 0 pid 10349 tid 10349 ip 0x40100d code 6: Trace doesn't match instruction
           pushw   10349 [000] 10586.869238000:            401000 [unknown] (./pushw)           pushw $0x1234
`},
	{"a mail about perf of 2019, --insn-trace --xed", `           sleep 36660 [016] 1057036.806464404:  ffffffff811dfba5 trace_call_bpf+0x65 ([kernel.kallsyms])               nopl  %eax, (%rax,%rax,1)
           sleep 36660 [016] 1057036.806464404:  ffffffff811dfbaa trace_call_bpf+0x6a ([kernel.kallsyms])               movq  0x30(%rbx), %rax
`},
	{"perf's source: other fields", "# captured on: a day\n" +
		"Web Content: 9 100/101 [003]    12.345678:          1 instructions:u:  7f00 std::f(int (*)(char), g)+0x4 (/lib/a b.so) insn: 48 89 e5\n" +
		"swapper     0 [001]    12.345679:  ffffffff81000000 [unknown] ([kernel.kallsyms]) insn: f4 \t IPC: 1.00 (1/1)\n" +
		"swapper     0 [002]    12.345679:  ffffffff81000000 [unknown] ([kernel.kallsyms])\tinsn: \n" +
		"Web Content: 9 100/101 [003]    12.345680:          1 branches:u:  7f02 f+0x2 (/a) => 7f00 f (/a)\n" +
		"Web Content: 9 100/101 [003]    12.345680:  cbr: 34 freq: 3400 MHz (121%)\n" +
		"102 13.000000001:  7f00 insn: c3\n" +
		"13.000000001:  7f00\n" +
		"Warning:\n2 instruction trace errors\n"},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	instruction := func(time string, cpu int, address, opcode, more, disasm string) string {
		tells := "all-writes" + more
		if opcode != "" {
			opcode, tells = `,"opcode":"0x`+opcode+`"`, "opcode "+tells
		}
		if disasm != "" {
			disasm = `,"disasm":"` + disasm + `"`
		}
		return fmt.Sprintf(`{"kind":"instruction","time":%s,"scale":"ns","cpu":%d,"id":0,"address":"0x%s"%s,"tells":"%s"%s}`,
			time, cpu, address, opcode, tells, disasm)
	}
	for i, want := range [][]string{
		{
			"1 " + instruction("10586869237014", 0, "401000", "", "", "pushw $0x1234"),
			"2 " + instruction("10586869237014", 0, "401008", "", "", "addb %cl, %ch"),
			"3 " + instruction("10586869237014", 0, "40100a", "", " gaps", "addb $0x2e, (%rax)"),
			`4 {"remark":"` + strings.Split(museum[0].text, "\n")[3] + `"}`,
			"5 " + instruction("10586869238000", 0, "401000", "", "", "pushw $0x1234"),
		},
		{
			"1 " + instruction("1057036806464404", 0, "ffffffff811dfba5", "", "", "nopl  %eax, (%rax,%rax,1)"),
			"2 " + instruction("1057036806464404", 0, "ffffffff811dfbaa", "", "", "movq  0x30(%rbx), %rax"),
		},
		{
			`1 {"remark":"# captured on: a day"}`,
			"2 " + instruction("12345678000", 0, "7f00", "4889e5", "", ""),
			"3 " + instruction("12345679000", 1, "ffffffff81000000", "f4", "", ""),
			"4 " + instruction("12345679000", 2, "ffffffff81000000", "", "", ""),
			`5 {"remark":"Web Content: 9 100/101 [003]    12.345680:          1 branches:u:  7f02 f+0x2 (/a) => 7f00 f (/a)"}`,
			`6 {"remark":"Web Content: 9 100/101 [003]    12.345680:  cbr: 34 freq: 3400 MHz (121%)"}`,
			"7 " + instruction("13000000001", 3, "7f00", "c3", "", ""),
			"8 " + instruction("13000000001", 4, "7f00", "", "", ""),
			`9 {"remark":"Warning:"}`,
			`10 {"remark":"2 instruction trace errors"}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestProblems says what is wrong with lines, and where.
func TestProblems(t *testing.T) {
	for line, want := range map[string]string{
		"hello":                                   `column 1: found "hello", expected a thread, and a time in seconds with a point and a colon`,
		"a 1 [000] 1.12345:":                      `column 1: found "a", expected a thread, and a time in seconds with a point and a colon`,
		"a 1 [000] 1.123456: 0x80":                `column 22: found "x80", expected a blank or the end of the line`,
		"a 1 [000] 1.123456: main (/a)":           `column 21: found "main", expected an address without 0x`,
		"a 1 [000] 1.123456: 11112222333344445":   `column 21: found "11112222333344445", expected an address without 0x of 64 bits`,
		"a b [000] 1.123456: 80":                  `column 3: found "b", expected the number of a thread`,
		"a 1 [x] 1.123456: 80":                    `column 5: found "[x]", expected the number of a processor in brackets`,
		"] 1.123456: 80":                          `column 1: found "]", expected the number of a processor in brackets`,
		"a 1 [000] 99999999999999999.123456: 80 ": `column 1: found "a", expected a thread, and a time in seconds with a point and a colon`,
	} {
		if got, records := dialecttest.Problem(t, Dialect, line+"\n"); got != want || records != 1 {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	dialecttest.Allocations(t, Dialect, museum[0].text+museum[1].text+museum[2].text)
}

func FuzzPerf(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

func BenchmarkRead(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[1].text) }
