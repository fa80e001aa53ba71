package rvvi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines as producers wrote them, or as the specification has them.
var museum = []struct{ producer, text string }{
	{"0.1, converted from a log of Spike of 2026", `VERSION 0 1
VENDOR converted 0 1
PARAMS 6 ILEN 32 XLEN 64 FLEN 64 VLEN 0 NHART 1 RETIRE 1
RET  1000 00000297 'auipc   t0, 0x0' X  5 0000000000001000 MODE 3
RET  1004 02028593 'addi    a1, t0, 32' \
                    X 11 0000000000001020
RET  8000001a 00305073 'csrwi   fcsr, 0' C 1 'fflags' 0000000000000000 C 2 'frm' 0000000000000000 C 300 'mstatus' 8000000a00006000
RET  8000001e 4401 'c.li    s0, 0' \
                    X  8 0000000000000000
TRAP 80000176 0062910b 'sh      t1, 2(t0)' 'trap_store_address_misaligned'
`},
	{"0.4, converted from a log of Spike of 2026", `VERSION 0 4
VENDOR "converted log" 0 1
PARAMS 6 ILEN 32 XLEN 32 FLEN 64 VLEN 0 NHART 1 RETIRE 1
RET  0x00001008 0xF1402573 X 10 0x00000000 MODE 0x3
RET  0x0000100C 0x0182A283 X  5 0x80000080 MEM D 4 0x00001018 0x00001018 0
RET  0x800001A0 0x00660023 MEM D 1 0x80001081 0x80001081 0
CYCLE 14 RET  0x000000008000000C 0x2605AE2F X 28 0x00000007 MEM D 4 0x80001080 0x80001080 0 MEM D 4 0x80001080 0x80001080 0
`},
	{"the specification 0.1: Imperas' model with an exception", `VERSION 0 1
VENDOR "ImperasFPM" 0 1
TRAP 0x100c '_start+12'           0x9002 'ebreak'                C 0x300 'mstatus' 0x00003800 C 0x341 'mepc' 0x0000100c
RET  0x104c 'trap_handler+12' 0x0032f293 'andi    t0,t0,3'      
`},
	{"the specification 0.3: harts, slots, vendors' elements, comments", `HART 0 RET 80 3e800093 HART 1 RET 10080 7d008113 X 2 0
RET    80 '_start' 3e800093 'li ra, 1000 \' X 1 3E8 \
HART 0 ISSUE 1 ORDER 7 RET 84 00000113 'li sp,0'
RET  102a '_start+42'       0062a1a3 'sw      t1,3(t0)'      META 4 VMEM 1083 4 deafcafe
'a comment'
`},
	{"the specification: what no producer at hand writes", `PARAMS 2 TIMESCALE ns XLEN 64
NET MExtInterrupt 1 NET "software interrupt" 0x0
X 5 0x10 TIME 3 RET 0x80 0x00000013 MEM I 4 0x80 0x8000000080 2 PTE 0x10 PT 0x20 CYCLE 2 MODE 1 VIRT 1
RET 0x84 0x00000013 DM 1 V 1 0x000000010000000200000003xxxxxxxx STATE shadow save CANCEL shadow
TIME 10 RET 0x88 0x13 C 7c0 0
`},
	{"lines that Ibex and others were made to write", `REG 80 00a12023 STORE 00001004 0000002a
RET 84 00012503 x 10 ffffff80 LOAD 00001004 ffffff80
RET 88 00010503 x 10 ffffff80 LOAD 00001004 ffffff80
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

const (
	memoryless = `"tells":"opcode mode registers system all-writes trapped",`
	accesses   = `"tells":"opcode mode registers system loads stores all-writes trapped",`
	modeless   = `"tells":"opcode registers system all-writes trapped"`
	withData   = `"tells":"opcode registers system loads load-data stores store-data all-writes trapped"`
)

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	for i, want := range [][]string{
		{
			`1 {"remark":"VERSION 0 1"}`, `2 {"remark":"VENDOR converted 0 1"}`,
			`3 {"remark":"PARAMS 6 ILEN 32 XLEN 64 FLEN 64 VLEN 0 NHART 1 RETIRE 1"}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x1000","opcode":"0x00000297",` + memoryless + `"mode":"M","disasm":"auipc   t0, 0x0"}`,
			`4 {"kind":"register","time":0,"cpu":0,"name":"x5","value":"0x0000000000001000"}`,
			`5 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x1004","opcode":"0x02028593",` + memoryless + `"mode":"M","disasm":"addi    a1, t0, 32"}`,
			`6 {"kind":"register","time":0,"cpu":0,"name":"x11","value":"0x0000000000001020"}`,
			`7 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x8000001a","opcode":"0x00305073",` + memoryless + `"mode":"M","disasm":"csrwi   fcsr, 0"}`,
			`7 {"kind":"register","time":0,"cpu":0,"name":"fflags","value":"0x0000000000000000","number":1,"system":true}`,
			`7 {"kind":"register","time":0,"cpu":0,"name":"frm","value":"0x0000000000000000","number":2,"system":true}`,
			`7 {"kind":"register","time":0,"cpu":0,"name":"mstatus","value":"0x8000000a00006000","number":768,"system":true}`,
			`8 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x8000001e","opcode":"0x4401",` + memoryless + `"mode":"M","disasm":"c.li    s0, 0"}`,
			`9 {"kind":"register","time":0,"cpu":0,"name":"x8","value":"0x0000000000000000"}`,
			`10 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000176","opcode":"0x0062910b","trapped":true,` + memoryless + `"mode":"M","disasm":"sh      t1, 2(t0)"}`,
		},
		{
			`1 {"remark":"VERSION 0 4"}`, `2 {"remark":"VENDOR \"converted log\" 0 1"}`,
			`3 {"remark":"PARAMS 6 ILEN 32 XLEN 32 FLEN 64 VLEN 0 NHART 1 RETIRE 1"}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x00001008","opcode":"0xF1402573",` + memoryless + `"mode":"M"}`,
			`4 {"kind":"register","time":0,"cpu":0,"name":"x10","value":"0x00000000"}`,
			`5 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000100C","opcode":"0x0182A283",` + accesses + `"mode":"M"}`,
			`5 {"kind":"register","time":0,"cpu":0,"name":"x5","value":"0x80000080"}`,
			`5 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"size":4,"address":"0x00001018","physical":"0x1018"}`,
			`6 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x800001A0","opcode":"0x00660023",` + accesses + `"mode":"M"}`,
			`6 {"kind":"memory","time":0,"cpu":0,"access":"write","partial":true,"size":1,"address":"0x80001081","physical":"0x80001081"}`,
			`7 {"kind":"instruction","time":0,"cpu":0,"cycle":14,"id":0,"address":"0x000000008000000C","opcode":"0x2605AE2F",` + accesses + `"mode":"M"}`,
			`7 {"kind":"register","time":0,"cpu":0,"cycle":14,"name":"x28","value":"0x00000007"}`,
			`7 {"kind":"memory","time":0,"cpu":0,"cycle":14,"access":"read","partial":true,"size":4,"address":"0x80001080","physical":"0x80001080"}`,
			`7 {"kind":"memory","time":0,"cpu":0,"cycle":14,"access":"write","partial":true,"size":4,"address":"0x80001080","physical":"0x80001080"}`,
		},
		{
			`1 {"remark":"VERSION 0 1"}`, `2 {"remark":"VENDOR \"ImperasFPM\" 0 1"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x100c","opcode":"0x9002","trapped":true,"tells":"opcode registers system trapped","disasm":"ebreak"}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"mstatus","value":"0x00003800","number":768,"system":true}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"mepc","value":"0x0000100c","number":833,"system":true}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x104c","opcode":"0x0032f293","tells":"opcode registers system trapped","disasm":"andi    t0,t0,3"}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80","opcode":"0x3e800093",` + modeless + `}`,
			`1 {"kind":"instruction","time":0,"cpu":1,"id":0,"address":"0x10080","opcode":"0x7d008113",` + modeless + `}`,
			`1 {"kind":"register","time":0,"cpu":1,"name":"x2","value":"0x0"}`,
			`2 {"kind":"instruction","time":0,"cpu":1,"id":0,"address":"0x80","opcode":"0x3e800093",` + modeless + `,"disasm":"li ra, 1000 \\"}`,
			`2 {"kind":"register","time":0,"cpu":1,"name":"x1","value":"0x3E8"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":7,"address":"0x84","opcode":"0x00000113",` + modeless + `,"disasm":"li sp,0"}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x102a","opcode":"0x0062a1a3",` + modeless + `,"disasm":"sw      t1,3(t0)"}`,
			`5 {"remark":"'a comment'"}`,
		},
		{
			`1 {"remark":"PARAMS 2 TIMESCALE ns XLEN 64"}`,
			`2 {"kind":"event","time":0,"cpu":0,"event":"other","name":"MExtInterrupt","value":"0x1"}`,
			`2 {"kind":"event","time":0,"cpu":0,"event":"other","name":"software interrupt","value":"0x0"}`,
			`3 {"kind":"instruction","time":3,"scale":"ns","cpu":0,"cycle":2,"id":0,"address":"0x80","opcode":"0x00000013","physical":"0x8000000080",` + memoryless + `"mode":"VS"}`,
			`3 {"kind":"register","time":3,"scale":"ns","cpu":0,"cycle":2,"name":"x5","value":"0x10"}`,
			`4 {"kind":"instruction","time":3,"scale":"ns","cpu":0,"cycle":2,"id":0,"address":"0x84","opcode":"0x00000013",` + memoryless + `"mode":"D"}`,
			`4 {"kind":"register","time":3,"scale":"ns","cpu":0,"cycle":2,"name":"v1","value":"0x000000010000000200000003xxxxxxxx"}`,
			`5 {"kind":"instruction","time":13,"scale":"ns","cpu":0,"cycle":2,"id":0,"address":"0x88","opcode":"0x13",` + memoryless + `"mode":"S"}`,
			`5 {"kind":"register","time":13,"scale":"ns","cpu":0,"cycle":2,"name":"unknown_7c0","value":"0x0","number":1984,"system":true}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80","opcode":"0x00a12023",` + withData + `}`,
			`1 {"kind":"memory","time":0,"cpu":0,"access":"write","size":4,"address":"0x00001004","data":"0x0000002a"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x84","opcode":"0x00012503",` + withData + `}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"x10","value":"0xffffff80"}`,
			`2 {"kind":"memory","time":0,"cpu":0,"access":"read","size":4,"address":"0x00001004","data":"0xffffff80"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x88","opcode":"0x00010503",` + withData + `}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"x10","value":"0xffffff80"}`,
			`3 {"kind":"memory","time":0,"cpu":0,"access":"read","size":1,"address":"0x00001004","data":"0x80"}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestOption: what the user says of writes counts, whoever the vendor is.
func TestOption(t *testing.T) {
	for _, test := range []struct {
		vendor, setting string
		changes         bool
	}{
		{"ImperasFPM", "", true}, {"ImperasFPM", "all", false}, {"other", "", false}, {"other", "changes", true},
	} {
		name := "rvvi"
		if test.setting != "" {
			name += ":writes=" + test.setting
		}
		d, err := itrace.Registry{Dialect}.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		records := d.Decode([]byte("VENDOR " + test.vendor + " 0 1\nRET 80 00000013\n"))
		if got := records[1].Scope&itrace.OnlyChanges != 0; got != test.changes {
			t.Errorf("%s of %s: changes %v", name, test.vendor, got)
		}
	}
}

// TestProblems says what is wrong with lines, and where. What can be read of them is read.
func TestProblems(t *testing.T) {
	for line, want := range map[string]string{
		"hello world RET 80 13":      `column 1: found "hello", expected RET, TRAP, X, C or another key of RVVI-TEXT`,
		"RET 80 13 X 5 1 wb X 6 2":   `column 17: found "wb", expected RET, TRAP, X, C or another key of RVVI-TEXT`,
		"RET 80g 13 X 5 1":           `column 5: found "80g", expected an address in hexadecimal`,
		"RET 80 0x1?":                `column 8: found "0x1?", expected an opcode in hexadecimal`,
		"RET 80":                     `column 7: found the end of the line, expected as many arguments as the key has`,
		"RET 80 13 X 32 1":           `column 13: found "32", expected the number of a register`,
		"RET 80 13 X a 1":            `column 13: found "a", expected the number of a register`,
		"RET 80 13 F 1 z":            `column 15: found "z", expected a value in hexadecimal`,
		"RET 80 13 C 1000 1":         `column 13: found "1000", expected the number of a control and status register in hexadecimal`,
		"RET 80 13 C 300 q":          `column 17: found "q", expected a value in hexadecimal`,
		"RET 80 13 MODE 2":           `column 16: found "2", expected a privilege of 0, 1 or 3`,
		"RET 80 13 DM y":             `column 14: found "y", expected 0 or 1`,
		"HART x RET 80 13":           `column 6: found "x", expected the number of a hart`,
		"ORDER x RET 80 13":          `column 7: found "x", expected a number in decimal`,
		"TIME 0x5 RET 80 13":         `column 6: found "0x5", expected a number in decimal`,
		"PARAMS 1 TIMESCALE h":       `column 20: found "h", expected a unit of time such as ns or ps`,
		"META 9 1":                   `column 6: found "9", expected a number of pairs or tokens`,
		"MEM D 4 80":                 `column 11: found the end of the line, expected as many arguments as the key has`,
		"MEM D x 80 80 0":            `column 7: found "x", expected a number of bytes`,
		"MEM D 4 y 80 0":             `column 9: found "y", expected a virtual address in hexadecimal`,
		"MEM D 4 80 y 0":             `column 12: found "y", expected a physical address in hexadecimal`,
		"LOAD y 0":                   `column 6: found "y", expected an address in hexadecimal`,
		"STORE 80 y":                 `column 10: found "y", expected data in hexadecimal`,
		"NET a y":                    `column 7: found "y", expected a value in hexadecimal`,
		"RET 80 13 'nop":             `column 11: found "'nop", expected an apostrophe at the end of the comment`,
		`NET "a 1`:                   `column 5: found "\"a", expected a quotation mark at the end of the name`,
		"RET 80 13 \\\n X 5 1 \\\nb": `column 1: found "b", expected RET, TRAP, X, C or another key of RVVI-TEXT`,
	} {
		records := dialecttest.Read(t, Dialect, strings.NewReader(line+"\n"), 8)
		last := records[len(records)-1]
		if last.Kind != itrace.Unknown || last.Problem.Error() != want {
			t.Errorf("%s: got %v, want %s", line, last.Problem, want)
		}
	}
}

// TestWritten: what is written is read as what it was written of.
func TestWritten(t *testing.T) {
	const text = `HART 0 ORDER 7 RET 0x00001008 0xF1402573 'csrr a0, mhartid' MODE 0x3 X 10 0x00000000 C 0x300 0x00001800
HART 1 TRAP 0x100c 0x9002 MODE 0x1 VIRT 1 MEM I 2 0x100c 0x8000100c 0
HART 1 RET 0x1010 0x2605AE2F DM 0x1 X 28 0x7 F 1 0x3f800000 V 2 0x0000000000000001xxxxxxxxxxxxxxxx MEM D 4 0x80001080 0x80001080 0 NET "an irq" 0x1
no line of the format
HART 1 RET 0x1014 0x00a12023 MODE 0x1 MEM D 4 0x1004 0x80001004 0
`
	dialecttest.RoundTrip(t, Dialect, text)
	for _, r := range Dialect.Decode([]byte(text)) {
		if r.Kind != itrace.Unknown && !writes(&r) {
			t.Errorf("line %d is said not to be written: %s", r.Line, r.Text)
		}
	}
}

func TestAllocations(t *testing.T) {
	dialecttest.Allocations(t, Dialect, museum[0].text+museum[1].text+museum[3].text)
}

func FuzzRVVI(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

// BenchmarkRead reads lines of 0.1 with comments, and of 0.4.
func BenchmarkRead(b *testing.B) {
	b.Run("0.1", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[0].text) })
	b.Run("0.4", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[1].text) })
}
