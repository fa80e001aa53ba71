package renode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines of Renode's documentation and tests, and lines by the grammar of its source.
var museum = []struct{ producer, text string }{
	{"Renode's documentation, PC", "0x20400000\n0x20400004\n0x20400008\n0x2040000c\n0x20401bc4\n0x20401bc8\n"},
	{"Renode's documentation, PCAndOpcode", `0x20400000: 0x0297
0x20400004: 0x1028293
0x2040000c: 0x3B90106F
0x20401bc8: 0x88C28293
`},
	{"Renode's documentation, Disassembly", `0x20400000:   00000297  auipc t0, 0           [vinit (entry)]
0x20400004:   01028293  addi t0, t0, 16       [vinit+0x4 (guessed)]
0x20401bc4:   5fc00297  auipc t0, 392192      [__start (entry)]
`},
	{"Renode's source of 2024: what is tracked", `InsnFetch with address 0x80000000, value 0x0
0x80000000: 0x00112623
MemoryWrite with address 0x80000FFC, value 0x2A
0x80000004: 0x00052503
MemoryRead with address 0x40001000 => 0x90001000, value 0x0
0x80000008: 0x00C5A52F
AMO operands before - RD: 0x0, RS1: 0x80000100 (memory value: 0x1), RS2: 0x2
MemoryIORead with address 0x80000100, value 0x1
MemoryIOWrite with address 0x80000100, value 0x3
AMO operands after - RD: 0x1, RS1: 0x80000100 (memory value: 0x3), RS2: 0x2
0x8000000C: 0x0C007057
Vector configured to VL: 0x4, VTYPE: 0xC0
Couldn't disassemble opcode at PC 0x80000010
`},
	{"Renode's source of 2025: registers", `0x8000: 0xE3A00001
Pre: R0: 0x0 | R1: 0x0
Post: R0: 0x1 | R1: 0x0
0x8004: 0xE5810000
Pre: R0: 0x1 | R1: 0x9
MemoryWrite with address 0x0
Post: R0: 0x1 | R1: 0x9
0x8008:   e5920004  ldr r0, [r2, #4]
Post: R0: 0x0 | R1: 0x9
0x800C:   e5920004  ldr r0, [r2, #4]                             [main+0x4]
`},
	{"an instruction that cannot be read",
		"0x8000: 0xE3Ag\nPre: R0: 0x0 | R1: 0x9\n0x8004: 0xE5810000\nPost: R0: 0x0 | R1: 0x9\n0x8008: 0x0\n"},
	{"opcodes alone", strings.Repeat("0x00000297\n0x01028293\n0x30529073\n0x3B90106F\n0x5FC00297\n0x88C28293\n", 3)},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	const pc = `{"kind":"instruction","time":0,"cpu":0,"id":0,"address":`
	const memory, register = `{"kind":"memory","time":0,"cpu":0,"access":`, `{"kind":"register","time":0,"cpu":0,"name":`
	const effects = ` loads stores`
	for i, want := range [][]string{
		{
			`1 ` + pc + `"0x20400000","tells":"all-writes"}`,
			`2 ` + pc + `"0x20400004","tells":"all-writes"}`,
			`3 ` + pc + `"0x20400008","tells":"all-writes"}`,
			`4 ` + pc + `"0x2040000c","tells":"all-writes"}`,
			`5 ` + pc + `"0x20401bc4","tells":"all-writes"}`,
			`6 ` + pc + `"0x20401bc8","tells":"all-writes"}`,
		},
		{
			`1 ` + pc + `"0x20400000","opcode":"0x0297","tells":"opcode all-writes"}`,
			`2 ` + pc + `"0x20400004","opcode":"0x1028293","tells":"opcode all-writes"}`,
			`3 ` + pc + `"0x2040000c","opcode":"0x3B90106F","tells":"opcode all-writes"}`,
			`4 ` + pc + `"0x20401bc8","opcode":"0x88C28293","tells":"opcode all-writes"}`,
		},
		{
			`1 ` + pc + `"0x20400000","opcode":"0x00000297","tells":"opcode all-writes","disasm":"auipc t0, 0"}`,
			`2 ` + pc + `"0x20400004","opcode":"0x01028293","tells":"opcode all-writes","disasm":"addi t0, t0, 16"}`,
			`3 ` + pc + `"0x20401bc4","opcode":"0x5fc00297","tells":"opcode all-writes","disasm":"auipc t0, 392192"}`,
		},
		{
			`1 {"remark":"InsnFetch with address 0x80000000, value 0x0"}`,
			`2 ` + pc + `"0x80000000","opcode":"0x00112623","tells":"opcode` + effects + ` all-writes"}`,
			`3 ` + memory + `"write","partial":true,"address":"0x80000FFC","data":"0x2A"}`,
			`4 ` + pc + `"0x80000004","opcode":"0x00052503","tells":"opcode` + effects + ` all-writes"}`,
			`5 ` + memory + `"read","partial":true,"address":"0x40001000","data":"0x0","physical":"0x90001000"}`,
			`6 ` + pc + `"0x80000008","opcode":"0x00C5A52F","tells":"opcode` + effects + ` all-writes"}`,
			`7 {"remark":"AMO operands before - RD: 0x0, RS1: 0x80000100 (memory value: 0x1), RS2: 0x2"}`,
			`8 ` + memory + `"read","partial":true,"address":"0x80000100","data":"0x1"}`,
			`9 ` + memory + `"write","partial":true,"address":"0x80000100","data":"0x3"}`,
			`10 {"remark":"AMO operands after - RD: 0x1, RS1: 0x80000100 (memory value: 0x3), RS2: 0x2"}`,
			`11 ` + pc + `"0x8000000C","opcode":"0x0C007057","tells":"opcode` + effects + ` all-writes"}`,
			`12 ` + register + `"vl","value":"0x4","system":true}`,
			`12 ` + register + `"vtype","value":"0xC0","system":true}`,
			`13 ` + pc + `"0x80000010","tells":"` + effects[1:] + ` all-writes gaps"}`,
		},
		{
			`2 ` + register + `"R0","value":"0x0"}`,
			`2 ` + register + `"R1","value":"0x0"}`,
			`1 ` + pc + `"0x8000","opcode":"0xE3A00001","tells":"opcode registers system"}`,
			`3 ` + register + `"R0","value":"0x1"}`,
			`5 ` + register + `"R1","value":"0x9"}`,
			`4 ` + pc + `"0x8004","opcode":"0xE5810000","tells":"opcode registers system` + effects + `"}`,
			`6 ` + memory + `"write","partial":true,"address":"0x0"}`,
			`8 ` + pc + `"0x8008","opcode":"0xe5920004","tells":"opcode registers system` + effects + `","disasm":"ldr r0, [r2, #4]"}`,
			`9 ` + register + `"R0","value":"0x0"}`,
			`10 ` + pc + `"0x800C","opcode":"0xe5920004","tells":"opcode registers system` + effects + `","disasm":"ldr r0, [r2, #4]"}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestSizes: with the option, opcodes tell the sizes of accesses, but for those that their data do not fit.
func TestSizes(t *testing.T) {
	d, err := itrace.Registry{Dialect}.ByName("renode:sizes=opcode")
	if err != nil {
		t.Fatal(err)
	}
	const text = "0x80: 0x00112623\nMemoryRead with address 0x7000, value 0x200000CF00\nMemoryWrite with address 0x8C, value 0x2A\n"
	var sizes []uint32
	for _, r := range d.Decode([]byte(text)) {
		sizes = append(sizes, r.Size)
	}
	if diff := cmp.Diff([]uint32{0, 0, 4}, sizes); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
}

// TestAlone: lines of one number are addresses if they go on as instructions do, whatever their order in memory; otherwise they are
// opcodes, and refused.
func TestAlone(t *testing.T) {
	var loop strings.Builder
	for i := range 20 {
		fmt.Fprintf(&loop, "0x%X\n", 0x8000+i%2*2)
	}
	for text, want := range map[string]bool{
		"0x8000\n": true, "0x8000\n0x9000\n0xa000\n": true, // too few to say otherwise
		loop.String():                                           true,
		strings.Repeat("0x8000\n", 20):                          true,
		"0x8000\n0x9000\n0xa000\n0xb000\n0xc000\n":              false,
		"0x8000\n0x8003\n0xa000\n0xb000\n0xb002\n":              true,
		museum[6].text:                                          false,
		"0x297\nMemoryRead with address 0x0\n" + museum[6].text: false,
	} {
		for _, r := range dialecttest.Read(t, Dialect, strings.NewReader(text), 8) {
			if r.Kind != itrace.Remark && (r.Kind == itrace.Instruction) != want {
				t.Errorf("%q: line %d is %v, %v", text, r.Line, r.Kind, r.Problem)
				break
			}
		}
	}
}

// TestProblems says what is wrong with lines, and where.
func TestProblems(t *testing.T) {
	const good = "0x80: 0x13\n"
	for line, want := range map[string]string{
		"hello":                            `column 1: found "hello", expected 0x and an address, or what an instruction did`,
		"0xg":                              `column 3: found "g", expected 0x and an address`,
		"0x11112222333344445":              `column 1: found "0x11112222333344445", expected 0x and an address of 64 bits`,
		"0x80 0x13":                        `column 5: found " 0x13", expected a colon and an opcode, or the end of the line`,
		"0x80: 0xg":                        `column 9: found "g", expected an opcode in hexadecimal`,
		"0x80: 13,":                        `column 9: found ",", expected a blank or the end of the line`,
		good + "MemoryX with address 0x0":  `column 7: found "X", expected Read or Write`,
		good + "MemoryRead with address 0": `column 25: found "0", expected 0x and an address`,
		good + "MemoryRead with address 0x0, value 0x": `column 38: found the end of the line, expected 0x and a value`,
		good + "Vector configured to VL: 0x4":          `column 29: found the end of the line, expected a comma and VTYPE`,
		good + "Post: R0 0x0":                          `column 9: found " 0x0", expected a colon and a value`,
		good + "Pre: R0: 0x0 | ":                       `column 13: found " |", expected the end of the line`,
		"Couldn't disassemble opcode at PC 80":         `column 35: found "80", expected 0x and an address`,
	} {
		got := ""
		for _, r := range dialecttest.Read(t, Dialect, strings.NewReader(line+"\n"), 8) {
			if r.Kind == itrace.Unknown {
				got = r.Problem.Error()
			}
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	dialecttest.Allocations(t, Dialect, museum[2].text+museum[3].text+museum[4].text)
}

func FuzzRenode(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

func BenchmarkRead(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[1].text+museum[3].text) }
