package execlog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines as producers wrote them.
var museum = []struct{ producer, text string }{
	{"QEMU 7.2, system mode, RISC-V", `0, 0x100c, 0x202a583, "0202a583          lw                      a1,32(t0)", load, 0x08001020, RAM
0, 0x1014, 0x28067, "00028067          jr                      t0"
0, 0x800000b4, 0x15fd0511, "0511              addi                    a0,a0,4"
`},
	{"QEMU 10.2, user mode, RISC-V, reg=", `0, 0x80000080, 0x1117, "auipc                   sp,1                    # 0x80001080", sp -> 0x80001080, seed -> 0x80003357
1, 0x80000090, 0x213, "mv                      tp,zero"
`},
	{"QEMU 10.2, user mode, x86", `0, 0x401000, 0x49258d48, "", rsp -> 0x0000000000402250
0, 0x401010, 0x2ae8, "", store, 0x00402248, rsp -> 0x0000000000402248, rip -> 0x000000000040103f
0, 0x401136, 0x5b, "", load, 0x7ffe1230, rbx -> 0x0000000000000003, rsp -> 0x000000007ffe1238
`},
	{"its source: an atomic access to a device whose name has blanks", `3, 0x40080000, 0xb8200020, "ldadd w0, w0, [x1]", load, 0x09000000, virt flash 0, store, 0x09000000, virt flash 0
`},
	{"QEMU 7.2, AArch64: a mnemonic of hexadecimal digits", `0, 0x400800c8, 0x1e622843, "fadd d3, d2, d2"
`},
	{"QEMU 7.2, user mode, x86, with disassembly", `0, 0x2011f6, 0x303905, "addl $0x3039, %eax"
0, 0x201350, 0x60df1c50, "retq", load, 0x4000800848
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	for i, want := range map[int][]string{
		0: {
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x100c","opcode":"0x0202a583","tells":"opcode loads stores",` +
				`"disasm":"lw                      a1,32(t0)"}`,
			`1 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"address":"0x08001020","physical":"0x8001020","device":"RAM"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x1014","opcode":"0x00028067","tells":"opcode loads stores",` +
				`"disasm":"jr                      t0"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x800000b4","opcode":"0x0511","tells":"opcode loads stores",` +
				`"disasm":"addi                    a0,a0,4"}`,
		},
		1: {
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x80000080","opcode":"0x1117",` +
				`"tells":"opcode registers system loads stores","disasm":"auipc                   sp,1                    # 0x80001080"}`,
			`1 {"kind":"register","time":0,"cpu":0,"name":"sp","value":"0x80001080"}`,
			`1 {"kind":"register","time":0,"cpu":0,"name":"seed","value":"0x80003357","system":true}`,
			`2 {"kind":"instruction","time":0,"cpu":1,"id":0,"address":"0x80000090","opcode":"0x213",` +
				`"tells":"opcode registers system loads stores","disasm":"mv                      tp,zero"}`,
		},
		2: {
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x401000","opcode":"0x49258d48","tells":"registers system loads stores"}`,
			`1 {"kind":"register","time":0,"cpu":0,"name":"rsp","value":"0x0000000000402250"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x401010","opcode":"0x2ae8","tells":"registers system loads stores"}`,
			`2 {"kind":"memory","time":0,"cpu":0,"access":"write","partial":true,"address":"0x00402248"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"rsp","value":"0x0000000000402248"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x401136","opcode":"0x5b","tells":"registers system loads stores"}`,
			`3 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"address":"0x7ffe1230"}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"rbx","value":"0x0000000000000003"}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"rsp","value":"0x000000007ffe1238"}`,
		},
		3: {
			`1 {"kind":"instruction","time":0,"cpu":3,"id":0,"address":"0x40080000","opcode":"0xb8200020","tells":"opcode loads stores",` +
				`"disasm":"ldadd w0, w0, [x1]"}`,
			`1 {"kind":"memory","time":0,"cpu":3,"access":"read","partial":true,"address":"0x09000000","physical":"0x9000000","device":"virt flash 0"}`,
			`1 {"kind":"memory","time":0,"cpu":3,"access":"write","partial":true,"address":"0x09000000","physical":"0x9000000","device":"virt flash 0"}`,
		},
		4: {
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x400800c8","opcode":"0x1e622843","tells":"opcode loads stores",` +
				`"disasm":"fadd d3, d2, d2"}`,
		},
		5: {
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x2011f6","opcode":"0x303905","tells":"loads stores",` +
				`"disasm":"addl $0x3039, %eax"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x201350","opcode":"0x60df1c50","tells":"loads stores",` +
				`"disasm":"retq"}`,
			`2 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"address":"0x4000800848"}`,
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
		"hello":                               `column 1: found "hello", expected the number of a processor, a comma and a blank`,
		"0, 1000, ":                           `column 4: found "1000,", expected an address, a comma and a blank`,
		"0, 0x1000, 13":                       `column 12: found "13", expected an opcode, a comma and a blank`,
		"0, 0x1000, 0x13, nop":                `column 18: found "nop", expected a disassembly in quotation marks`,
		`0, 0x1000, 0x13, "nop`:               `column 18: found "\"nop", expected a quotation mark at the end of the disassembly`,
		`0, 0x1000, 0x13, "nop" x`:            `column 23: found " x", expected a comma and a blank`,
		`0, 0x1000, 0x13, "nop", load`:        `column 25: found "load", expected load, store, or a register and "->"`,
		`0, 0x1000, 0x13, "nop", load, 16`:    `column 31: found "16", expected an address`,
		`0, 0x1000, 0x13, "nop", sp -> 0xyz`:  `column 33: found "yz", expected the value of a register`,
		`0, 0x1000, 0x13, "nop", sp = 0x1000`: `column 25: found "sp", expected load, store, or a register and "->"`,
	} {
		records := dialecttest.Read(t, Dialect, strings.NewReader(line+"\n"), 8)
		last := records[len(records)-1]
		if last.Kind != itrace.Unknown || last.Problem.Error() != want {
			t.Errorf("%s: got %v, want %s", line, last.Problem, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	dialecttest.Allocations(t, Dialect, museum[0].text+museum[1].text+museum[2].text)
}

func FuzzExeclog(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

func BenchmarkRead(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[1].text) }
