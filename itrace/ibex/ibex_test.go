package ibex

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines as tracers wrote them.
var museum = []struct{ producer, text string }{
	{"RTL of October 2025", "Time\tCycle\tPC\tInsn\tDecoded instruction\tRegister and memory contents\n" +
		"             95\t         5\t80000080\t00001117\tauipc\tx2,0x1\t  x2=0x80001080\n" +
		"            135\t         9\t80000090\t00000213\taddi\tx4,x0,0\t  x0:0x00000000  x4=0x00000000\n" +
		"            505\t        46\t80000194\t00064283\tlbu\tx5,0(x12)\t x12:0x80001080  x5=0x00000009 PA:0x80001080 load:0x00000009\n" +
		"            635\t        59\t800001a0\t00660023\tsb\tx6,0(x12)\t x12:0x80001081  x6:0x00000003 PA:0x80001081 store:0x00000003\n" +
		"          86455\t      8641\t80000174\t10500073\twfi\t\n"},
	{"RTL of May 2024", "            635\t        59\t800001a0\t00660023\tsb\tx6,0(x12)\t x12:0x80001081  x6:0x00000003 PA:0x80001081 store:0x00000003 load:0x000000c8\n"},
	{"its documentation: compressed, and its source: exceptions, bytes that are not written", "          142\t        67\t0000015c\tc622\tc.swsp\tx8,12(x2)\t  x2:0x00002000  x8:0x00000000 PA:0x0000200c store:0x00000000\n" +
		"          150\t        70\t00000160\t00000000\t-->c.unimp\t\n" +
		"          160\t        72\t00000080\t30200073\t==>mret\t\n" +
		"          170\t        73\t00000164\t    a001\tc.j\t164\t\n" +
		"          180\t        74\t00000166\t00628023\tsb\tx6,0(x5)\t  x5:0x00001003  x6:0xffffffc8 PA:0x00001003 store:0x??????c8\n" +
		"          190\t        75\t0000016a\t00028303\tlb\tx6,0(x5)\t  x5:0x00001003  x6=0xffffffc8 PA:0x00001003 load:0xffffffc8\n" +
		"          200\t        76\t0000016e\t    b800\tcm.push\t{ra},-16\t  expand_insn: (0xfe112e23 sw x1,-4(x2))\n"},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

const (
	tells  = `"tells":"opcode registers system loads load-data stores store-data all-writes reads",`
	marked = `"tells":"opcode registers system loads load-data stores store-data all-writes reads trapped",`
)

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	for i, want := range map[int][]string{
		0: {
			`1 {"remark":"Time\tCycle\tPC\tInsn\tDecoded instruction\tRegister and memory contents"}`,
			`2 {"kind":"instruction","time":95,"cpu":0,"cycle":5,"id":0,"address":"0x80000080","opcode":"0x00001117",` + tells + `"disasm":"auipc\tx2,0x1"}`,
			`2 {"kind":"register","time":95,"cpu":0,"name":"x2","value":"0x80001080"}`,
			`3 {"kind":"instruction","time":135,"cpu":0,"cycle":9,"id":0,"address":"0x80000090","opcode":"0x00000213",` + tells + `"disasm":"addi\tx4,x0,0"}`,
			`3 {"kind":"register-read","time":135,"cpu":0,"name":"x0","value":"0x00000000"}`,
			`3 {"kind":"register","time":135,"cpu":0,"name":"x4","value":"0x00000000"}`,
			`4 {"kind":"instruction","time":505,"cpu":0,"cycle":46,"id":0,"address":"0x80000194","opcode":"0x00064283",` + tells + `"disasm":"lbu\tx5,0(x12)"}`,
			`4 {"kind":"register-read","time":505,"cpu":0,"name":"x12","value":"0x80001080"}`,
			`4 {"kind":"register","time":505,"cpu":0,"name":"x5","value":"0x00000009"}`,
			`4 {"kind":"memory","time":505,"cpu":0,"access":"read","size":1,"address":"0x80001080","data":"0x09"}`,
			`5 {"kind":"instruction","time":635,"cpu":0,"cycle":59,"id":0,"address":"0x800001a0","opcode":"0x00660023",` + tells + `"disasm":"sb\tx6,0(x12)"}`,
			`5 {"kind":"register-read","time":635,"cpu":0,"name":"x12","value":"0x80001081"}`,
			`5 {"kind":"register-read","time":635,"cpu":0,"name":"x6","value":"0x00000003"}`,
			`5 {"kind":"memory","time":635,"cpu":0,"access":"write","size":1,"address":"0x80001081","data":"0x03"}`,
			`6 {"kind":"instruction","time":86455,"cpu":0,"cycle":8641,"id":0,"address":"0x80000174","opcode":"0x10500073",` + tells + `"disasm":"wfi"}`,
		},
		1: {
			`1 {"kind":"instruction","time":635,"cpu":0,"cycle":59,"id":0,"address":"0x800001a0","opcode":"0x00660023",` + tells + `"disasm":"sb\tx6,0(x12)"}`,
			`1 {"kind":"register-read","time":635,"cpu":0,"name":"x12","value":"0x80001081"}`,
			`1 {"kind":"register-read","time":635,"cpu":0,"name":"x6","value":"0x00000003"}`,
			`1 {"kind":"memory","time":635,"cpu":0,"access":"write","size":1,"address":"0x80001081","data":"0x03"}`,
		},
		2: {
			`1 {"kind":"instruction","time":142,"cpu":0,"cycle":67,"id":0,"address":"0x0000015c","opcode":"0xc622",` + tells + `"disasm":"c.swsp\tx8,12(x2)"}`,
			`1 {"kind":"register-read","time":142,"cpu":0,"name":"x2","value":"0x00002000"}`,
			`1 {"kind":"register-read","time":142,"cpu":0,"name":"x8","value":"0x00000000"}`,
			`1 {"kind":"memory","time":142,"cpu":0,"access":"write","size":4,"address":"0x0000200c","data":"0x00000000"}`,
			`2 {"kind":"instruction","time":150,"cpu":0,"cycle":70,"id":0,"address":"0x00000160","opcode":"0x00000000","trapped":true,` + marked + `"disasm":"c.unimp"}`,
			`3 {"kind":"instruction","time":160,"cpu":0,"cycle":72,"id":0,"address":"0x00000080","opcode":"0x30200073",` + marked + `"disasm":"mret"}`,
			`4 {"kind":"instruction","time":170,"cpu":0,"cycle":73,"id":0,"address":"0x00000164","opcode":"0xa001",` + marked + `"disasm":"c.j\t164"}`,
			`5 {"kind":"instruction","time":180,"cpu":0,"cycle":74,"id":0,"address":"0x00000166","opcode":"0x00628023",` + marked + `"disasm":"sb\tx6,0(x5)"}`,
			`5 {"kind":"register-read","time":180,"cpu":0,"name":"x5","value":"0x00001003"}`,
			`5 {"kind":"register-read","time":180,"cpu":0,"name":"x6","value":"0xffffffc8"}`,
			`5 {"kind":"memory","time":180,"cpu":0,"access":"write","size":1,"address":"0x00001003","data":"0xc8"}`,
			`6 {"kind":"instruction","time":190,"cpu":0,"cycle":75,"id":0,"address":"0x0000016a","opcode":"0x00028303",` + marked + `"disasm":"lb\tx6,0(x5)"}`,
			`6 {"kind":"register-read","time":190,"cpu":0,"name":"x5","value":"0x00001003"}`,
			`6 {"kind":"register","time":190,"cpu":0,"name":"x6","value":"0xffffffc8"}`,
			`6 {"kind":"memory","time":190,"cpu":0,"access":"read","size":1,"address":"0x00001003","data":"0xc8"}`,
			`7 {"kind":"instruction","time":200,"cpu":0,"cycle":76,"id":0,"address":"0x0000016e","opcode":"0xb800",` + marked + `"disasm":"cm.push\t{ra},-16"}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestProblems says what is wrong with lines, and where.
func TestProblems(t *testing.T) {
	const good = "95\t5\t80000080\t00001117\tauipc\tx2,0x1\t  x2=0x80001080"
	for line, want := range map[string]string{
		"hello":                  `column 1: found "hello", expected a time and a tab`,
		"95\thello":              `column 4: found "hello", expected a cycle and a tab`,
		"95\t5\t8000008z\t":      `column 13: found "z", expected an address in hexadecimal and a tab`,
		"95\t5\t80000080\tq":     `column 15: found "q", expected an opcode in hexadecimal and a tab`,
		good + " hello":          `column 53: found "hello", expected a register, PA, store or load, and : or =`,
		good + " x3=80":          `column 56: found "80", expected 0x and a value`,
		good + " x3=0x80+0x1":    `column 60: found "+0x1", expected hexadecimal digits and a blank or the end of the line`,
		good + " PA:0x80 load:0": `column 66: found "0", expected 0x and a value`,
	} {
		records := dialecttest.Read(t, Dialect, strings.NewReader(line+"\n"), 8)
		last := records[len(records)-1]
		if last.Kind != itrace.Unknown || last.Problem.Error() != want {
			t.Errorf("%s: got %v, want %s", line, last.Problem, want)
		}
	}
}

func TestAllocations(t *testing.T) { dialecttest.Allocations(t, Dialect, museum[0].text) }

func FuzzIbex(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

func BenchmarkRead(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[0].text) }
