package lackey

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
)

// museum is lines as the producer wrote them.
var museum = []struct{ producer, text string }{
	{"Valgrind 3.19, --tool=lackey --trace-mem=yes, x86-64", `==16025== Lackey, an example Valgrind tool
==16025== Command: ./x86.elf
### unhandled dwarf2 abbrev form code 0x25
I  00401000,7
I  00401010,5
 S 00402248,8
I  0040103f,3
 L 1ffefff8c0,8
 M 00402240,8
==16025== Counted 0 calls to main()
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	const tells = `"tells":"loads stores all-writes"}`
	want := []string{
		`1 {"remark":"==16025== Lackey, an example Valgrind tool"}`,
		`2 {"remark":"==16025== Command: ./x86.elf"}`,
		`3 {"remark":"### unhandled dwarf2 abbrev form code 0x25"}`,
		`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x00401000",` + tells,
		`5 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x00401010",` + tells,
		`6 {"kind":"memory","time":0,"cpu":0,"access":"write","partial":true,"size":8,"address":"0x00402248"}`,
		`7 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0040103f",` + tells,
		`8 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"size":8,"address":"0x1ffefff8c0"}`,
		`9 {"kind":"memory","time":0,"cpu":0,"access":"read","partial":true,"size":8,"address":"0x00402240"}`,
		`9 {"kind":"memory","time":0,"cpu":0,"access":"write","partial":true,"size":8,"address":"0x00402240"}`,
		`10 {"remark":"==16025== Counted 0 calls to main()"}`,
	}
	if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[0].text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestProblems says what is wrong with lines, and where.
func TestProblems(t *testing.T) {
	for line, want := range map[string]string{
		"hello":                    `column 1: found "hello", expected I, L, S or M in its column`,
		"I 00401000,7":             `column 1: found "I", expected I, L, S or M in its column`,
		" I 00401000,7":            `column 2: found "I", expected L, S or M`,
		" S  00401000,7":           `column 4: found " 00401000,7", expected an address`,
		"I  11112222333344445,7":   `column 4: found "11112222333344445,7", expected an address of 64 bits`,
		"I  00401000 7":            `column 12: found " 7", expected a comma and a size`,
		"I  00401000,x":            `column 13: found "x", expected a size in bytes`,
		"I  00401000,4294967296":   `column 13: found "4294967296", expected a size in bytes`,
		" L 00401000,7 5":          `column 14: found " 5", expected the end of the line`,
		"==16025= Counted 0 calls": `column 1: found "==16025=", expected I, L, S or M in its column`,
	} {
		if got, records := dialecttest.Problem(t, Dialect, line+"\n"); got != want || records != 1 {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

func TestAllocations(t *testing.T) { dialecttest.Allocations(t, Dialect, museum[0].text) }

func FuzzLackey(f *testing.F) { dialecttest.Fuzz(f, Dialect, museum[0].text) }

func BenchmarkRead(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[0].text) }
