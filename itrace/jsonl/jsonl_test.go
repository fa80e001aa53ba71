package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracewell/itrace"
	"tracewell/itrace/matcher"
)

// pairs are lines of Trace Matcher and the objects of the same records.
var pairs = []struct{ line, object string }{
	{"1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1",
		`{"kind":"instruction","time":1,"scale":"clk","cpu":0,"id":1,"address":"0x00000004","opcode":"0x3c080001",` +
			`"state":"A","mode":"svc","disasm":"lui t0,0x1"}`},
	{"18446744073709551615 ns 3 IS (7) FFFFFFFF80000080 xx01 T svc_ns :",
		`{"kind":"instruction","time":18446744073709551615,"scale":"ns","cpu":3,"id":7,"skipped":true,` +
			`"address":"0xFFFFFFFF80000080","opcode":"0xxx01","state":"T","mode":"svc","security":"ns"}`},
	{"10 clk MR8 00103fc4 0010400000000000",
		`{"kind":"memory","time":10,"scale":"clk","cpu":3,"access":"read","size":8,"address":"0x00103fc4",` +
			`"data":"0x0010400000000000"}`},
	{"11 clk MW4X 10 DEAD..-#",
		`{"kind":"memory","time":11,"scale":"clk","cpu":3,"access":"write","size":4,"privilege":"X","address":"0x10",` +
			`"data":"0xDEAD..-#"}`},
	{"14 clk R r8 0000000000000001000000000000000a",
		`{"kind":"register","time":14,"scale":"clk","cpu":3,"name":"r8","value":"0x0000000000000001000000000000000a"}`},
	{`15 clk 0 IT (2) 8 0 A sys : "a\b" naïve	` + "\x01\xff\xed\xa0\x80 z",
		`{"kind":"instruction","time":15,"scale":"clk","cpu":0,"id":2,"address":"0x8","opcode":"0x0","state":"A","mode":"sys",` +
			`"disasm":"\"a\\b\" naïve\t\u0001\udcff\udced\udca0\udc80 z"}`},
	{"a line that is \"none\"", `{"unknown":"a line that is \"none\""}`},
	{"\x00\xfe\x80", `{"unknown":"\u0000\udcfe\udc80"}`},
}

// convert writes a trace in another dialect.
func convert(t testing.TB, in io.Reader, from, to *itrace.Dialect) string {
	t.Helper()
	var out []byte
	for r, err := range itrace.NewReader(in, from).All() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(to.Append(out, r), '\n')
	}
	return string(out)
}

// TestPairs writes records of every kind as objects and back.
func TestPairs(t *testing.T) {
	var lines, objects strings.Builder
	for _, pair := range pairs {
		lines.WriteString(pair.line + "\n")
		objects.WriteString(pair.object + "\n")
		if !json.Valid([]byte(pair.object)) {
			t.Errorf("this is no JSON: %s", pair.object)
		}
	}
	if diff := cmp.Diff(objects.String(), convert(t, strings.NewReader(lines.String()), matcher.Dialect, Dialect)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(lines.String(), convert(t, strings.NewReader(objects.String()), Dialect, matcher.Dialect)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// TestParseForeign reads objects that other programs could have written.
func TestParseForeign(t *testing.T) {
	register := itrace.Record{Kind: itrace.Register, Name: []byte("r8"), Digits: []byte("1F"), Value: 0x1f}
	escaped := register
	escaped.Scale = []byte(`/"` + "𝄞�A")
	tests := []struct {
		line string
		want itrace.Record
	}{
		{`{"value":"0x1F","name":"r8","kind":"register"}`, register},
		{` { "value" : "0X1F" , "cpu":null, "scale" : null,"kind":"register", "name":"r8" } `, register},
		{`{"kind":"memory","kind":"register","more":{"name":["}\"",{}]},"opcode":1e3,"id":"x","name":"r8","value":"0x1F","b":false}`,
			register},
		{`{"kind":"register","name":"\u0072\u0038","value":"0x1F","scale":"\/\"\ud834\udd1e\ud834A"}`, escaped},
	}
	for _, test := range tests {
		var got itrace.Record
		if problem := Dialect.New().Parse([]byte(test.line), &got); problem != nil {
			t.Errorf("%s: %v", test.line, problem)
			continue
		}
		if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.line, diff)
		}
	}
}

func TestProblems(t *testing.T) {
	tests := []struct{ line, want string }{
		{`1 clk R r8 0`, `column 1: found "1", expected an object of JSON`},
		{`[]`, `column 1: found "[]", expected an object of JSON`},
		{`{`, `column 2: found the end of the line, expected the name of a member`},
		{`{}`, `column 2: found "}", expected "kind":`},
		{`{"kind":"memory",}`, `column 18: found "}", expected the name of a member`},
		{`{"kind":"memory"]`, `column 17: found "]", expected "," or "}"`},
		{`{"kind" "memory"}`, `column 9: found "\"memory\"}", expected ":"`},
		{`{"kind":}`, `column 9: found "}", expected a value`},
		{`{"kind":nil}`, `column 9: found "nil}", expected a value`},
		{`{"kind":"memory`, `column 16: found the end of the line, expected "\"" at the end of a string`},
		{`{"more":[{]`, `column 12: found the end of the line, expected the end of what is nested`},
		{`{"kind":"memory"} x`, `column 19: found "x", expected the end of the line`},
		{`{"kind":"jump"}`, `column 9: found "\"jump\"", expected "instruction", "memory" or "register"`},
		{`{"kind":7}`, `column 9: found "7", expected a string`},
		{`{"kind":"register","name":"a b","value":"0x0"}`, `column 27: found "\"a", expected a word`},
		{`{"kind":"register","name":"","value":"0x0"}`, `column 27: found "\"\"", expected a word`},
		{`{"kind":"register","name":"a","value":"0"}`, `column 39: found "\"0\"", expected 0x and hexadecimal digits in a string`},
		{`{"kind":"register","name":"a","value":"0xg"}`, `column 39: found "\"0xg\"", expected 0x and hexadecimal digits in a string`},
		{`{"kind":"register","name":"a","value":1}`, `column 39: found "1", expected a string`},
		{`{"kind":"register","name":"a","value":"0x1","time":-1}`, `column 52: found "-1", expected a whole number`},
		{`{"kind":"register","name":"a","value":"0x1","time":"1"}`, `column 52: found "\"1\"", expected a whole number`},
		{`{"kind":"register","name":"a","value":"0x1","cpu":2147483648}`, `column 51: found "2147483648", expected a whole number`},
		{`{"kind":"register","name":"a\n","value":"0x1"}`,
			`column 27: found "\"a\\n\"", expected a string that is one line, with escapes of JSON`},
		{`{"kind":"register","name":"\x","value":"0x1"}`,
			`column 27: found "\"\\x\"", expected a string that is one line, with escapes of JSON`},
		{`{"kind":"memory","access":"execute"}`, `column 27: found "\"execute\"", expected "read" or "write"`},
		{`{"kind":"memory","access":"read"}`, `column 33: found "}", expected "size":`},
		{`{"kind":"memory","access":"read","size":0}`, `column 41: found "0", expected a number of bytes`},
		{`{"kind":"memory","access":"read","size":1,"privilege":"XT"}`, `column 55: found "\"XT\"", expected a letter`},
		{`{"kind":"instruction","skipped":1}`, `column 33: found "1", expected true or false`},
		{`{"kind":"instruction","address":"0x11111111111111111","opcode":"0x0"}`,
			`column 33: found "\"0x11111111111111111"…, expected an address of 64 bits or less`},
		{`{"unknown":"what"}`, `column 12: found "\"what\"", expected a line that is a record`},
	}
	for _, test := range tests {
		var r itrace.Record
		problem := Dialect.New().Parse([]byte(test.line), &r)
		if problem == nil {
			t.Errorf("%s: no problem", test.line)
		} else if got := problem.Error(); got != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.line, got, test.want)
		}
	}
}

// TestProcessor: a record without a processor is of that of the latest instruction.
func TestProcessor(t *testing.T) {
	p := Dialect.New()
	for _, test := range []struct {
		line string
		cpu  int32
	}{
		{`{"kind":"register","name":"r8","value":"0x0"}`, 0},
		{`{"kind":"register","name":"r8","value":"0x0","cpu":5}`, 5},
		{`{"kind":"instruction","address":"0x0","opcode":"0x0","cpu":1}`, 1},
		{`{"kind":"register","name":"r8","value":"0x0"}`, 1},
		{`{"kind":"instruction","address":"0x0","opcode":"0x0"}`, 1},
		{`{"kind":"instruction","cpu":7}`, 1},
		{`{"kind":"register","name":"r8","value":"0x0","cpu":0}`, 0},
		{`{"kind":"register","name":"r8","value":"0x0"}`, 1},
	} {
		var r itrace.Record
		p.Parse([]byte(test.line), &r)
		if r.CPU != test.cpu {
			t.Errorf("%s: of processor %d, want %d", test.line, r.CPU, test.cpu)
		}
	}
}

// TestStaleRecord: what a record held before does not show.
func TestStaleRecord(t *testing.T) {
	full := itrace.Record{
		Time: 9, Scale: []byte("x"), CPU: 9, Addr: 9, AddrDigits: []byte("9"), Digits: []byte("x"), Value: 9, Wild: true, Skipped: true,
		ID: 9, State: 'T', Mode: []byte("x"), Security: []byte("s"), Disasm: []byte("x"), Write: true, Size: 9, Privilege: 'X',
		Name: []byte("x"),
	}
	for _, line := range []string{
		`{"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x0","opcode":"0x0"}`,
		`{"kind":"memory","time":0,"cpu":0,"access":"read","size":1,"address":"0x0","data":"0x0"}`,
		`{"kind":"register","time":0,"cpu":0,"name":"r","value":"0x0"}`,
	} {
		r := full
		if problem := Dialect.New().Parse([]byte(line), &r); problem != nil {
			t.Errorf("%s: %v", line, problem)
		}
		if got := string(Append(nil, &r)); got != line {
			t.Errorf("got %s, want %s", got, line)
		}
	}
}

// sample is a trace of n instructions with effects, as objects.
func sample(t testing.TB, n int) []byte {
	var text bytes.Buffer
	for i := range n {
		fmt.Fprintf(&text, "%d clk 0 IT (%d) %016x %08x A svc_ns : addiu t0, t0, 0x%x\n", i, i, uint64(0xffffffff80000000)+uint64(4*i), 0x25080000+i, i)
		fmt.Fprintf(&text, "%d clk R r8 %016x\n", i, i)
		if i%4 == 0 {
			fmt.Fprintf(&text, "%d clk MW8 %016x %016X\n", i, 0x80100000+i, i*i)
		}
	}
	return []byte(convert(t, &text, matcher.Dialect, Dialect))
}

// readAll reads a trace and returns how many records it has.
func readAll(t testing.TB, in io.Reader, records []itrace.Record) (count int) {
	for reader := itrace.NewReader(in, Dialect); ; {
		n, err := reader.Read(records)
		count += n
		for _, r := range records[:n] {
			if r.Problem != nil {
				t.Fatal(r.Problem)
			}
		}
		if err != nil {
			return count
		}
	}
}

// TestAllocatesNothing neither for a record that is read nor for one that is written.
func TestAllocatesNothing(t *testing.T) {
	data := sample(t, 1000)
	records := make([]itrace.Record, 512)
	read := func(rounds int) float64 {
		repeated := bytes.Repeat(data, rounds)
		return testing.AllocsPerRun(5, func() { readAll(t, bytes.NewReader(repeated), records) })
	}
	if short, long := read(1), read(20); long > short {
		t.Errorf("reading: %v allocations for a trace, %v for one twenty times as long", short, long)
	}
	readAll(t, bytes.NewReader(data), records)
	out := make([]byte, 0, 1<<10)
	if n := testing.AllocsPerRun(5, func() {
		for i := range records[:100] {
			out = Append(out[:0], &records[i])
		}
	}); n > 0 {
		t.Errorf("writing: %v allocations", n)
	}
}

func BenchmarkRead(b *testing.B) {
	data := sample(b, 20_000)
	records := make([]itrace.Record, 512)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if n := readAll(b, bytes.NewReader(data), records); n != 45_000 {
			b.Fatal(n)
		}
	}
}

// BenchmarkReadReflected reads the same by encoding/json, numbers left as they are.
func BenchmarkReadReflected(b *testing.B) {
	data := sample(b, 20_000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		for decoder := json.NewDecoder(bytes.NewReader(data)); ; {
			var r struct {
				Kind, Scale, Address, Opcode, State, Mode, Security, Disasm, Access, Privilege, Data, Name, Value string
				Time, ID                                                                                          uint64
				CPU                                                                                               int32
				Skipped                                                                                           bool
				Size                                                                                              uint32
			}
			if err := decoder.Decode(&r); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	data := sample(b, 500)
	records := make([]itrace.Record, 512)
	n, err := itrace.NewReader(bytes.NewReader(data), Dialect).Read(records)
	if err != nil {
		b.Fatal(err)
	}
	var out []byte
	for b.Loop() {
		out = out[:0]
		for i := range n {
			out = append(Append(out, &records[i]), '\n')
		}
	}
	b.SetBytes(int64(len(out)))
}
