package matcher

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracewell/itrace"
	"tracewell/itrace/internal/swar"
)

// disturbed returns lines of a trace with a byte changed here and there, each with swar.Lookahead behind it.
func disturbed(random *rand.Rand) (lines [][]byte) {
	const bytesToSet = "0123456789abcdefABCDEFgxX-_:() \tRMWISTt\x00\x80/:@G`"
	for line := range bytes.Lines(append(sample(40), "7 clk MR4 80100000 00000001\n8 clk 0 IT (9) 80000000 4501 T usr : nop\n"...)) {
		for range 20 {
			changed := append(make([]byte, 0, len(line)+2*swar.Lookahead), line[:len(line)-1]...)
			if random.IntN(4) > 0 {
				changed[random.IntN(len(changed))] = bytesToSet[random.IntN(len(bytesToSet))]
			}
			lines = append(lines, line[:len(line)-1], changed)
		}
	}
	return lines
}

// TestTemplateIsRight reads lines after others that look like them, and has a parser that knows none read them.
func TestTemplateIsRight(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	p := newParser()
	for _, line := range disturbed(random) {
		fresh := &parser{cpu: p.cpu, template: template{start: never}}
		var got, want itrace.Record
		problem, wanted := p.Parse(trimmed(line), &got), fresh.Parse(trimmed(line), &want)
		if (problem == nil) != (wanted == nil) {
			t.Fatalf("%q: %v, want %v", line, problem, wanted)
		}
		if wanted != nil {
			continue
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", line, diff)
		}
	}
}

// TestNULs has lines whose address and opcode are NUL bytes, which is what a place that no instruction has taken yet holds.
func TestNULs(t *testing.T) {
	p := &parser{template: template{start: never}}
	line := []byte("1 clk 0 IT (1) 00000004 3c080001 A svc : nop\n" + strings.Repeat("1", 100))
	var r itrace.Record
	for range 2 {
		if problem := p.Parse(line[:44], &r); problem != nil {
			t.Fatal(problem)
		}
	}
	clear(line[15:23])
	clear(line[24:32])
	if lines, _ := p.FastPath(line[:len(line)-swar.Lookahead], make([]itrace.Brief, 1)); lines != 0 {
		t.Error("the fast path takes NUL bytes for digits")
	}
	if p.Parse(line[:44], &r) == nil {
		t.Errorf("NUL bytes are read as address %#x and opcode %#x", r.Addr, r.Value)
	}
}

// trimmed is what a Reader passes on of a line.
func trimmed(line []byte) []byte {
	for len(line) > 0 && line[len(line)-1] <= ' ' {
		line = line[:len(line)-1]
	}
	return line
}

// TestFastPathIsRight has the fast path read such lines, and Parse those that it took.
func TestFastPathIsRight(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	p := &parser{template: template{start: never}}
	taken := 0
	for _, line := range disturbed(random) {
		text := append(append([]byte{}, line...), '\n')
		text = append(text, bytes.Repeat([]byte{'1'}, 100)...)
		var briefs [1]itrace.Brief
		if lines, next := p.FastPath(text[:len(text)-swar.Lookahead], briefs[:]); lines == 1 {
			taken++
			compareBrief(t, p, line, briefs[0], next)
		}
		var r itrace.Record
		p.Parse(trimmed(text[:len(line)]), &r)
	}
	if taken < 500 {
		t.Errorf("the fast path took only %d lines", taken)
	}
}

func compareBrief(t *testing.T, p *parser, line []byte, g itrace.Brief, next int) {
	t.Helper()
	var r itrace.Record
	fresh := &parser{cpu: p.cpu, template: template{start: never}}
	if problem := fresh.Parse(trimmed(line), &r); problem != nil || r.Kind != g.Kind || r.CPU != p.cpu || next != len(line)+1 {
		t.Fatalf("%q read on the fast path as %+v, %d bytes: %v, %+v", line, g, next, problem, r)
	}
	var name [8]byte
	copy(name[:], r.Name)
	switch {
	case r.Kind == itrace.Register && (r.Wild || g.Value != r.Value || g.Name != eight(name)):
		t.Fatalf("%q read on the fast path as %+v", line, g)
	case r.Kind == itrace.Memory && (r.Wild || g.Addr != r.Addr || g.Size != r.Size):
		t.Fatalf("%q read on the fast path as %+v", line, g)
	}
}

func eight(b [8]byte) (x uint64) {
	for i, c := range b {
		x |= uint64(c) << (8 * i)
	}
	return x
}
