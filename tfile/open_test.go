package tfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/trace"
)

// smallHeader is a header that uses every kind of line.
func smallHeader(order arch.ByteOrder) Header {
	return Header{
		Order:        order,
		RegisterSize: 16,
		Status: &trace.Status{Reason: trace.ReasonStop, Description: "done", Frames: 4, Created: 4,
			Free: 100, Size: 200, Notes: "a note", User: "ada"},
		Variables: []trace.Variable{
			{Number: trace.Timestamp, Builtin: true, Name: "trace_timestamp"},
			{Number: 2, Initial: -5, Name: "neg"},
		},
		Tracepoints: []trace.Tracepoint{
			{Number: 2, Addr: 0x401131, Enabled: true, Step: 1, Pass: 3, Condition: []byte{0x22, 1, 0x27},
				Actions:     []trace.Action{{Kind: trace.CollectRegisters, Mask: []byte{0xff}}},
				StepActions: []trace.Action{{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: 0x404020, Length: 4}},
				Source:      trace.Source{At: "*0x401131", Cond: "1", Commands: []string{"collect $regs"}}, Hits: 17, Usage: 99},
			{Number: 1, Addr: 0x401200},
		},
		Description: "<target>\n  <architecture>mips</architecture>\n</target>",
		Other:       []string{"later something new"},
	}
}

// smallFrames returns four frames: registers, memory and a variable; nothing; a variable; static data and memory.
func smallFrames(order arch.ByteOrder) [][]byte {
	b := Builder{Order: order}
	var frames [][]byte
	b.Begin(nil, 2)
	copy(b.Registers(16), "0123456789abcdef")
	b.AppendMemory(0x404020, []byte("mem"))
	b.Variable(2, -7)
	frames = append(frames, b.Finish())
	b.Begin(nil, 1)
	frames = append(frames, b.Finish())
	b.Begin(nil, 1)
	b.Variable(2, 1<<40)
	frames = append(frames, b.Finish())
	b.Begin(nil, 2)
	b.AppendStatic([]byte("static"))
	b.AppendMemory(0x10, []byte{1, 2, 3, 4})
	return append(frames, b.Finish())
}

// write writes all that a Writer can be made to write.
func write(t testing.TB, h Header, frames ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, h, KeepUnknownLines(), KeepStatic())
	if err != nil {
		t.Fatal(err)
	}
	for _, frame := range frames {
		if err := w.WriteFrame(frame); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var orders = map[string]arch.ByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian}

func TestRoundTrip(t *testing.T) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			h, frames := smallHeader(order), smallFrames(order)
			data := write(t, h, frames...)
			f, err := Open(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(h, f.Header()); diff != "" {
				t.Errorf("header (-written +read):\n%s", diff)
			}
			if f.OrderSource() != OrderFrames {
				t.Errorf("byte order %v, want it found from the frames", f.OrderSource())
			}
			var got [][]byte
			for i := range f.NumFrames() {
				got = append(got, frameOf(t, f, i).Bytes())
			}
			if diff := cmp.Diff(frames, got); diff != "" {
				t.Errorf("frames (-written +read):\n%s", diff)
			}
			if again := write(t, f.Header(), got...); !bytes.Equal(again, data) {
				t.Errorf("written again the file differs:\n%s", cmp.Diff(string(data), string(again)))
			}
		})
	}
}

// TestEveryCut opens every beginning of a file: what is whole before the cut must be there, with an error that points.
func TestEveryCut(t *testing.T) {
	h, frames := smallHeader(binary.LittleEndian), smallFrames(binary.LittleEndian)
	data := write(t, h, frames...)
	definitions := int64(bytes.Index(data, []byte("\n\n")) + 2)
	ends := []int64{definitions}
	for _, frame := range frames {
		ends = append(ends, ends[len(ends)-1]+int64(len(frame)))
	}
	for cut := range int64(len(data)) {
		f, err := Open(bytes.NewReader(data[:cut]), cut)
		if cut < int64(len(Magic)) {
			if !errors.Is(err, ErrNotTraceFile) || f != nil {
				t.Errorf("cut at %d: %v, %v; want ErrNotTraceFile", cut, f, err)
			}
			continue
		}
		if cut >= ends[len(ends)-1]+2 { // two bytes of end marker are enough
			if err != nil || f.NumFrames() != len(frames) || len(f.Findings()) != len(wholeFindings(t, data)) {
				t.Errorf("cut at %d: %v, want no error", cut, err)
			}
			continue
		}
		var format *FormatError
		if !errors.Is(err, ErrTruncated) || !errors.As(err, &format) || f == nil {
			t.Fatalf("cut at %d: %v, want ErrTruncated", cut, err)
		}
		whole := 0
		for whole < len(frames) && ends[whole+1] <= cut {
			whole++
		}
		if f.NumFrames() != whole {
			t.Errorf("cut at %d: %d frames, want %d", cut, f.NumFrames(), whole)
		}
		for i := range f.NumFrames() {
			if !bytes.Equal(frameOf(t, f, i).Bytes(), frames[i]) {
				t.Errorf("cut at %d: frame %d differs", cut, i)
			}
		}
		wantOffset := ends[whole]
		if cut < definitions {
			wantOffset = int64(bytes.LastIndexByte(data[:cut], '\n') + 1)
		}
		if format.Offset != wantOffset {
			t.Errorf("cut at %d: error points at %d, want %d: %v", cut, format.Offset, wantOffset, err)
		}
	}
}

func wholeFindings(t *testing.T, data []byte) []Finding {
	t.Helper()
	f, err := OpenBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	return f.Findings()
}

func TestErrorsPoint(t *testing.T) {
	const head = Magic + "R 4\n"
	tests := []struct{ data, want string }{
		{"", `not a trace file: offset 0: found "", expected "\x7fTRACE0\n"`},
		{"\x7fTRACE1\nR 4\n", `not a trace file: offset 0: found "\x7fTRACE1\n", expected "\x7fTRACE0\n"`},
		{head, "premature end of the trace file: offset 12: found the end of the file, expected an empty line after the definitions"},
		{head + "tp T",
			`premature end of the trace file: offset 12: found an unfinished line "tp T", expected an empty line after the definitions`},
		{head + "\n", "premature end of the trace file: offset 13: found the end of the file, expected a frame or the end marker"},
		{head + "\n\x01\x00\x02",
			`premature end of the trace file: offset 13: found "\x01\x00\x02" and the end of the file, expected a frame header of 6 bytes`},
		{head + "\n\x01\x00\x02\x00\x00\x00V",
			"premature end of the trace file: offset 13: found 1 bytes to the end of the file, expected 2 bytes of frame 0, of tracepoint 1"},
	}
	for _, test := range tests {
		_, err := OpenBytes([]byte(test.data))
		if err == nil || err.Error() != test.want {
			t.Errorf("%q:\n got %v\nwant %s", test.data, err, test.want)
		}
	}
}

// TestLongDefinitions: many definitions are read if they are text, and no more of other files than has to be.
func TestLongDefinitions(t *testing.T) {
	const line = "tp T1:0000000000401136:E:0:0"
	n := usualDefinitions/len(line) + 1
	lines := strings.Repeat(line+"\n", n)
	for _, file := range []struct {
		what, text string
		err        error
		lines      int // at least so many are read
	}{
		{"many definitions", lines + "\n\x00\x00\x00\x00", nil, n},
		{"an empty line behind a zero byte", lines + "\x00\n\n\x00\x00\x00\x00", ErrTooLong, n / 2},
		{"many definitions without end", lines, ErrTruncated, n},
		{"text without end", strings.Repeat("x", maxDefinitions), ErrTooLong, 0},
		{"a few lines, and no end", line + "\n" + strings.Repeat("\x00", usualDefinitions), ErrTooLong, 1},
	} {
		data := []byte(Magic + file.text)
		if file.err == nil || file.lines > 0 {
			boundedFuzz(t, data)
		}
		for _, open := range []func() (*File, error){
			func() (*File, error) { return OpenBytes(data) },
			func() (*File, error) { return Open(bytes.NewReader(data), int64(len(data))) },
		} {
			f, err := open()
			if !errors.Is(err, file.err) || f == nil || len(f.Definitions()) < file.lines {
				t.Errorf("%s: %v, want %v", file.what, err, file.err)
			}
		}
	}
}

func TestFindings(t *testing.T) {
	long := "tdesc " + strings.Repeat("x", MaxLine)
	data := Magic + "what is this\ntdesc\n" + long + "\ntp A7:10:R01\nstatus 5\nR 4\nR xyz\n\n\x00\x00\x00\x00extra"
	f, err := OpenBytes([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) int64 { return int64(strings.Index(data, text)) }
	want := []Finding{
		{at("what"), RuleUnknownLine, `"what is this"`},
		{at("tdesc\n"), RuleUnknownLine, `"tdesc"`},
		{at("tdesc x"), RuleLongLine, fmt.Sprintf("1005 bytes, of which GDB 13.1 takes at most 999: %q…", long[:40])},
		{at("status"), RuleBadLine, `"status 5": trace status: offset 0: found "5", expected one of the letters 01`},
		{at("R xyz"), RuleBadLine, `"R xyz": found "xyz", expected a size in hexadecimal`},
		{at("tp A7"), RuleUndefined, "tracepoint 7 at 0x10 has no T piece, which GDB 13.1 does not survive"},
		{at("extra"), RuleTrailing, "5 bytes behind the end marker"},
	}
	if diff := cmp.Diff(want, f.Findings()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	h := f.Header()
	if h.RegisterSize != 4 || len(h.Tracepoints) != 1 || h.Status != nil {
		t.Errorf("header %+v", h)
	}
	if diff := cmp.Diff([]string{"what is this", "tdesc"}, h.Other); diff != "" {
		t.Errorf("unknown lines (-want +got):\n%s", diff)
	}
	var lines []string
	for _, d := range f.Definitions() {
		if d.Offset != at(d.Text) {
			t.Errorf("line %.20q at offset %d, want %d", d.Text, d.Offset, at(d.Text))
		}
		lines = append(lines, d.Text)
	}
	if got := Magic + strings.Join(lines, "\n") + "\n\n"; !strings.HasPrefix(data, got) {
		t.Errorf("definitions are not as in the file: %q", got)
	}
}

func TestRegisterSize(t *testing.T) {
	tests := []struct {
		lines string
		want  int
		rules []*Rule
	}{
		{"R 974\n", 2420, nil},
		{"R  0x10\n", 16, nil},
		{"R 974\nR 10\n", 16, nil},
		{"", 0, []*Rule{RuleRegisterSize}},
		{"R 0\n", 0, []*Rule{RuleRegisterSize}},
		{"R -1\n", 0, []*Rule{RuleBadLine, RuleRegisterSize}},
		{"R 80000000\n", math.MaxInt32, []*Rule{RuleLargeRegisters}},
		{"R 80000000\nR 10\n", 16, nil},
		{"R 123456789123456789\n", 0, []*Rule{RuleBadLine, RuleRegisterSize}},
	}
	for _, test := range tests {
		f, err := OpenBytes([]byte(Magic + test.lines + "\n\x00\x00"))
		if err != nil {
			t.Fatal(err)
		}
		var rules []*Rule
		for _, finding := range f.Findings() {
			rules = append(rules, finding.Rule)
		}
		if f.Header().RegisterSize != test.want || !cmp.Equal(rules, test.rules) {
			t.Errorf("%q: size %d, findings %v; want %d, %v", test.lines, f.Header().RegisterSize, f.Findings(), test.want, test.rules)
		}
	}
}

func TestByteOrder(t *testing.T) {
	architecture := func(name string) string { return "<target><architecture>" + name + "</architecture></target>" }
	tests := []struct {
		name         string
		architecture string
		written      arch.ByteOrder
		frames       int
		given        arch.ByteOrder
		source       OrderSource
		findings     int
	}{
		{"x86", "i386:x86-64", binary.LittleEndian, 4, nil, OrderArchitecture, 0},
		{"x86 without frames", "i386:x86-64", binary.LittleEndian, 0, nil, OrderArchitecture, 0},
		{"s390 without frames", "s390:64-bit", binary.BigEndian, 0, nil, OrderArchitecture, 0},
		{"powerpc, big", "powerpc:common", binary.BigEndian, 4, nil, OrderFrames, 0},
		{"powerpc, little", "powerpc:common64", binary.LittleEndian, 1, nil, OrderFrames, 0},
		{"contradiction", "i386", binary.BigEndian, 4, nil, OrderFrames, 1},
		{"nothing tells", "arm", binary.LittleEndian, 0, nil, OrderAssumed, 0},
		{"no architecture", "", binary.LittleEndian, 0, nil, OrderAssumed, 0},
		{"given", "powerpc:common", binary.BigEndian, 0, binary.BigEndian, OrderGiven, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := smallHeader(test.written)
			h.Other = nil
			h.Description = architecture(test.architecture)
			var opts []Option
			if test.given != nil {
				opts = append(opts, WithOrder(test.given))
			}
			f, err := OpenBytes(write(t, h, smallFrames(test.written)[:test.frames]...), opts...)
			if err != nil {
				t.Fatal(err)
			}
			if f.Header().Order != test.written || f.OrderSource() != test.source || len(f.Findings()) != test.findings {
				t.Errorf("order %v, %v, findings %v; want %v, %v, %d findings",
					f.Header().Order, f.OrderSource(), f.Findings(), test.written, test.source, test.findings)
			}
		})
	}
}

func TestEndMarkers(t *testing.T) {
	tests := []struct {
		end      string
		trailing int64 // offset of trailing bytes from the marker, -1 for none
	}{
		{"\x00\x00", -1}, {"\x00\x00\x00", -1}, {"\x00\x00\x00\x00", -1},
		{"\x00\x00x", 2}, {"\x00\x00\x00x", 3}, {"\x00\x00\x00\x00\x00", 4},
	}
	for _, test := range tests {
		head := Magic + "R 4\n\n"
		f, err := OpenBytes([]byte(head + test.end))
		if err != nil {
			t.Errorf("%q: %v", test.end, err)
			continue
		}
		trailing := int64(-1)
		for _, finding := range f.Findings() {
			trailing = finding.Offset - int64(len(head))
		}
		marker := len(test.end)
		if test.trailing >= 0 {
			marker = int(test.trailing)
		}
		if trailing != test.trailing || f.EndMarker() != marker || f.End() != int64(len(head)+marker) {
			t.Errorf("%q: trailing bytes at %d, want %d; marker of %d bytes, want %d",
				test.end, trailing, test.trailing, f.EndMarker(), marker)
		}
	}
}

func TestProgress(t *testing.T) {
	data, _ := manyFrames(t, 40)
	for _, opts := range [][]Option{nil, {WithRecovery()}} {
		var calls []int64
		opts = append(opts, WithProgress(func(done int64) { calls = append(calls, done) }))
		if _, err := Open(bytes.NewReader(data), int64(len(data)), opts...); err != nil {
			t.Fatal(err)
		}
		if n := int64(len(data)) / progressStep; int64(len(calls)) < n-1 || int64(len(calls)) > n+1 {
			t.Errorf("%d calls for %d bytes", len(calls), len(data))
		}
		for i := 1; i < len(calls); i++ {
			if step := calls[i] - calls[i-1]; step < progressStep || step > 2*progressStep {
				t.Errorf("call %d comes %d bytes after the one before", i, step)
			}
		}
	}
}

func TestFindingsAreBounded(t *testing.T) {
	data := []byte(Magic + strings.Repeat("x\n", 100_000) + "R 4\n\n\x00\x00")
	f, err := OpenBytes(data)
	if err != nil || len(f.Findings()) != maxFindings+1 || len(f.Definitions()) != 100_001 {
		t.Errorf("%d findings in %d lines, %v", len(f.Findings()), len(f.Definitions()), err)
	}
	last := f.Findings()[maxFindings]
	if last.Text != fmt.Sprintf("%d more lines like the %d above", 100_000-maxFindings, maxFindings) {
		t.Errorf("the last one is %v", last)
	}
}

func TestLargeRegisters(t *testing.T) {
	for size, want := range map[int]int{MaxRegisters: 0, MaxRegisters + 1: 1} {
		f, err := OpenBytes(fmt.Appendf(nil, "%sR %x\n\n\x00\x00", Magic, size))
		if err != nil || len(f.Findings()) != want {
			t.Errorf("%d bytes of registers: %v, %v", size, f.Findings(), err)
		}
	}
}

// TestMalformedDefinition reads T pieces as far as GDB 13.1 does.
func TestMalformedDefinition(t *testing.T) {
	tests := []struct {
		line    string
		defined bool
		pass    uint64
		code    int
	}{
		{"tp T1:1000:E:0:3:X1,27", true, 3, 1},
		{"tp T1:1000:E:0:3:Q:X1,27", true, 3, 0},
		{"tp T1:1000:E:0:3:X1,27:Q", true, 3, 1},
		{"tp T1:1000:E:0:3\r", true, 3, 0},
		{"tp T1:1000:E:0:3:X1,27\r", true, 3, 0},
		{"tp T1:1000:E:0", false, 0, 0},
		{"tp T1:1000:Z:0:3", false, 0, 0},
		{"tp A1:1000:Q", false, 0, 0},
	}
	for _, test := range tests {
		f, err := OpenBytes([]byte(Magic + "R 4\n" + test.line + "\n\n\x00\x00"))
		if err != nil {
			t.Fatal(err)
		}
		malformed := test.code == 0 || strings.HasSuffix(test.line, "Q")
		if len(f.Findings()) != 0 != malformed || malformed && f.Findings()[0].Rule != RuleBadLine {
			t.Errorf("%q: %v", test.line, f.Findings())
		}
		points := f.Header().Tracepoints
		if len(points) == 0 != !test.defined || test.defined && (points[0].Pass != test.pass || len(points[0].Condition) != test.code) {
			t.Errorf("%q: %+v", test.line, points)
		}
	}
}
