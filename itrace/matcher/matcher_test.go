package matcher

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracewell/itrace"
)

func text(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// TestParse reads lines of each kind. The three of the format's own page come first.
func TestParse(t *testing.T) {
	tests := []struct {
		line string
		want itrace.Record
	}{
		{"1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1", itrace.Record{
			Kind: itrace.Instruction, Time: 1, Scale: text("clk"), ID: 1, Addr: 4, AddrDigits: text("00000004"),
			Digits: text("3c080001"), Value: 0x3c080001, State: 'A', Mode: text("svc"), Disasm: text("lui t0,0x1")}},
		{"10 clk MR8 00103fc4 0010400000000000", itrace.Record{
			Kind: itrace.Memory, Time: 10, Scale: text("clk"), Size: 8, Addr: 0x103fc4, AddrDigits: text("00103fc4"),
			Digits: text("0010400000000000"), Value: 0x10400000000000}},
		{"14 clk R r8 00000000", itrace.Record{
			Kind: itrace.Register, Time: 14, Scale: text("clk"), Name: text("r8"), Digits: text("00000000")}},
		{"18446744073709551615 ns 3 IS (7) FFFFFFFF80000080 4501 T svc_ns : c.li a0, 0", itrace.Record{
			Kind: itrace.Instruction, Time: 1<<64 - 1, Scale: text("ns"), CPU: 3, ID: 7, Skipped: true, Addr: 0xffffffff80000080,
			AddrDigits: text("FFFFFFFF80000080"), Digits: text("4501"), Value: 0x4501, State: 'T', Mode: text("svc"),
			Security: text("ns"), Disasm: text("c.li a0, 0")}},
		{"0 clk 0 IT (0) 0 0123456789abcdef X m_odd :", itrace.Record{
			Kind: itrace.Instruction, Scale: text("clk"), AddrDigits: text("0"), Digits: text("0123456789abcdef"),
			Value: 0x123456789abcdef, State: 'X', Mode: text("m_odd")}},
		{"1 clk MW4X 0x10 DEADbeef", itrace.Record{
			Kind: itrace.Memory, Time: 1, Scale: text("clk"), Write: true, Size: 4, Privilege: 'X', Addr: 16, AddrDigits: text("10"),
			Digits: text("DEADbeef"), Value: 0xdeadbeef}},
		{" \t1 clk R r8 10", itrace.Record{
			Kind: itrace.Register, Time: 1, Scale: text("clk"), Name: text("r8"), Digits: text("10"), Value: 16}},
		{"1 clk MR2 10 000xxffff", itrace.Record{
			Kind: itrace.Memory, Time: 1, Scale: text("clk"), Size: 2, Addr: 16, AddrDigits: text("10"),
			Digits: text("000xxffff"), Value: 0xffff, Wild: true}},
		{"1\tclk  MR2T 10 xx-0", itrace.Record{
			Kind: itrace.Memory, Time: 1, Scale: text("clk"), Size: 2, Privilege: 'T', Addr: 16, AddrDigits: text("10"),
			Digits: text("xx-0"), Wild: true}},
		{"1 clk R v0 0000000000000001000000000000000a", itrace.Record{
			Kind: itrace.Register, Time: 1, Scale: text("clk"), Name: text("v0"),
			Digits: text("0000000000000001000000000000000a"), Value: 10}},
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
		{"x", `column 1: found "x", expected a time`},
		{"1", `column 2: found the end of the line, expected the scale of the time`},
		{"18446744073709551616 clk R r0 0", `column 1: found "18446744073709551616", expected a time`},
		{"1 clk", `column 6: found the end of the line, expected R, M or the number of a processor`},
		{"1 clk E 1", `column 7: found "E", expected R, M or the number of a processor`},
		{"1 clk 0 IF (1) 0 0 A svc :", `column 9: found "IF", expected IT or IS`},
		{"1 clk 0 IT 1 0 0 A svc :", `column 12: found "1", expected the number of the instruction in parentheses`},
		{"1 clk 0 IT (1) 0x 0 A svc :", `column 16: found "0x", expected an address in hexadecimal`},
		{"1 clk 0 IT (1) 11111111111111111 0 A svc :", `column 16: found "11111111111111111", expected an address in hexadecimal`},
		{"1 clk 0 IT (1) 0 g A svc :", `column 18: found "g", expected an opcode in hexadecimal`},
		{"1 clk 0 IT (1) 0 0 B svc :", `column 20: found "B", expected A, T or X`},
		{"1 clk 0 IT (1) 0 0 A", `column 21: found the end of the line, expected the mode of the processor`},
		{"1 clk 0 IT (1) 0 0 A svc nop", `column 26: found "nop", expected the end of the line`},
		{"1 clk R r0", `column 11: found the end of the line, expected a value in hexadecimal`},
		{"1 clk R r0 0 0", `column 14: found "0", expected the end of the line`},
		{"1 clk RR r0 0", `column 7: found "RR", expected R, M or the number of a processor`},
		{"1 clk M8 0 0", `column 7: found "M8", expected MR or MW and a number of bytes`},
		{" \t x", `column 4: found "x", expected a time`},
		{"1 clk MR4 00103fc4 0010400000000000", `column 20: found "0010400000000000", expected data of 4 bytes`},
		{"1 clk MR1 0 0xx100", `column 13: found "0xx100", expected data of 1 bytes`},
		{"1 clk MW4294967295 0 g", `column 22: found "g", expected data in hexadecimal`},
		{"1 clk MR0 0 0", `column 9: found "0", expected a number of bytes`},
		{"1 clk MRX 0 0", `column 9: found "X", expected a number of bytes`},
	}
	for _, test := range tests {
		var r itrace.Record
		if problem := newParser().Parse([]byte(test.line), &r); problem == nil || problem.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.line, problem, test.want)
		}
	}
}

// TestEffectsBelongToTheLatestProcessor reads effects of two processors.
func TestEffectsBelongToTheLatestProcessor(t *testing.T) {
	p := newParser()
	for _, test := range []struct {
		line string
		cpu  int32
	}{
		{"1 clk R r8 0", 0}, {"1 clk 1 IT (1) 0 0 A svc :", 1}, {"1 clk R r8 0", 1}, {"1 clk bad", 1}, {"1 clk MR1 0 0", 1},
		{"1 clk 0 IT (1) 0 0 A svc :", 0}, {"1 clk R r8 0", 0},
	} {
		var r itrace.Record
		p.Parse([]byte(test.line), &r)
		if r.CPU != test.cpu {
			t.Errorf("%s: of processor %d, want %d", test.line, r.CPU, test.cpu)
		}
	}
}

// sample is a trace of n instructions, each with its effects.
func sample(n int) []byte {
	var out bytes.Buffer
	for i := range n {
		fmt.Fprintf(&out, "%d clk 0 IT (%d) %016x %08x A svc_ns : addiu t0, t0, 0x%x\n", i, i, uint64(0xffffffff80000000)+uint64(4*i), 0x25080000+i, i)
		fmt.Fprintf(&out, "%d clk R r8 %016x\n", i, i)
		if i%4 == 0 {
			fmt.Fprintf(&out, "%d clk MW8 %016x %016X\n", i, 0x80100000+i, i*i)
		}
	}
	return out.Bytes()
}

// TestReadingAllocatesNothing reads a trace in memory again and again.
func TestReadingAllocatesNothing(t *testing.T) {
	data := sample(2000)
	records := make([]itrace.Record, 512)
	read := func(rounds int) float64 {
		return testing.AllocsPerRun(5, func() {
			r := itrace.NewReader(bytes.NewReader(bytes.Repeat(data, rounds)), Dialect)
			for {
				if _, err := r.Read(records); err == io.EOF {
					return
				} else if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if short, long := read(1), read(20); long > short {
		t.Errorf("%v allocations for a trace, %v for one twenty times as long", short, long)
	}
}

func BenchmarkRead(b *testing.B) {
	data := sample(20_000)
	records := make([]itrace.Record, 512)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r := itrace.NewReader(bytes.NewReader(data), Dialect)
		lines := 0
		for {
			n, err := r.Read(records)
			if err != nil {
				break
			}
			lines += n
		}
		if lines != 45_000 {
			b.Fatal(lines)
		}
	}
}

// TestAppendForeign: a record of a dialect that tells less is a line that can be read.
func TestAppendForeign(t *testing.T) {
	for _, test := range []struct {
		record itrace.Record
		want   string
	}{
		{itrace.Record{Kind: itrace.Instruction, AddrDigits: text("10"), Digits: text("0")}, "0 clk 0 IT (0) 10 0 A svc :"},
		{itrace.Record{Kind: itrace.Memory, Size: 4, AddrDigits: text("10"), Digits: text("0")}, "0 clk MR4 10 0"},
		{itrace.Record{Kind: itrace.Register, Name: text("r8"), Digits: text("0")}, "0 clk R r8 0"},
	} {
		line := Append(nil, &test.record)
		if _, problem := parse(line); problem != nil || string(line) != test.want {
			t.Errorf("got %q, %v, want %q", line, problem, test.want)
		}
	}
}
