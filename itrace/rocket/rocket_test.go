package rocket

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines as producers wrote them, and as their sources say where that is noted.
var museum = []struct{ producer, text string }{
	{"Rocket of 2017, +verbose through spike-dasm, from its documentation and issue 1169", `C0: 483 [1] pc=[00000002138] W[r 3=000000007fff7fff][1] R[r 1=000000007fffffff] R[r 2=ffffffffffff8000] inst=[002081b3] add s1, ra, s0
C0: 484 [1] pc=[0000000213c] W[r29=000000007fff8000][1] R[r31=ffffffff80007ffe] R[r31=0000000000000005] inst=[7fff8eb7] lui t3, 0x7fff8
C0: 485 [0] pc=[00000002140] W[r 0=0000000000000000][0] R[r 0=0000000000000000] R[r 0=0000000000000000] inst=[00000000] unknown
`},
	{"Rocket of 2016, +verbose, from issue 170", `C0:          3 [0] pc=[529b4473c8] W[r  0=0000000000000000][0] R[r 4=b9c1d835c084f7a4] R[r16=1ffebe133e9aa313] inst=[db025a65] DASM(db025a65)
C0:         19 [1] pc=[0000001000] W[r  0=0000000000001004][1] R[r 0=0000000000000000] R[r 0=0000000000000000] inst=[0000006f] DASM(0000006f)
`},
	{"sources of Rocket until 2020: a load that misses, another write late, the counter begins anew", `C1: 4294967294 [1] pc=[0080000010] W[r 0=0000000000000000][0] R[r10=0000000080001000] R[r 0=0000000000000000] inst=[00053583] ld      a1, 0(a0)
C1: 4294967295 [1] pc=[0080000014] W[r 0=0000000000000000][0] R[r10=0000000080001000] R[r 0=0000000000000000] inst=[00b53023] sd      a1, 0(a0)
C1:          0 [0] pc=[0080000018] W[r11=0000000000000007][1] R[r10=0000000080001000] R[r 0=0000000000000000] inst=[02c5d6b3] divu    a3, a1, a2
C1:          1 [1] pc=[0080000018] W[r 0=0000000000000000][0] R[r11=0000000000000007] R[r12=0000000000000002] inst=[02c5d6b3] divu    a3, a1, a2
C1:          2 [1] pc=[008000001c] W[r13=0000000000000003][1] R[r 0=0000000000000000] R[r 0=0000000000000000] inst=[00c5a023] sw      a2, 0(a1)
`},
	{"sources of Rocket since 2020: what is not told, with SiFive's prefix", `S0C0:       1234 [1] pc=[0000000080000020] W[r12=0000000000000000][0] R[r10=0000000080001000] R[r 0=0000000000000000] inst=[00052607] DASM(00052607)
S0C0:       1235 [1] pc=[0000000080000024] W[r11=0000000000000000][0] R[r10=0000000080001000] R[r 0=0000000000000000] inst=[0000610c] DASM(0000610c)
S0C0:       1236 [0] pc=[0000000080000026] W[r 0=0000000000000000][0] R[r 0=0000000000000000] R[r 0=0000000000000000] inst=[00000073] DASM(00000073)
`},
	{"sources of Rocket: the commit log", `3 0x0000000080000014 (0x00006289) x 5 0x0000000000002000
3 0x0000000080000016 (0x0005b503) x10 p10 0xXXXXXXXXXXXXXXXX
3 0x000000008000001a (0x00052607) f12 p44 0xXXXXXXXXXXXXXXXX
3 0x000000008000001e (0x00b6b023)
x10 p10 0x0000000000000001
f12 p44 0x000000003fc00000
x 7 p 7 0x0000000000000001
7 0x0000000000000800 (0x0ff0000f)
`},
	{"sources of BOOM: the commit log, and that of 2016", `3 0x0000000080000014 (0x6289) x 5 0x0000000000002000
1 0x0000000080000016 (0x0005b503) x10 0x0000000000000001
0 0x000000008000001a (0x00052607) f12 0xffffffff3fc00000
@@@ 3 0x0000000000002138 (0x002081b3) x 3 0x000000007fff7fff
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

const (
	opcodeOnly = `"tells":"opcode all-writes"`
	registers  = `"tells":"opcode registers all-writes"`
	commits    = `"tells":"opcode mode registers all-writes"`
)

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	for i, want := range [][]string{
		{
			`1 {"kind":"instruction","time":483,"cpu":0,"id":0,"address":"0x00000002138","opcode":"0x002081b3",` + registers + `,"disasm":"add s1, ra, s0"}`,
			`1 {"kind":"register","time":483,"cpu":0,"name":"x3","value":"0x000000007fff7fff"}`,
			`2 {"kind":"instruction","time":484,"cpu":0,"id":0,"address":"0x0000000213c","opcode":"0x7fff8eb7",` + registers + `,"disasm":"lui t3, 0x7fff8"}`,
			`2 {"kind":"register","time":484,"cpu":0,"name":"x29","value":"0x000000007fff8000"}`,
			`3 {"remark":"C0: 485 [0] pc=[00000002140] W[r 0=0000000000000000][0] R[r 0=0000000000000000] R[r 0=0000000000000000] inst=[00000000] unknown"}`,
		},
		{
			`1 {"remark":"C0:          3 [0] pc=[529b4473c8] W[r  0=0000000000000000][0] R[r 4=b9c1d835c084f7a4] R[r16=1ffebe133e9aa313] inst=[db025a65] DASM(db025a65)"}`,
			`2 {"kind":"instruction","time":19,"cpu":0,"id":0,"address":"0x0000001000","opcode":"0x0000006f",` + registers + `}`,
			`2 {"kind":"register","time":19,"cpu":0,"name":"x0","value":"0x0000000000001004","zero":true}`,
		},
		{
			`1 {"kind":"instruction","time":4294967294,"cpu":1,"id":0,"address":"0x0080000010","opcode":"0x00053583",` + opcodeOnly + `,"disasm":"ld      a1, 0(a0)"}`,
			`2 {"kind":"instruction","time":4294967295,"cpu":1,"id":0,"address":"0x0080000014","opcode":"0x00b53023",` + registers + `,"disasm":"sd      a1, 0(a0)"}`,
			`3 {"kind":"register","time":4294967296,"cpu":1,"back":1,"name":"x11","value":"0x0000000000000007"}`,
			`4 {"kind":"instruction","time":4294967297,"cpu":1,"id":0,"address":"0x0080000018","opcode":"0x02c5d6b3",` + opcodeOnly + `,"disasm":"divu    a3, a1, a2"}`,
			`5 {"kind":"instruction","time":4294967298,"cpu":1,"id":0,"address":"0x008000001c","opcode":"0x00c5a023",` + registers + `,"disasm":"sw      a2, 0(a1)"}`,
			`5 {"kind":"register","time":4294967298,"cpu":1,"back":1,"name":"x13","value":"0x0000000000000003"}`,
		},
		{
			`1 {"kind":"instruction","time":1234,"cpu":0,"id":0,"address":"0x0000000080000020","opcode":"0x00052607",` + opcodeOnly + `}`,
			`2 {"kind":"instruction","time":1235,"cpu":0,"id":0,"address":"0x0000000080000024","opcode":"0x0000610c",` + opcodeOnly + `}`,
			`3 {"remark":"S0C0:       1236 [0] pc=[0000000080000026] W[r 0=0000000000000000][0] R[r 0=0000000000000000] R[r 0=0000000000000000] inst=[00000073] DASM(00000073)"}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000014","opcode":"0x00006289",` + commits + `,"mode":"M"}`,
			`1 {"kind":"register","time":0,"cpu":0,"name":"x5","value":"0x0000000000002000"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000016","opcode":"0x0005b503",` + commits + `,"mode":"M"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x000000008000001a","opcode":"0x00052607",` + commits + `,"mode":"M"}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x000000008000001e","opcode":"0x00b6b023",` + commits + `,"mode":"M"}`,
			`5 {"kind":"register","time":0,"cpu":0,"back":2,"name":"x10","value":"0x0000000000000001"}`,
			`6 {"kind":"register","time":0,"cpu":0,"back":1,"name":"f12","value":"0x000000003fc00000"}`,
			`7 {"remark":"x 7 p 7 0x0000000000000001"}`,
			`8 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000000000800","opcode":"0x0ff0000f",` + commits + `,"mode":"M"}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000014","opcode":"0x6289",` + commits + `,"mode":"M"}`,
			`1 {"kind":"register","time":0,"cpu":0,"name":"x5","value":"0x0000000000002000"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000016","opcode":"0x0005b503",` + commits + `,"mode":"S"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"x10","value":"0x0000000000000001"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x000000008000001a","opcode":"0x00052607",` + commits + `,"mode":"U"}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"f12","value":"0xffffffff3fc00000"}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000000002138","opcode":"0x002081b3",` + commits + `,"mode":"M"}`,
			`4 {"kind":"register","time":0,"cpu":0,"name":"x3","value":"0x000000007fff7fff"}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestTrapped: the option says that lines of no valid instruction are of one that had an exception.
func TestTrapped(t *testing.T) {
	d, err := itrace.Registry{Dialect}.ByName("rocket:invalid=trapped")
	if err != nil {
		t.Fatal(err)
	}
	dialecttest.Run(t, d, museum[3].text)
	lines := dialecttest.Lines(t, d, museum[3].text)
	want := `3 {"kind":"instruction","time":1236,"cpu":0,"id":0,"address":"0x0000000080000026","opcode":"0x00000073","trapped":true,` +
		`"tells":"opcode registers all-writes trapped"}`
	if len(lines) != 3 || lines[2] != want {
		t.Errorf("got %q, want %s", lines, want)
	}
}

// TestOpen: of writes that never come only so many are waited for, and only so long. The oldest is served first.
func TestOpen(t *testing.T) {
	var text strings.Builder
	for i := range 2 * mostOpen {
		fmt.Fprintf(&text, "3 0x%016x (0x00052607) f%2d p%2d 0xXXXXXXXXXXXXXXXX\n", 4*i, i%32, i%32+32)
	}
	text.WriteString("f 3 p35 0x0000000000000001\nf 3 p35 0x0000000000000002\nf 3 p35 0x0000000000000003\n")
	dialecttest.Run(t, Dialect, text.String())
	records := dialecttest.Read(t, Dialect, strings.NewReader(text.String()), 64)[2*mostOpen:]
	if len(records) != 3 || records[0].Back != 60 || records[1].Back != 28 || records[2].Kind != itrace.Remark {
		t.Errorf("got %+v", records)
	}
	text.Reset()
	text.WriteString("3 0x0000000080000016 (0x0005b503) x10 p10 0xXXXXXXXXXXXXXXXX\n")
	text.WriteString(strings.Repeat("3 0x0000000080000018 (0x00000013)\n", mostLate+1))
	text.WriteString("x10 p10 0x0000000000000001\n")
	records = dialecttest.Read(t, Dialect, strings.NewReader(text.String()), 64)
	if last := records[len(records)-1]; last.Kind != itrace.Remark {
		t.Errorf("got %+v", last)
	}
	for _, state := range []string{"\x80", "\x00\x00", "\x00\x00x", "\x00\x00x\x20\x00", "\x00\x00y\x01\x00", "\x00\x00x\x01\xff\xff\x01"} {
		if (&reader{}).Restore([]byte(state)) == nil {
			t.Errorf("%q is taken for a state", state)
		}
	}
}

// TestDestination: whose a written register is follows from the opcode.
func TestDestination(t *testing.T) {
	for text, want := range map[string]string{
		"W[r11=7][1] inst=[02c5d5b3] divu a1, a1, a2":   "x11 0",
		"W[r11=7][1] inst=[00158613] addi a2, a1, 1":    "x11 1",                       // of the load before
		"W[r12=7][1] inst=[00158613] addi a2, a1, 1":    "x12 0",                       //
		"W[r11=7][1] inst=[00b50463] beq a0, a1, pc+8":  "x11 1",                       // a branch writes nothing
		"W[r12=7][1] inst=[c0061653] fcvt.w.s a2, fa2":  "x12 0",                       //
		"W[r12=7][1] inst=[e0060653] fmv.x.w a2, fa2":   "x12 0",                       //
		"W[r12=7][1] inst=[a0c62653] feq.s a2, fa2, fa": "x12 0",                       //
		"W[r12=7][0] inst=[00c67653] fadd.s fa2, fa2":   "opcode all-writes",           // not told
		"W[r12=7][0] inst=[0cc67643] fmadd.s fa2, fa2":  "opcode all-writes",           //
		"W[r0=0][0] inst=[00062627] fsw fzero, 12(a2)":  "opcode registers all-writes", // nothing is written
		"W[r0=0][0] inst=[0005a003] lw zero, 0(a1)":     "opcode registers all-writes", //
		"W[r0=0][0] inst=[100527af] lr.w a5, (a0)":      "opcode all-writes",           //
		"W[r12=7][1] inst=[00004605] c.li a2, 1":        "x12 0",                       //
		"W[r12=7][0] inst=[00004605] c.lw a2, 0(a0)":    "opcode all-writes",           //
	} {
		written, rest, _ := strings.Cut(text, " ")
		load := "C0: 1 [1] pc=[80000000] W[r11=0][0] R[r 1=0] R[r 2=0] inst=[00053583] ld a1, 0(a0)\n"
		line := "C0: 2 [1] pc=[80000004] " + written + " R[r 1=0] R[r 2=0] " + rest + "\n"
		records := dialecttest.Read(t, Dialect, strings.NewReader(load+line), 8)
		got := strings.Join(records[1].Scope.Names(), " ")
		if len(records) == 3 {
			got = fmt.Sprintf("%s %d", records[2].Name, records[2].Back)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestProblems says what is wrong with lines, and where. What could be read of them is there.
func TestProblems(t *testing.T) {
	const (
		good  = "3 0x0000000080000014 (0x00006289)"
		start = "C0: 1 [1] pc=[1] W[r 1=0][1] R[r 1=0] R[r 2=0]"
	)
	for line, want := range map[string]string{
		"hello":                      `1 column 1: found "hello", expected a privilege, C and the number of a hart, or a register`,
		"2 0x1 (0x1)":                `1 column 1: found "2", expected a privilege, C and the number of a hart, or a register`,
		"3 80000014 (0x1)":           `1 column 3: found "80000014", expected 0x and an address`,
		"3 0x80000014 0x1":           `1 column 13: found " 0x1", expected an opcode in parentheses`,
		good + " mem 0x1":            `2 column 36: found "em", expected x or f with the number of a register`,
		good + " x32 0x1":            `2 column 35: found "x32", expected x or f with the number of a register`,
		good + " x 5 1":              `2 column 39: found "1", expected 0x and a value`,
		good + " x 5 p 5 1":          `2 column 43: found "1", expected 0x and a value`,
		good + " x 5 0x1 mem":        `2 column 42: found " mem", expected the end of the line`,
		"x5":                         `1 column 3: found the end of the line, expected p and a number`,
		"Cx":                         `1 column 2: found "x", expected the number of a hart`,
		"C2147483648: 1 [1]":         `1 column 12: found ":", expected the number of a hart`,
		"C0: x":                      `1 column 5: found "x", expected a cycle`,
		"C0: 1 [2]":                  `1 column 8: found "2]", expected 0 or 1`,
		"C0: 1 [1] pc=x":             `1 column 10: found " pc=x", expected pc= and an address in brackets`,
		"C0: 1 [1] pc=[1] W[r32=0]":  `1 column 21: found "32=0]", expected the number of a register`,
		start + " inst=[xyz]":        `1 column 54: found "xyz]", expected an opcode in hexadecimal`,
		start[:28] + " W[r 1=0]":     `1 column 29: found " W[r", expected R and a register in brackets`,
		start + " inst=[00000013] x": ``,
	} {
		records := dialecttest.Read(t, Dialect, strings.NewReader(line+"\n"), 8)
		last, got := records[len(records)-1], ""
		if last.Kind == itrace.Unknown {
			got = fmt.Sprintf("%d %v", len(records), last.Problem)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, m := range museum {
		dialecttest.Allocations(t, Dialect, m.text)
	}
}

func FuzzRocket(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

// BenchmarkRead reads lines of +verbose, and commit lines.
func BenchmarkRead(b *testing.B) {
	b.Run("verbose", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[0].text) })
	b.Run("commits", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[4].text) })
}
