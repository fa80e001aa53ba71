package gdbsteps

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines as the producer wrote them.
var museum = []struct{ producer, text string }{
	{"GDB 13.1, x/i $pc and stepi", "\n" + `Program stopped.
0x0000000000401000 in _start ()
=> 0x401000 <_start>:	lea    rsp,[rip+0x1249]        # 0x402250
0x0000000000401010 in _start ()
=> 0x401010 <_start+16>:	call   0x40103f <fact>
0x000000000040103f in fact ()
=> 0x40103f <fact>:	cmp    edi,0x1
[Inferior 1 (process 16032) exited normally]
./step.gdb:11: Error in sourced command file:
No registers.
`},
	{"GDB 13.1, display/i $pc with source, and continue", `Breakpoint 1, main (argc=1, argv=0x7fffffffe0a8) at step.c:9
9	  int n = 0x10;
0x0000000000201238	12				sum = sum >> 1 ^ (0xedb88320u & -(sum & 1));
1: x/i $pc
=> 0x55555555514d <main+8>:	movl   $0x10,-0x4(%rbp)
Continuing.
Temporary breakpoint 2, std::map<int, int>::at (this=0x7) at /usr/include/c++/12/bits/stl_map.h:540
1: x/i $pc
=> 0x7ffff7c29d90 <std::map<int, std::less<int> >::at(int const&)+4>:	mov    %rdi,%rax
`},
	{"GDB 13's source: record instruction-history, plain and with /r", `6	   0x000055555555514d <main+8>:	movl   $0x10,-0x4(%rbp)
7	   0x0000555555555154 <main+15>:	83 45 fc 01	addl   $0x1,-0x4(%rbp)
8	   0x0000555555555158:	c3	ret
`},
	{"GDB 13's source: gaps of a recording, and speculation", `9	   0x0000555555555160 <main+27>:	ret
10	[disabled]
11	?  0x0000555555555170 <main+30>:	nop
12	[decode error (7): invalid opcode]
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	instruction := func(address, more, disasm string) string {
		id := `"id":0,`
		if strings.HasPrefix(more, `"id"`) {
			id, more = more, ""
		}
		return `{"kind":"instruction","time":0,"cpu":0,` + id + `"address":"` + address + `","tells":"all-writes` + more + `","disasm":"` + disasm + `"}`
	}
	for i, want := range [][]string{
		{
			`2 {"remark":"Program stopped."}`,
			`3 {"remark":"0x0000000000401000 in _start ()"}`,
			"4 " + instruction("0x401000", "", "lea    rsp,[rip+0x1249]        # 0x402250"),
			`5 {"remark":"0x0000000000401010 in _start ()"}`,
			"6 " + instruction("0x401010", "", "call   0x40103f <fact>"),
			`7 {"remark":"0x000000000040103f in fact ()"}`,
			"8 " + instruction("0x40103f", "", "cmp    edi,0x1"),
			`9 {"remark":"[Inferior 1 (process 16032) exited normally]"}`,
			`10 {"remark":"./step.gdb:11: Error in sourced command file:"}`,
			`11 {"remark":"No registers."}`,
		},
		{
			`1 {"remark":"Breakpoint 1, main (argc=1, argv=0x7fffffffe0a8) at step.c:9"}`,
			`2 {"remark":"9\t  int n = 0x10;"}`,
			`3 {"remark":"0x0000000000201238\t12\t\t\t\tsum = sum >> 1 ^ (0xedb88320u & -(sum & 1));"}`,
			`4 {"remark":"1: x/i $pc"}`,
			"5 " + instruction("0x55555555514d", " gaps", "movl   $0x10,-0x4(%rbp)"),
			`6 {"remark":"Continuing."}`,
			`7 {"remark":"Temporary breakpoint 2, std::map<int, int>::at (this=0x7) at /usr/include/c++/12/bits/stl_map.h:540"}`,
			`8 {"remark":"1: x/i $pc"}`,
			"9 " + instruction("0x7ffff7c29d90", "", "mov    %rdi,%rax"),
		},
		{
			"1 " + instruction("0x000055555555514d", `"id":6,`, "movl   $0x10,-0x4(%rbp)"),
			"2 " + instruction("0x0000555555555154", `"id":7,`, "addl   $0x1,-0x4(%rbp)"),
			"3 " + instruction("0x0000555555555158", `"id":8,`, "ret"),
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
	var gaps []bool
	for _, r := range dialecttest.Read(t, Dialect, strings.NewReader(museum[3].text), 8) {
		if r.Kind == itrace.Instruction {
			gaps = append(gaps, r.Scope&itrace.Gaps != 0)
		}
	}
	if diff := cmp.Diff([]bool{true, true}, gaps); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
}

// TestProblems says what is wrong with lines, and where.
func TestProblems(t *testing.T) {
	for line, want := range map[string]string{
		"hello":                         `column 1: found "hello", expected "=> 0x" and an address, or a number and an address`,
		"=> 401000:\tnop":               `column 4: found "401000:\tnop", expected 0x and an address`,
		"=> 0x401000 <main+8:\tnop":     `column 14: found "main+8:\tnop", expected a symbol, >, a colon and a tab`,
		"=> 0x401000: nop":              `column 12: found ":", expected a colon and a tab`,
		"7\t   0x11112222333344445:\tx": `column 6: found "0x11112222333344445:"…, expected 0x and an address of 64 bits`,
	} {
		if got, records := dialecttest.Problem(t, Dialect, line+"\n"); got != want || records != 1 {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	dialecttest.Allocations(t, Dialect, museum[0].text+museum[2].text)
}

func FuzzSteps(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

func BenchmarkRead(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[0].text) }
