package matcher

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracewell/itrace"
	"tracewell/itrace/internal/swar"
)

// meant is all that a record says, whatever it held before.
func meant(r *itrace.Record) string {
	common := fmt.Sprintf("%v %d %q %d ", r.Kind, r.Time, r.Scale, r.CPU)
	digits := fmt.Sprintf("%q %x %v ", r.Digits, r.Value, r.Wild)
	addr := fmt.Sprintf("%q %x ", r.AddrDigits, r.Addr)
	switch r.Kind {
	case itrace.Instruction:
		return common + digits + addr + fmt.Sprintf("%v %d %c %q %q %q", r.Skipped, r.ID, r.State, r.Mode, r.Security, r.Disasm)
	case itrace.Memory:
		return common + digits + addr + fmt.Sprintf("%v %d %c", r.Write, r.Size, r.Privilege)
	case itrace.Register:
		return common + digits + fmt.Sprintf("%q", r.Name)
	}
	return fmt.Sprintf("%q: %v", r.Text, r.Problem)
}

// seeds are lines of every kind, right and wrong.
var seeds = []string{
	"1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1",
	"10 clk MR8 00103fc4 0010400000000000",
	"14 clk R r8 00000000",
	"18446744073709551615 ns 2147483647 IS (7) FFFFFFFF80000080 4501 T svc_ns : c.li a0, 0",
	"0 clk 0 IT (0) 0 0123456789abcdef X _s :",
	"1\tclk  MW2T 0x10 0xxx-0.#",
	"1 clk R v0 0x0000000000000001000000000000000a",
	"1 clk R x 0x",
	"1 clk MR4294967295X 0 x",
	"007 \xff 00 IT (08) 0 0 A m :  \x01",
	"1 clk 0 IT (1) 00000004 3c080001 A svc :",
	"1 clk 0 IT (1) 00000004 3c080001 A svc",
	"1 clk R", "1", "", "x", " 1 clk R r0 0", "\t 1 clk 0 IT (1) 0 0 A m : n", "1 clk MR 0 0", "1 clk MR4 0 100000000", "1 clk MW1 0 0ff", "1 clk 0 IT () 0 0 A svc :",
}

// parse reads a line of which nothing is known before.
func parse(line []byte) (r itrace.Record, problem *itrace.SyntaxError) {
	problem = newParser().Parse(line, &r)
	return r, problem
}

// FuzzLine: no line is too odd to be read, and what is written of its record reads the same.
func FuzzLine(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 {
			return
		}
		line = bytes.TrimRightFunc(line, func(r rune) bool { return r <= ' ' }) // as a Reader does
		r, problem := parse(line)
		if problem != nil {
			if problem.Column < 1 || problem.Column > len(line)+1 {
				t.Errorf("%q: a problem at column %d", line, problem.Column)
			}
			return
		}
		written := Append(nil, &r)
		again, problem := parse(written)
		if problem != nil || r.Kind != itrace.Instruction && r.CPU != 0 {
			t.Fatalf("%q: written as %q: %v", line, written, problem)
		}
		if meant(&r) != meant(&again) {
			t.Errorf("%q: written as %q:\n%s\n%s", line, written, meant(&r), meant(&again))
		}
		if twice := Append(nil, &again); !bytes.Equal(written, twice) {
			t.Errorf("%q: written as %q and then as %q", line, written, twice)
		}
	})
}

// pieces is a reader that gives as much as it likes.
type pieces struct {
	*bytes.Reader
	random *rand.Rand
}

// Read implements io.Reader.
func (p pieces) Read(b []byte) (int, error) {
	return p.Reader.Read(b[:min(len(b), 1+p.random.IntN(1<<p.random.IntN(10)))])
}

// records reads all records in batches.
func records(t *testing.T, in io.Reader, batch int) (all []string) {
	reader := itrace.NewReader(in, Dialect)
	for room := make([]itrace.Record, batch); ; {
		n, err := reader.Read(room)
		for i := range n {
			all = append(all, fmt.Sprintf("%d at %d: %s", room[i].Line, room[i].Offset, meant(&room[i])))
		}
		if err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// single is records for each line by itself, with no memory behind it and nothing expected of it but its processor.
func single(trace []byte) (all []string) {
	cpu, offset, number := int32(0), 0, 0
	for line := range bytes.Lines(trace) {
		number++
		start := offset
		offset += len(line)
		if line = bytes.TrimRightFunc(line, func(r rune) bool { return r <= ' ' }); len(line) == 0 {
			continue
		}
		r := itrace.Record{Text: line}
		p := newParser()
		p.cpu = cpu
		if r.Problem = p.Parse(slices.Clip(bytes.Clone(line)), &r); r.Problem != nil {
			r.Kind = itrace.Unknown
		}
		cpu = p.cpu
		all = append(all, fmt.Sprintf("%d at %d: %s", number, start, meant(&r)))
	}
	return all
}

// checkTrace reads a trace in several ways, which must come to the same.
func checkTrace(t *testing.T, trace []byte) {
	t.Helper()
	trace = bytes.TrimPrefix(trace, []byte("\xef\xbb\xbf"))
	want := single(trace)
	random := rand.New(rand.NewPCG(uint64(len(trace)), 7))
	for _, in := range []io.Reader{bytes.NewReader(trace), pieces{bytes.NewReader(trace), random}} {
		got := records(t, in, 1+random.IntN(40))
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("%q: %d and %d records, of which these differ:\n%q\n%q", trace, len(got), len(want),
					got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
			}
		}
	}
}

// checkFastPaths: what the fast path reads of lines is what is parsed.
func checkFastPaths(t *testing.T, trace []byte) {
	t.Helper()
	p := newParser()
	room := append(bytes.Clone(trace), make([]byte, swar.Lookahead)...)
	briefs := make([]itrace.Brief, 5)
	for at := 0; at < len(trace); {
		lines, next := p.FastPath(room[at:len(trace)], briefs)
		for i, g := range briefs[:lines] {
			end := next
			if i+1 < lines {
				end = briefs[i+1].At
			}
			line := room[at+g.At : at+end]
			var r itrace.Record
			again := &parser{cpu: p.cpu, template: template{start: never}}
			problem := again.Parse(bytes.TrimRightFunc(line, func(r rune) bool { return r <= ' ' }), &r)
			var name [8]byte
			binary.LittleEndian.PutUint64(name[:], g.Name)
			switch {
			case problem != nil || r.Kind != g.Kind || again.cpu != p.cpu || bytes.Count(line, []byte{'\n'}) != 1:
			case r.Kind == itrace.Register && (string(bytes.TrimRight(name[:], "\x00")) != string(r.Name) || r.Value != g.Value || r.Wild):
			case r.Kind == itrace.Memory && (r.Addr != g.Addr || r.Size != g.Size):
			default:
				continue
			}
			t.Fatalf("%q: %q is read on the fast path as %+v, and is %s, %v", trace, line, g, meant(&r), problem)
		}
		if at += next; lines == len(briefs) || at == len(trace) {
			continue
		}
		line, _, _ := bytes.Cut(room[at:len(trace)], []byte{'\n'})
		if text := bytes.TrimRightFunc(line, func(r rune) bool { return r <= ' ' }); len(text) > 0 {
			p.Parse(text, new(itrace.Record))
		}
		at += len(line) + 1
	}
}

// FuzzTrace: a line is the same record whatever lines are before it, and whatever comes at once.
func FuzzTrace(f *testing.F) {
	f.Add([]byte(strings.Join(seeds, "\n")))
	f.Add([]byte(strings.Join(seeds, "\r\n") + "\n"))
	for _, seed := range seeds {
		f.Add([]byte(strings.Repeat(seed+"\n", 3) + seeds[0] + "\n" + seed))
	}
	f.Add(sample(3))
	f.Fuzz(func(t *testing.T, trace []byte) {
		checkTrace(t, trace)
		checkFastPaths(t, trace)
	})
}

// TestMutatedTraces changes a byte here and there in lines of one shape, which are read by what the ones before looked like.
func TestMutatedTraces(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 4))
	const alphabet = "0123456789abcdefgAFTXRWMIS() \t\r\n_:.x#-\x00\x7f\x80\xff"
	for range 1000 {
		trace := sample(20)
		for range random.IntN(12) {
			at, c := random.IntN(len(trace)), alphabet[random.IntN(len(alphabet))]
			switch random.IntN(3) {
			case 0:
				trace[at] = c
			case 1:
				trace = slices.Insert(trace, at, c)
			default:
				trace = slices.Delete(trace, at, at+1)
			}
		}
		checkTrace(t, trace)
		checkFastPaths(t, trace)
	}
}
