package dialects

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/itrace"
	"tracewell/itrace/generate"
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
		out = to.Append(out, []itrace.Record{*r})
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

// checkRoundTrip: a trace as text, as JSON lines and as text again is what it is as text at once. What that changes is blanks and
// ends of lines.
func checkRoundTrip(t *testing.T, trace []byte) {
	t.Helper()
	want := convert(t, bytes.NewReader(trace), matcher.Dialect, matcher.Dialect)
	objects := convert(t, bytes.NewReader(trace), matcher.Dialect, jsonl.Dialect)
	if got := convert(t, strings.NewReader(objects), jsonl.Dialect, matcher.Dialect); got != want {
		t.Errorf("%q\nis as JSON\n%s\nand again\n%q\nnot\n%q", trace, objects, got, want)
	}
	for line := range strings.Lines(objects) {
		if !json.Valid([]byte(line)) {
			t.Errorf("%q\ngives what is no JSON:\n%s", trace, line)
		}
	}
	if again := convert(t, strings.NewReader(objects), jsonl.Dialect, jsonl.Dialect); again != objects {
		t.Errorf("%q\nas JSON\n%s\nand that again\n%s", trace, objects, again)
	}
}

// FuzzRoundTrip: all bytes come back.
func FuzzRoundTrip(f *testing.F) {
	for _, pair := range pairs {
		f.Add([]byte(pair.line))
		f.Add([]byte(pair.line + "\r\n\r\n" + pairs[0].line + "\n"))
	}
	f.Fuzz(checkRoundTrip)
}

// TestSameBytes: lines with one blank between fields, numbers without surplus zeros and LF at their ends come back as they are.
func TestSameBytes(t *testing.T) {
	var trace strings.Builder
	if _, err := generate.Write(&trace, generate.Options{Instructions: 5000, CPUs: 2}); err != nil {
		t.Fatal(err)
	}
	objects := convert(t, strings.NewReader(trace.String()), matcher.Dialect, jsonl.Dialect)
	if convert(t, strings.NewReader(objects), jsonl.Dialect, matcher.Dialect) != trace.String() {
		t.Error("other bytes came back")
	}
}

// TestDetect: the dialects are told apart by what they write.
func TestDetect(t *testing.T) {
	const line = "garbage\n1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1\n" // registers and memory of some look the same
	for _, d := range All {
		if named, err := All.ByName(d.Name); named != d || err != nil {
			t.Errorf("%s: %v, %v", d.Name, named, err)
		}
		if !d.Written() || d.Groups { // internal/test/producers has real traces of these
			continue
		}
		trace := convert(t, strings.NewReader(line), matcher.Dialect, d)
		if got := All.Detect([]byte(trace)); got.Dialect != d || got.Known != 1 || got.Lines != 2 {
			t.Errorf("%s is taken for %v, %d of %d lines", d.Name, got.Dialect, got.Known, got.Lines)
		}
	}
}

// TestDetectSimilar: lines that are nearly the same in several dialects are taken for those of the producer.
func TestDetectSimilar(t *testing.T) {
	const (
		first  = "core   0: 0x0000000080000010 (0x00053583) "
		second = "3 0x0000000080000010 (0x00053583) x11 0x0000000000000007"
	)
	for text, want := range map[string]string{
		first + "DASM(00053583)\n" + second + " mem 0x0000000080001000\n":                "cva6",
		first + "ld a1, 0(a0)\n" + second + "\n":                                         "cva6",
		first + "ld a1, 0(a0)\ncore   0: " + second + "\n":                               "spike",
		first + "ld a1, 0(a0)\n" + first + "ld a1, 0(a0)\n":                              "spike",
		second + "\n" + second + " mem 0x0000000080001000\n":                             "spike",
		second + "\n" + second + "\n":                                                    "rocket",
		second[:34] + "x11 p11 0xXXXXXXXXXXXXXXXX\nx11 p11 0x1\n":                        "rocket",
		"0 " + second + "\n":                                                             "dromajo",
		"C0: 1 [1] pc=[1] W[r 1=0][1] R[r 1=0] R[r 2=0] inst=[00000013] nop\n":           "rocket",
		"80000080,,sp:80001080,,00001117,3,\"auipc   sp, 0x1\",,\n":                      "riscv-dv",
		"#1 0 80000000 d0580537 r 0a         d0580000  lui      x10, -0x2fa80\n":         "whisper",
		"80000000,1117,x2=80001000,i1,,,m,,auipc    x2; 0x1,0\n":                         "whisper",
		"Info 1: 'riscvOVPsim/cpu', 0x80000000(_start): Machine 4505     li      a0,1\n": "ovpsim",
		"[46] [M]: 0x00000000800000F4 (0x18005073) csrrwi x0, satp, 0x0\n":               "sail",
		"    73 0x10000 M (0x00000000) DASM(00000000)\n":                                 "cva6",
	} {
		if got := All.Detect([]byte(text)); got.Dialect == nil || got.Dialect.Name != want || got.Why == "" {
			t.Errorf("%q is taken for %v (%d of %d lines), want %s", text, got.Dialect, got.Known, got.Lines, want)
		}
	}
}
