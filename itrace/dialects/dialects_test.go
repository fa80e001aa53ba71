package dialects

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/itrace"
	"tracewell/itrace/jsonl"
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
	if diff := cmp.Diff(objects.String(), convert(t, strings.NewReader(lines.String()), matcher.Dialect, jsonl.Dialect)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(lines.String(), convert(t, strings.NewReader(objects.String()), jsonl.Dialect, matcher.Dialect)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
