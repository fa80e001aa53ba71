package bochs

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
)

// museum is lines as the producer wrote them.
var museum = []struct{ producer, text string }{
	{"Bochs 2.7, trace on, trace-mem on", `Next at t=31210263
(0) [0x000000007c00] 0000:7c00 (unk. ctxt): jmpf 0x07c0:0005          ; ea0500c007
Tracing enabled for CPU0
(0).[31210272] [0x000000007c18] 07c0:0018 (unk. ctxt): push ax                   ; 50
[CPU0 WR]: LIN 0x00000000000900fe PHY 0x0000000900fe (len=2, UC): 0x0005
(0).[31210293] [0x000000007c22] 07c0:0022 (unk. ctxt): lock inc word ptr ds:0x01f0 ; f0ff06f001
[CPU0 RW]: LIN 0x0000000000007df0 PHY 0x000000007df0 (len=2, UC): 0x0006
[CPU0 WR]: PHY 0x000000007df0 (len=2, UC): 0x0007
(0).[31210309] [0x000000007c47] 07c0:0000000000000047 (unk. ctxt): jmpf 0x0008:00007c52      ; 66ea527c00000800
[CPU0 RD]: LIN 0x0000000000007cb0 PHY 0x000000007cb0 (len=8, UC): 0x00CF9A00 0x0000FFFF
(0).[31210317] [0x000000007c6a] 0008:0000000000007c6a (unk. ctxt): movups xmm0, xmmword ptr ds:0x00007c00 ; 0f1005007c0000
[CPU0 RD]: LIN 0x0000000000007c00 PHY 0x000000007c00 (len=16, UC): 0x00BCD08E 0x9000B8D8 0x8EC88C07 0xC00005EA
00031210305i[SIM   ] quit_sim called with exit code 0
`},
	{"Bochs 2.7, trace on, trace-reg on", `Register-Tracing enabled for CPU0
(0).[31210275] [0x000000007c39] 07c0:0039 (unk. ctxt): ret                       ; c3
CPU0:
rax: 00000000_00000005
r8 : 00000000_00000000
rsp: 00000000_000000fe
rip: 00000000_0000001c
eflags 0x00000006: id vip vif ac vm rf nt IOPL=0 of df if tf sf zf af PF cf
(0).[31210276] [0x000000007c1c] 07c0:001c (unk. ctxt): pop bx                    ; 5b
CPU0:
rax: 00000000_00000005
r8 : 00000000_00000000
rsp: 00000000_00000100
rip: 00000000_0000001d
eflags 0x00000006: id vip vif ac vm rf nt IOPL=0 of df if tf sf zf af PF cf
`},
	{"Bochs' source: two processors, an access of the processor's own, odd sizes, a build of 32 bits", `(1).[9] [0x000000007c39] 0008:c0007c39 (f(int)+4): fld ; d9c0
[CPU1 RD]: PHY 0x000000100000 (len=8, UC): 0x00000000 0x00101027	; PDE
[CPU1 RD]: LIN 0x0000000000007c00 PHY 0x000000007c00 (len=10, WB) 3f ff 80 00 00 00 00 00 00 01
[CPU1 EX]: LIN 0x0000000000007c00 PHY 0x000000007c00 (len=1, WB): 0x01
CPU1:
eax: 00000005
(0).[9] [0x000000007c39] 0008:c0007c39 (unk. ctxt): nop ; 90
CPU0:
eax: 00000005
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	for i, want := range [][]string{
		{
			`1 {"remark":"Next at t=31210263"}`,
			`2 {"remark":"(0) [0x000000007c00] 0000:7c00 (unk. ctxt): jmpf 0x07c0:0005          ; ea0500c007"}`,
			`3 {"remark":"Tracing enabled for CPU0"}`,
			`4 {"kind":"instruction","time":31210272,"scale":"ticks","cpu":0,"id":0,"address":"0x000000007c18","opcode":"0x50","physical":"0x7c18","tells":"opcode loads load-data stores store-data all-writes","disasm":"push ax"}`,
			`5 {"kind":"memory","time":31210272,"scale":"ticks","cpu":0,"access":"write","size":2,"address":"0x00000000000900fe","data":"0x0005","physical":"0x900fe"}`,
			`6 {"kind":"instruction","time":31210293,"scale":"ticks","cpu":0,"id":0,"address":"0x000000007c22","opcode":"0xf0ff06f001","physical":"0x7c22","tells":"opcode loads load-data stores store-data all-writes","disasm":"lock inc word ptr ds:0x01f0"}`,
			`7 {"kind":"memory","time":31210293,"scale":"ticks","cpu":0,"access":"read","size":2,"address":"0x0000000000007df0","data":"0x0006","physical":"0x7df0"}`,
			`8 {"kind":"memory","time":31210293,"scale":"ticks","cpu":0,"access":"write","size":2,"address":"0x0000000000007df0","data":"0x0007","physical":"0x7df0"}`,
			`9 {"kind":"instruction","time":31210309,"scale":"ticks","cpu":0,"id":0,"address":"0x000000007c47","opcode":"0x66ea527c00000800","physical":"0x7c47","tells":"opcode loads load-data stores store-data all-writes","disasm":"jmpf 0x0008:00007c52"}`,
			`10 {"kind":"memory","time":31210309,"scale":"ticks","cpu":0,"access":"read","size":8,"address":"0x0000000000007cb0","data":"0x00CF9A000000FFFF","physical":"0x7cb0"}`,
			`11 {"kind":"instruction","time":31210317,"scale":"ticks","cpu":0,"id":0,"address":"0x0000000000007c6a","opcode":"0x0f1005007c0000","physical":"0x7c6a","tells":"opcode loads load-data stores store-data all-writes","disasm":"movups xmm0, xmmword ptr ds:0x00007c00"}`,
			`12 {"kind":"memory","time":31210317,"scale":"ticks","cpu":0,"access":"read","size":16,"address":"0x0000000000007c00","data":"0x00BCD08E9000B8D88EC88C07C00005EA","physical":"0x7c00"}`,
			`13 {"remark":"00031210305i[SIM   ] quit_sim called with exit code 0"}`,
		},
		{
			`1 {"remark":"Register-Tracing enabled for CPU0"}`,
			`2 {"kind":"instruction","time":31210275,"scale":"ticks","cpu":0,"id":0,"address":"0x000000007c39","opcode":"0xc3","physical":"0x7c39","tells":"opcode registers system","disasm":"ret"}`,
			`4 {"kind":"register","time":31210275,"scale":"ticks","cpu":0,"name":"rax","value":"0x0000000000000005"}`,
			`5 {"kind":"register","time":31210275,"scale":"ticks","cpu":0,"name":"r8","value":"0x0000000000000000"}`,
			`6 {"kind":"register","time":31210275,"scale":"ticks","cpu":0,"name":"rsp","value":"0x00000000000000fe"}`,
			`8 {"kind":"register","time":31210275,"scale":"ticks","cpu":0,"name":"eflags","value":"0x00000006","system":true}`,
			`9 {"kind":"instruction","time":31210276,"scale":"ticks","cpu":0,"id":0,"address":"0x000000007c1c","opcode":"0x5b","physical":"0x7c1c","tells":"opcode registers system","disasm":"pop bx"}`,
			`13 {"kind":"register","time":31210276,"scale":"ticks","cpu":0,"name":"rsp","value":"0x0000000000000100"}`,
		},
		{
			`1 {"kind":"instruction","time":9,"scale":"ticks","cpu":1,"id":0,"address":"0xc0007c39","opcode":"0xd9c0","physical":"0x7c39","tells":"opcode registers system loads load-data stores store-data","disasm":"fld"}`,
			`2 {"remark":"[CPU1 RD]: PHY 0x000000100000 (len=8, UC): 0x00000000 0x00101027\t; PDE"}`,
			`3 {"kind":"memory","time":9,"scale":"ticks","cpu":1,"access":"read","size":10,"address":"0x0000000000007c00","data":"0x3fff8000000000000001","physical":"0x7c00"}`,
			`4 {"remark":"[CPU1 EX]: LIN 0x0000000000007c00 PHY 0x000000007c00 (len=1, WB): 0x01"}`,
			`6 {"kind":"register","time":9,"scale":"ticks","cpu":1,"name":"eax","value":"0x00000005"}`,
			`7 {"kind":"instruction","time":9,"scale":"ticks","cpu":0,"id":0,"address":"0xc0007c39","opcode":"0x90","physical":"0x7c39","tells":"opcode registers system loads load-data stores store-data","disasm":"nop"}`,
			`9 {"kind":"register","time":9,"scale":"ticks","cpu":0,"name":"eax","value":"0x00000005"}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestProblems says what is wrong with lines, and where.
func TestProblems(t *testing.T) {
	const good = "(0).[9] [0x000000007c39] 07c0:0039 (unk. ctxt): nop ; 90"
	for line, want := range map[string]string{
		"hello": `column 1: found "hello", expected a processor in parentheses, and ticks in brackets`,
		"(2147483648).[9] [0x7c39] 07c0:0039 (unk. ctxt): nop ; 90":    `column 2: found "2147483648).[9]", expected the number of a processor`,
		"(0).[x] [0x7c39] 07c0:0039 (unk. ctxt): nop ; 90":             `column 6: found "x]", expected ticks`,
		"(0).[9] [7c39] 07c0:0039 (unk. ctxt): nop ; 90":               `column 10: found "7c39]", expected 0x and a physical address`,
		"(0).[9] [0x7c39] 07c0 0039 (unk. ctxt): nop ; 90":             `column 22: found " 0039", expected a colon and an offset`,
		"(0).[9] [0x7c39] 07c0:11112222333344445 (unk. ctxt): nop ; 1": `column 23: found "11112222333344445", expected an offset of 64 bits`,
		"(0).[9] [0x7c39] 07c0:0039 (unk. ctxt) nop ; 90":              `column 29: found "unk.", expected a symbol in parentheses, and a colon`,
		"(0).[9] [0x7c39] 07c0:0039 (unk. ctxt): nop":                  `column 41: found "nop", expected an instruction, a semicolon and its bytes`,
		"(0).[9] [0x7c39] 07c0:0039 (unk. ctxt): nop ; 90 90":          `column 49: found " 90", expected the end of the line`,
		good + "\n[CPU0 WR]: LIN 0x0 PHY 0x0 (len=0, UC): 0x0":         `column 33: found "0,", expected a size in bytes`,
		good + "\n[CPU0 WR]: LIN 0x0 (len=1, UC): 0x00":                `column 20: found "(len=1,", expected PHY and a physical address`,
		good + "\n[CPU0 WR]: LIN 0x0 PHY 0x0 (len=1, UC): 00 x":        `column 44: found "x", expected hexadecimal digits`,
		good + "\nrax: 0000000z_00000000":                              `column 13: found "z_00000000", expected a blank or the end of the line`,
	} {
		if got, _ := dialecttest.Problem(t, Dialect, line+"\n"); got != want {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	dialecttest.Allocations(t, Dialect, museum[0].text+museum[1].text)
}

func FuzzBochs(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

func BenchmarkRead(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[0].text+museum[1].text) }
