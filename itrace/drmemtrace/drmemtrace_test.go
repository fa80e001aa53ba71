package drmemtrace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
)

// museum is lines of the pages of DynamoRIO's sample traces, and lines by the grammar of its source.
var museum = []struct{ producer, text string }{
	{"DynamoRIO's sample trace of 2022 for AArch64", `Output format:
<--record#-> <--instr#->: <---tid---> <record details>
------------------------------------------------------------
           1           0:     2444839 <marker: version 5>
           2           0:     2444839 <marker: filetype 0xe08>
<...>
       10660        8011:     2444840 ifetch       4 byte(s) @ 0x0000000000401d68 91038040   add    %x2 $0x00e0 lsl $0x00 -> %x0
       10661        8012:     2444840 ifetch       4 byte(s) @ 0x0000000000401d6c d4000001   svc    $0x0000
       10662        8012:     2444840 <marker: system call 99>
------------------------------------------------------------
       10663        8012:     2444839 <marker: timestamp 13334813807921548>
       10664        8012:     2444839 <marker: tid 2444839 on core 15>
       10665        8013:     2444839 ifetch       4 byte(s) @ 0x00000000004008d8 7100681f   subs   %w0 $0x001a lsl $0x00 -> %wzr
<...>
       10705        8037:     2444839 ifetch       4 byte(s) @ 0x000000000040241c a8cf7bfd   ldp    (%sp)[16byte] %sp $0x00000000000000f0 -> %x29 %x30 %sp
       10706        8037:     2444839 read        16 byte(s) @ 0x0000ffffe7ac6020 by PC 0x000000000040241c
       10707        8038:     2444839 ifetch       4 byte(s) @ 0x0000000000402420 d65f03c0   ret    %x30 (target 0x400510)
       10708        8038:     2444839 <marker: kernel xfer from 0x400510 to handler>
`},
	{"DynamoRIO's sample trace of 2022 for x86-64", `       47444       37769:     2765543 ifetch       6 byte(s) @ 0x0000000000404a78 0f 84 5b 01 00 00    jz     $0x0000000000404bd9 (untaken)
       47445       37770:     2765543 ifetch       5 byte(s) @ 0x0000000000404a7e 48 8b 5c 24 08       mov    0x08(%rsp)[8byte] -> %rbx
       47446       37770:     2765543 read         8 byte(s) @ 0x00007fdf64e2adc8 by PC 0x0000000000404a7e
       47447       37771:     2765543 ifetch       1 byte(s) @ 0x00007fcae15fd3ed 55                   push   %rbp %rsp -> %rsp 0xfffffff8(%rsp)[8byte]
       47448       37771:     2765543 write        8 byte(s) @ 0x00007fcae47ed3e0 by PC 0x00007fcae15fd3ed
`},
	{"view's source: bytes in two lines, no encodings, workloads, windows", `           1           1:      W0.T292 ifetch      10 byte(s) @ 0x0000000000404a83 48 b8 00 11 22 33 44 mov    $0x7766554433221100 -> %rax
           1           1:      W0.T292                                            55 66 77
           2           1:      W0.T292 pref-r-L1    1 byte(s) @ 0x00007fcae47ed3e0 by PC 0x0000000000404a83
------------------------------------------------------------
           3           1:      W1.T292 <marker: window 1>
           4           2:      W1.T292 ifetch       2 byte(s) @ 0x0000000000404a8d conditional jump
           9           5:      W0.T292 ifetch       4 byte(s) @ 0x0000000000404a8d call
          10           5:      W0.T292 <marker: syscall xfer from 0x7142ff1c>
          11           5:      W0.T292 <marker: system call failed: 1>
          12           5:      W0.T292 <marker: rseq abort from 0x404a8d to handler>
          13           5:      W0.T292 <thread 292 exited>
View tool results:
              3 : total instructions
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// TestRecords says what each kind of line is, but for remarks.
func TestRecords(t *testing.T) {
	instruction := func(cpu, id int, address, opcode, gaps, disasm string) string {
		if opcode != "" {
			opcode = `"opcode":"0x` + opcode + `",`
		}
		tells := map[bool]string{true: "opcode ", false: ""}[opcode != ""] + "loads stores all-writes events" + gaps
		return fmt.Sprintf(`{"kind":"instruction","time":0,"cpu":%d,"id":%d,"address":"0x%s",%s"tells":"%s","disasm":"%s"}`,
			cpu, id, address, opcode, tells, disasm)
	}
	memory := func(cpu int, access string, size int, address string) string {
		return fmt.Sprintf(`{"kind":"memory","time":0,"cpu":%d,"access":"%s","partial":true,"size":%d,"address":"0x%s"}`, cpu, access, size, address)
	}
	for i, want := range [][]string{
		{
			`7 ` + instruction(0, 8011, "0000000000401d68", "91038040", "", "add    %x2 $0x00e0 lsl $0x00 -> %x0"),
			`8 ` + instruction(0, 8012, "0000000000401d6c", "d4000001", "", "svc    $0x0000"),
			`9 {"kind":"event","time":0,"cpu":0,"event":"exception","name":"system call 99"}`,
			`13 ` + instruction(1, 8013, "00000000004008d8", "7100681f", " gaps", "subs   %w0 $0x001a lsl $0x00 -> %wzr"),
			`15 ` + instruction(1, 8037, "000000000040241c", "a8cf7bfd", "", "ldp    (%sp)[16byte] %sp $0x00000000000000f0 -> %x29 %x30 %sp"),
			`16 ` + memory(1, "read", 16, "0000ffffe7ac6020"),
			`17 ` + instruction(1, 8038, "0000000000402420", "d65f03c0", "", "ret    %x30 (target 0x400510)"),
			`18 {"kind":"event","time":0,"cpu":1,"event":"interrupt","name":"kernel xfer","address":"0x400510"}`,
		},
		{
			`1 ` + instruction(0, 37769, "0000000000404a78", "0f845b010000", "", "jz     $0x0000000000404bd9 (untaken)"),
			`2 ` + instruction(0, 37770, "0000000000404a7e", "488b5c2408", "", "mov    0x08(%rsp)[8byte] -> %rbx"),
			`3 ` + memory(0, "read", 8, "00007fdf64e2adc8"),
			`4 ` + instruction(0, 37771, "00007fcae15fd3ed", "55", "", "push   %rbp %rsp -> %rsp 0xfffffff8(%rsp)[8byte]"),
			`5 ` + memory(0, "write", 8, "00007fcae47ed3e0"),
		},
		{
			`1 ` + instruction(0, 1, "0000000000404a83", "48b80011223344556677", " gaps", "mov    $0x7766554433221100 -> %rax"),
			`6 ` + instruction(1, 2, "0000000000404a8d", "", " gaps", "conditional jump"),
			`7 ` + instruction(0, 5, "0000000000404a8d", "", "", "call"),
			`8 {"kind":"event","time":0,"cpu":0,"event":"other","name":"syscall xfer","address":"0x7142ff1c"}`,
			`10 {"kind":"event","time":0,"cpu":0,"event":"interrupt","name":"rseq abort","address":"0x404a8d"}`,
		},
	} {
		var got []string
		for _, line := range dialecttest.Lines(t, Dialect, museum[i].text) {
			if !strings.Contains(line, `{"remark":`) {
				got = append(got, line)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestProblems says what is wrong with lines, and where.
func TestProblems(t *testing.T) {
	for line, want := range map[string]string{
		"hello":              `column 1: found "hello", expected the number of a record`,
		"  1 x: 2 ifetch":    `column 5: found "x:", expected the number of an instruction`,
		"  1 1 2 ifetch":     `column 6: found " 2", expected a colon and a thread`,
		"  1 1: W0:2 ifetch": `column 10: found ":2", expected .T and the number of a thread`,
		"  1 1: x ifetch":    `column 8: found "x", expected the number of a thread`,
		"  1 1: 2 fetch 1 byte(s) @ 0x0 by PC 0x0":    `column 10: found "fetch", expected ifetch, read, write or a marker`,
		"  1 1: 2 read 65536 byte(s) @ 0x0":           `column 15: found "65536", expected a size in bytes`,
		"  1 1: 2 ifetch 2 bytes @ 0x0":               `column 18: found " bytes", expected "byte(s) @"`,
		"  1 1: 2 ifetch 2 byte(s) @ 80":              `column 29: found "80", expected 0x and an address`,
		"  1 1: 2 write 2 byte(s) @ 0x80":             `column 32: found the end of the line, expected "by PC"`,
		"  1 1: 2 write 2 byte(s) @ 0x80 by PC 0x0 0": `column 42: found " 0", expected the end of the line`,
		"  1 1: 2 <marker: system call 1":             `column 32: found the end of the line, expected > at the end of a marker`,
		"  1 1: 2 <marker: kernel xfer from 0xx>":     `column 38: found "x>", expected an address`,
	} {
		if got, records := dialecttest.Problem(t, Dialect, line+"\n"); got != want || records != 1 {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	dialecttest.Allocations(t, Dialect, museum[0].text+museum[1].text+museum[2].text)
}

func FuzzView(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

func BenchmarkRead(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[1].text) }
