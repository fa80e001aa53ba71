package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracewell/itrace"
)

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
		if problem := newParser().Parse([]byte(test.line), &got); problem != nil {
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
		{`{"kind":"jump"}`, `column 9: found "\"jump\"", expected "instruction", "memory", "register", "register-read" or "event"`},
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
		{`{"kind":"memory","access":"read","size":1,"address":"0x0","data":"0x100"}`, `column 66: found "\"0x100\"", expected data of 1 bytes`},
		{`{"kind":"memory","access":"read","size":1,"privilege":"XT"}`, `column 55: found "\"XT\"", expected a letter`},
		{`{"kind":"instruction","skipped":1}`, `column 33: found "1", expected true or false`},
		{`{"kind":"instruction","address":"0x11111111111111111","opcode":"0x0"}`,
			`column 33: found "\"0x11111111111111111"…, expected an address of 64 bits or less`},
		{`{"unknown":"what \"is\" this\udcff, and why?"}`, `column 12: found "what \"is\" this\xff, and", expected a record`},
		{`{"unknown":1}`, `column 12: found "1", expected a string`},
	}
	for _, test := range tests {
		var r itrace.Record
		problem := newParser().Parse([]byte(test.line), &r)
		if problem == nil {
			t.Errorf("%s: no problem", test.line)
		} else if got := problem.Error(); got != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.line, got, test.want)
		}
	}
}

// TestProcessor: a record without a processor is of that of the latest instruction.
func TestProcessor(t *testing.T) {
	p := newParser()
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
		if problem := newParser().Parse([]byte(line), &r); problem != nil {
			t.Errorf("%s: %v", line, problem)
		}
		if got := string(Append(nil, &r)); got != line {
			t.Errorf("got %s, want %s", got, line)
		}
	}
}

// sample is a trace of n instructions with effects.
func sample(n int) []byte {
	var out bytes.Buffer
	for i := range n {
		fmt.Fprintf(&out, `{"kind":"instruction","time":%d,"scale":"clk","cpu":0,"id":%d,"address":"0x%016x","opcode":"0x%08x",`,
			i, i, uint64(0xffffffff80000000)+uint64(4*i), 0x25080000+i)
		fmt.Fprintf(&out, `"state":"A","mode":"svc","security":"ns","disasm":"addiu t0, t0, 0x%x"}`+"\n", i)
		fmt.Fprintf(&out, `{"kind":"register","time":%d,"scale":"clk","cpu":0,"name":"r8","value":"0x%016x"}`+"\n", i, i)
		if i%4 == 0 {
			fmt.Fprintf(&out, `{"kind":"memory","time":%d,"scale":"clk","cpu":0,"access":"write","size":8,"address":"0x%016x",`+
				`"data":"0x%016X"}`+"\n", i, 0x80100000+i, i*i)
		}
	}
	return out.Bytes()
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
	data := sample(1000)
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
	data := sample(20_000)
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
	data := sample(20_000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		for decoder := json.NewDecoder(bytes.NewReader(data)); ; {
			var r struct {
				Kind, Scale, Address, Opcode, State, Mode, Security, Disasm, Access, Privilege, Name, Value string

				Read     string `json:"data"`
				Time, ID uint64
				CPU      int32
				Skipped  bool
				Size     uint32
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
	data := sample(500)
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

// TestStrings writes each byte at each place of a string, and what follows it, as JSON has it, and reads it again.
func TestStrings(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			text := bytes.Repeat([]byte("a"), 20)
			text[at] = byte(c)
			if c == '\n' {
				continue // no line has one
			}
			written := Append(nil, &itrace.Record{Text: text})
			var object struct{ Unknown string }
			if err := json.Unmarshal(written, &object); err != nil || c < 0x80 && object.Unknown != string(text) {
				t.Fatalf("%q is written as %s: %q, %v", text, written, object.Unknown, err)
			}
			var r itrace.Record
			if problem := newParser().Parse(written, &r); problem == nil || !bytes.Equal(r.Text, text) {
				t.Fatalf("%q is written as %s and read as %q, %v", text, written, r.Text, problem)
			}
		}
	}
}
