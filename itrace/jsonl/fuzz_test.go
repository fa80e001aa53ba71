package jsonl

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"tracewell/itrace"
)

// syntax is what a line lacks that is no JSON.
var syntax = []string{
	"an object of JSON", `"," or "}"`, "the name of a member", `":"`, "a value", `"\"" at the end of a string`,
	"the end of what is nested", "the end of the line",
}

// FuzzLine: no line is too odd to be read, none that is an object of JSON is taken for something else, and what is written of a
// record is JSON that reads the same.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"instruction","time":1,"scale":"clk","cpu":0,"id":1,"skipped":true,"address":"0x00000004","opcode":"0x3c080001",` +
			`"state":"A","mode":"svc","security":"ns","disasm":"lui t0,0x1"}`,
		`{"kind":"memory","time":10,"scale":"clk","cpu":0,"access":"read","size":8,"privilege":"X","address":"0x00103fc4","data":"0xx.-#"}`,
		` { "value" : "0X1F" , "cpu":null , "more" : [ { "a" : "]\"" } , 1e-3 ] , "kind" : "register" , "name" : "r\u0038" } `,
		`{"unknown":"a \"line\" \udcff\ud834\udd1e\ud834 \/\b\f\r\t"}`,
		`{"kind":"register","name":"x","value":"0x`, `{"kind":"register",}`, `{"a":1]`, `{}`, `[]`, ``, `{"unknown":"\n"}`, `{"time":-1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 {
			return
		}
		var r itrace.Record
		before := bytes.Clone(line)
		problem := newParser().Parse(line, &r)
		if !bytes.Equal(line, before) {
			t.Fatalf("%q became %q", before, line)
		}
		if problem != nil {
			if problem.Column < 1 || problem.Column > len(line)+1 {
				t.Errorf("%q: a problem at column %d", line, problem.Column)
			}
			if text := bytes.TrimLeft(line, " \t\r"); slices.Contains(syntax, problem.Expected) && json.Valid(line) && text[0] == '{' {
				t.Errorf("%q: %v", line, problem)
			}
			return
		}
		written := Append(nil, &r)
		if !json.Valid(written) {
			t.Fatalf("%q: written as %q, which is no JSON", line, written)
		}
		var again itrace.Record
		if problem := newParser().Parse(written, &again); problem != nil {
			t.Fatalf("%q: written as %q: %v", line, written, problem)
		}
		if twice := Append(nil, &again); !bytes.Equal(written, twice) || r.Value != again.Value || r.Wild != again.Wild || r.Addr != again.Addr {
			t.Errorf("%q: written as %q and then as %q", line, written, twice)
		}
	})
}
