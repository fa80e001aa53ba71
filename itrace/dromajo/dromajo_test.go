package dromajo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines as the producer wrote them.
var museum = []struct{ producer, text string }{
	{"Dromajo of November 2024, --trace 0", `0 3 0x0000000000010000 (0xf1402573) x10 0x0000000000000000
0 3 0x000000000001001c (0x7b041073)
0 3 0x0000000080000014 (0x00006289) x 5 0x0000000000002000
0 3 0x00000000800000a8 (0x00c57553) f10 0xffffffff3fc00000
0 0 0x0000000080000078 (0x0002b583) x11 0x00000000501502f9
`},
	{"Dromajo of November 2024, --trace 0: exceptions and its own output", `0 3 0x0000000080000176 (0x025593a3) exception 6, tval 00000000800010d7
0 3 0x0000000080000184 (0x05e00813) x16 0x000000000000005e
0 0 0x000000008000006c (0x00000073) exception 8, tval 0000000000000000
Simulation speed:  0.72 MIPS (single-core)

Power off.
`},
	{"a note on its sources: vectors, several harts, lines of debugging", `1 1 0x0000000080000200 (0x02008057) v 1 0x00000001000000020000000300000004
csr_write: csr=0x300 val=0x0000000000000008
hartid=1 something
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

const tells = `"tells":"opcode mode registers all-writes events trapped",`

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	for i, want := range [][]string{
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000000010000","opcode":"0xf1402573",` + tells + `"mode":"M"}`,
			`1 {"kind":"register","time":0,"cpu":0,"name":"x10","value":"0x0000000000000000"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x000000000001001c","opcode":"0x7b041073",` + tells + `"mode":"M"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000014","opcode":"0x00006289",` + tells + `"mode":"M"}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"x5","value":"0x0000000000002000"}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x00000000800000a8","opcode":"0x00c57553",` + tells + `"mode":"M"}`,
			`4 {"kind":"register","time":0,"cpu":0,"name":"f10","value":"0xffffffff3fc00000"}`,
			`5 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000078","opcode":"0x0002b583",` + tells + `"mode":"U"}`,
			`5 {"kind":"register","time":0,"cpu":0,"name":"x11","value":"0x00000000501502f9"}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000176","opcode":"0x025593a3","trapped":true,` + tells + `"mode":"M"}`,
			`1 {"kind":"event","time":0,"cpu":0,"event":"exception","name":"6","address":"0x0000000080000176","detail":"0x00000000800010d7"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0000000080000184","opcode":"0x05e00813",` + tells + `"mode":"M"}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"x16","value":"0x000000000000005e"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x000000008000006c","opcode":"0x00000073","trapped":true,` + tells + `"mode":"U"}`,
			`3 {"kind":"event","time":0,"cpu":0,"event":"exception","name":"8","address":"0x000000008000006c","detail":"0x0000000000000000"}`,
			`4 {"remark":"Simulation speed:  0.72 MIPS (single-core)"}`,
			`6 {"remark":"Power off."}`,
		},
		{
			`1 {"kind":"instruction","time":0,"cpu":1,"id":0,"address":"0x0000000080000200","opcode":"0x02008057",` + tells + `"mode":"S"}`,
			`1 {"kind":"register","time":0,"cpu":1,"name":"v1","value":"0x00000001000000020000000300000004"}`,
			`2 {"remark":"csr_write: csr=0x300 val=0x0000000000000008"}`,
			`3 {"remark":"hartid=1 something"}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestProblems says what is wrong with lines, and where. What could be read of them is there.
func TestProblems(t *testing.T) {
	const good = "0 3 0x0000000080000014 (0x00006289)"
	for line, want := range map[string]string{
		"hello":                           `1 column 1: found "hello", expected the number of a hart`,
		"2147483648 3 0x1 (0x1)":          `1 column 1: found "2147483648", expected the number of a hart`,
		"0 2 0x1 (0x1)":                   `1 column 3: found "2", expected a privilege of 0, 1 or 3`,
		"0 3 80000014 (0x1)":              `1 column 5: found "80000014", expected 0x and an address`,
		"0 3 0x80000014 0x1":              `1 column 15: found " 0x1", expected an opcode in parentheses`,
		"0 3 0x80000014 (0x1":             `1 column 20: found the end of the line, expected ")"`,
		"0 3 0x80000014 (0x1)x":           `1 column 21: found "x", expected a blank or the end of the line`,
		good + " mem 0x1":                 `2 column 38: found "em", expected x, f or v with a number, or exception`,
		good + " x32 0x1":                 `2 column 37: found "x32", expected x, f or v with the number of a register, or exception`,
		good + " x 5 1":                   `2 column 41: found "1", expected 0x and a value`,
		good + " x 5 0x1,":                `2 column 44: found ",", expected a blank or the end of the line`,
		good + " exception x":             `2 column 47: found "x", expected the number of a cause`,
		good + " exception 8 tval 0":      `2 column 48: found " tval", expected ", tval" and a value`,
		good + " exception 8, tval none":  `2 column 55: found "none", expected hexadecimal digits`,
		good + " exception 8, tval 00 x5": `3 column 57: found " x5", expected the end of the line`,
	} {
		records := dialecttest.Read(t, Dialect, strings.NewReader(line+"\n"), 8)
		last, got := records[len(records)-1], ""
		if last.Kind == itrace.Unknown {
			got = string(rune('0'+len(records))) + " " + last.Problem.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	dialecttest.Allocations(t, Dialect, museum[0].text+museum[1].text)
}

func FuzzDromajo(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

func BenchmarkRead(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[0].text) }
