package tenet

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// museum is lines as producers wrote them.
var museum = []struct{ producer, text string }{
	{"GDB's Python, AMD64, registers alone", `rax=0x0,rbx=0x0,rsp=0x7fffffffe760,rip=0x401000
rsp=0x402250,rip=0x401007
rip=0x401009
rip=0x40106d
rcx=0xb,rsi=0x402001,rdi=0x402019,rip=0x40106d
`},
	{"the form of Tenet's documentation: x86 with memory", `esp=0xcfef4,eip=0x1005f91,mr=0xcfef0:915f0001
edx=0x7,eip=0x1005f93
esp=0xcfef0,eip=0x1005f94,mw=0xcfef0:07000000
esp=0xcfef4,ecx=0x1234,eip=0x1005f9c,mr=0xcfef0:07000000,mw=0xcfed0:3412
`},
	{"its documentation: what may be otherwise", `EIP=1000,EFLAGS=0x246
MRW=0x2000:0102030405060708090a0b0c0d0e0f10F1
ESP=0x1ff0, CR0=11
what another program says
esp=0x1fec,eip=?
esp=0x1fe8,eip=0x1004
`},
}

func TestMuseum(t *testing.T) {
	for _, m := range museum {
		t.Run(m.producer, func(t *testing.T) { dialecttest.Run(t, Dialect, m.text) })
	}
}

// What is told of instructions: registers, memory besides, registers of control besides, and nothing of the last.
const (
	registers  = `"tells":"registers"`
	memory     = `"tells":"registers loads load-data stores store-data"`
	everything = `"tells":"registers system loads load-data stores store-data"`
	last       = `"tells":"all-writes"`
)

// TestRecords says what each kind of line is.
func TestRecords(t *testing.T) {
	for i, want := range [][]string{
		{
			`1 {"kind":"register","time":0,"cpu":0,"name":"rax","value":"0x0"}`,
			`1 {"kind":"register","time":0,"cpu":0,"name":"rbx","value":"0x0"}`,
			`1 {"kind":"register","time":0,"cpu":0,"name":"rsp","value":"0x7fffffffe760"}`,
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x401000",` + registers + `}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"rsp","value":"0x402250"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x401007",` + registers + `}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x401009",` + registers + `}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x40106d",` + registers + `}`,
			`5 {"kind":"register","time":0,"cpu":0,"name":"rcx","value":"0xb"}`,
			`5 {"kind":"register","time":0,"cpu":0,"name":"rsi","value":"0x402001"}`,
			`5 {"kind":"register","time":0,"cpu":0,"name":"rdi","value":"0x402019"}`,
			`5 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x40106d",` + last + `}`,
		},
		{
			`1 {"kind":"register","time":0,"cpu":0,"name":"esp","value":"0xcfef4"}`,
			`1 {"kind":"memory","time":0,"cpu":0,"access":"read","size":4,"address":"0xcfef0","data":"0x01005f91"}`,
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x1005f91",` + memory + `}`,
			`2 {"kind":"register","time":0,"cpu":0,"name":"edx","value":"0x7"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x1005f93",` + memory + `}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"esp","value":"0xcfef0"}`,
			`3 {"kind":"memory","time":0,"cpu":0,"access":"write","size":4,"address":"0xcfef0","data":"0x00000007"}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x1005f94",` + memory + `}`,
			`4 {"kind":"register","time":0,"cpu":0,"name":"esp","value":"0xcfef4"}`,
			`4 {"kind":"register","time":0,"cpu":0,"name":"ecx","value":"0x1234"}`,
			`4 {"kind":"memory","time":0,"cpu":0,"access":"read","size":4,"address":"0xcfef0","data":"0x00000007"}`,
			`4 {"kind":"memory","time":0,"cpu":0,"access":"write","size":2,"address":"0xcfed0","data":"0x1234"}`,
			`4 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x1005f9c",` + last + `}`,
		},
		{
			`1 {"kind":"register","time":0,"cpu":0,"name":"EFLAGS","value":"0x246","system":true}`,
			`1 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x1000",` + everything + `}`,
			`2 {"kind":"memory","time":0,"cpu":0,"access":"read","size":17,"address":"0x2000","data":"0xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}`,
			`2 {"kind":"memory","time":0,"cpu":0,"access":"write","size":17,"address":"0x2000","data":"0xF1100f0e0d0c0b0a090807060504030201"}`,
			`2 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x1000",` + everything + `}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"ESP","value":"0x1ff0"}`,
			`3 {"kind":"register","time":0,"cpu":0,"name":"CR0","value":"0x11","system":true}`,
			`3 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x1000",` + everything + `}`,
			`4 {"unknown":"what another program says"} column 1: found "what", expected a name and =`,
			`5 {"unknown":"esp=0x1fec,eip=?"} column 16: found "?", expected a value in hexadecimal, and a comma or the end of the line`,
			`6 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x1004",` + last + `}`,
		},
	} {
		if diff := cmp.Diff(want, dialecttest.Lines(t, Dialect, museum[i].text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", museum[i].producer, diff)
		}
	}
}

// TestProblems says what is wrong with lines, and where. What can be read of them is read.
func TestProblems(t *testing.T) {
	for line, want := range map[string]string{
		"hello":                         `column 1: found "hello", expected a name and =`,
		"rax=0x1":                       `column 1: found "rax=0x1", expected names and values with commas between, with a pc`,
		"rip=0x10000000000000000":       `column 7: found "10000000000000000", expected a value in hexadecimal, and a comma or the end of the line`,
		"rip=0x1,rip=0x2":               `column 9: found "rip=0x2", expected no more than one pc`,
		"rip=0x1,":                      `column 9: found the end of the line, expected a name and =`,
		"rip=0x1,r$x=0x1":               `column 9: found "r$x=0x1", expected a name and =`,
		"rax=0x,rip=0x1":                `column 7: found ",rip=0x1", expected a value in hexadecimal, and a comma or the end of the line`,
		"rax=0xg,rip=0x1":               `column 7: found "g,rip=0x1", expected a value in hexadecimal, and a comma or the end of the line`,
		"mr=0x10,rip=0x1":               `column 6: found "10,rip=0x1", expected an address in hexadecimal and a colon`,
		"rip=0x1,mw=0x10:":              `column 17: found the end of the line, expected bytes in hexadecimal, and a comma or the end of the line`,
		"mrw=0x10:123,rip=0x1":          `column 10: found "123,rip=0x1", expected bytes in hexadecimal, and a comma or the end of the line`,
		"rip=0x1,mr=0x10:12 and others": `column 17: found "12", expected bytes in hexadecimal, and a comma or the end of the line`,
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
	for _, text := range []string{museum[0].text, strings.Join([]string{
		"rax=0x0,rsp=0x7fffffffe760,rip=0x401000", "rsp=0x402250,mw=0x402250:0102030405060708090a,rip=0x401007",
		"what another program says", "mr=0x402250:01,mw=0x402250:ff,rip=0x401009", ""}, "\n")} {
		dialecttest.RoundTrip(t, Dialect, text)
		for _, r := range Dialect.Decode([]byte(text)) {
			if !writes(&r) {
				t.Errorf("line %d is said not to be written: %s", r.Line, r.Text)
			}
		}
	}
}

// TestBack: what a reader tries to go back to leaves the records that it has given as they are.
func TestBack(t *testing.T) {
	var text strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&text, "mw=0x1000:%08x,rip=0x%x\n", i, i)
	}
	r := itrace.NewReader(strings.NewReader(text.String()), Dialect)
	r.KeepStates(true)
	records := make([]itrace.Record, 3000)
	var n int
	for range 3 { // the buffer of the decoder has grown to what it needs
		var err error
		if n, err = r.Read(records); err != nil || n < 2000 {
			t.Fatal(n, err)
		}
	}
	var before []string
	for i := range n {
		before = append(before, string(records[i].Digits))
	}
	r.Back(records[n-3].Line, records[n-3].Offset)
	for i := range n {
		if string(records[i].Digits) != before[i] {
			t.Fatalf("record %d has other digits: %s, and had %s", i, records[i].Digits, before[i])
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, m := range museum[:2] {
		dialecttest.Allocations(t, Dialect, m.text)
	}
}

func FuzzTenet(f *testing.F) {
	var texts []string
	for _, m := range museum {
		texts = append(texts, m.text)
	}
	dialecttest.Fuzz(f, Dialect, texts...)
}

// BenchmarkRead reads lines with registers alone, and with memory.
func BenchmarkRead(b *testing.B) {
	b.Run("registers", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[0].text) })
	b.Run("memory", func(b *testing.B) { dialecttest.Benchmark(b, Dialect, museum[1].text) })
}
