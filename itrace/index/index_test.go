package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracewell/itrace"
	"tracewell/itrace/generate"
	"tracewell/itrace/jsonl"
	"tracewell/itrace/matcher"
)

// generated is a trace of so many instructions, and its records.
func generated(t testing.TB, o generate.Options) ([]byte, []itrace.Record) {
	t.Helper()
	var text bytes.Buffer
	if _, err := generate.Write(&text, o); err != nil {
		t.Fatal(err)
	}
	var records []itrace.Record
	for r, err := range itrace.NewReader(bytes.NewReader(text.Bytes()), matcher.Dialect).All() {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r.Clone())
	}
	return text.Bytes(), records
}

// indexed is a trace with its index in memory.
func indexed(t testing.TB, text []byte, d *itrace.Dialect) (*Trace, []byte) {
	t.Helper()
	var out bytes.Buffer
	if _, err := Build(bytes.NewReader(text), d, Identity{}, &out); err != nil {
		t.Fatal(err)
	}
	trace, err := Open(bytes.NewReader(out.Bytes()), int64(out.Len()), bytes.NewReader(text), d)
	if err != nil {
		t.Fatal(err)
	}
	return trace, out.Bytes()
}

// story is what records say, looked at one by one.
type story struct {
	records []itrace.Record
	steps   []int // of the instructions in records
}

func newStory(records []itrace.Record) *story {
	s := &story{records: records}
	for i := range records {
		if records[i].Kind == itrace.Instruction {
			s.steps = append(s.steps, i)
		}
	}
	return s
}

// before is the records that have happened at a position.
func (s *story) before(position int64) []itrace.Record {
	if position == int64(len(s.steps)) {
		return s.records
	}
	return s.records[:s.steps[position]]
}

func (s *story) meets(r *itrace.Record, w Want) bool {
	switch w.What {
	case Execution:
		return r.Kind == itrace.Instruction && r.Addr == w.Addr
	case Read, Write:
		return r.Kind == itrace.Memory && r.Write == (w.What == Write) && r.Addr < w.Addr+w.Size && w.Addr < r.Addr+uint64(r.Size)
	case RegisterSet:
		return r.Kind == itrace.Register && r.CPU == w.CPU && string(r.Name) == fmt.Sprint(names[w.Name])
	}
	return r.Kind == itrace.Instruction && r.CPU == w.CPU
}

// names are those of some registers, by the numbers that a test has found them to have.
var names map[uint32]string

// TestAgainstTheRecords asks for what there is at positions all over a trace and compares with a walk through all records.
func TestAgainstTheRecords(t *testing.T) {
	text, records := generated(t, generate.Options{Instructions: 40_000, CPUs: 2})
	trace, file := indexed(t, text, matcher.Dialect)
	s := newStory(records)
	if trace.Instructions != int64(len(s.steps)) || len(trace.CPUs) != 2 || len(trace.dir.leaves) < fanout+4 {
		t.Fatalf("%d instructions of %d, processors %v, %d blocks", trace.Instructions, len(s.steps), trace.CPUs, len(trace.dir.leaves))
	}
	if share := float64(len(file)) / float64(len(text)); share > 0.06 {
		t.Errorf("the index is %.1f %% of the trace", 100*share)
	}
	names = make(map[uint32]string)
	for i, name := range trace.Names {
		names[uint32(i)] = name
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		position := random.Int64N(trace.Instructions + 1)
		compareState(t, trace, s, position)
		for range 4 {
			compareSearch(t, trace, s, position, someWant(random, records, trace))
		}
	}
	compareState(t, trace, s, 0)
	compareState(t, trace, s, trace.Instructions)
}

func someWant(random *rand.Rand, records []itrace.Record, trace *Trace) Want {
	r := &records[random.IntN(len(records))]
	w := Want{CPU: r.CPU, Addr: r.Addr, Size: 1 + random.Uint64N(5)}
	switch r.Kind {
	case itrace.Instruction:
		w.What = [...]What{Execution, Turn}[random.IntN(2)]
	case itrace.Memory:
		w.What = [...]What{Read, Write}[random.IntN(2)]
	case itrace.Register:
		w.What = RegisterSet
		w.Name, _ = trace.Register(string(r.Name))
	}
	if random.IntN(10) == 0 {
		w = Want{What: Write, Addr: 0x500 + random.Uint64N(64), Size: 1} // nobody does
	}
	return w
}

func compareState(t *testing.T, trace *Trace, s *story, position int64) {
	t.Helper()
	held := map[string]string{}
	memory := map[uint64]byte{}
	for _, r := range s.before(position) {
		switch r.Kind {
		case itrace.Register:
			held[fmt.Sprint(r.CPU, string(r.Name))] = strings.ToLower(string(r.Digits))
		case itrace.Memory:
			for i := range uint64(r.Size) {
				memory[r.Addr+i] = byte(r.Value >> (8 * (uint64(r.Size) - 1 - i)))
			}
		}
	}
	values, err := trace.Registers(position)
	if err != nil || len(values) != len(held) {
		t.Fatalf("position %d: %d registers, want %d; %v", position, len(values), len(held), err)
	}
	for _, v := range values {
		if name := fmt.Sprint(v.CPU, trace.Names[v.Name]); held[name] != string(v.Digits) {
			t.Fatalf("position %d: register %s is %s, want %s", position, name, v.Digits, held[name])
		}
	}
	for _, from := range []uint64{0x1000 - 8, 0x7ff0 - 16, 0xfff0 - 4, 0x800 - 3} {
		p, known := make([]byte, 24), make([]Knowledge, 24)
		if err := trace.Memory(position, from, p, known, Layout{BigEndian: true}); err != nil {
			t.Fatal(err)
		}
		for i := range p {
			want, ok := memory[from+uint64(i)]
			if ok != (known[i] == Known) || p[i] != want {
				t.Fatalf("position %d: byte %x is %x (%v), want %x (%v)", position, from+uint64(i), p[i], known[i], want, ok)
			}
		}
	}
}

func compareSearch(t *testing.T, trace *Trace, s *story, position int64, w Want) {
	t.Helper()
	passed := len(s.before(position))
	next, previous := -1, -1
	for i := passed; i < len(s.records) && next < 0; i++ {
		if s.meets(&s.records[i], w) {
			next = i
		}
	}
	for i := passed - 1; i >= 0 && previous < 0; i-- {
		if s.meets(&s.records[i], w) {
			previous = i
		}
	}
	line := func(i int) int64 {
		if i < 0 {
			return -1
		}
		return s.records[i].Line
	}
	found := func(f *Found, err error) int64 {
		if err != nil {
			t.Fatal(err)
		}
		if f == nil {
			return -1
		}
		return f.Item.Line
	}
	if got := found(trace.Next(context.Background(), position, []Want{w})); got != line(next) {
		t.Errorf("%+v behind position %d: line %d, want %d", w, position, got, line(next))
	}
	if got := found(trace.Previous(context.Background(), position, []Want{w})); got != line(previous) {
		t.Errorf("%+v in front of position %d: line %d, want %d", w, position, got, line(previous))
	}
}

// TestPlaces finds positions by time and by line.
func TestPlaces(t *testing.T) {
	text, records := generated(t, generate.Options{Instructions: 20_000, TimeBase: 100})
	trace, _ := indexed(t, text, matcher.Dialect)
	s := newStory(records)
	for n := int64(0); n < trace.Instructions; n += 997 {
		r := &records[s.steps[n]]
		it, err := trace.Instruction(n)
		if err != nil || it.Line != r.Line || it.Offset != r.Offset || it.Addr != r.Addr {
			t.Fatalf("instruction %d: %+v, %v", n, it, err)
		}
		if at, err := trace.AtTime(r.Time); err != nil || at != n {
			t.Fatalf("time %d: position %d, want %d; %v", r.Time, at, n, err)
		}
		if at, err := trace.AtLine(r.Line); err != nil || at != n {
			t.Fatalf("line %d: position %d, want %d; %v", r.Line, at, n, err)
		}
		if line, err := trace.Line(it.Offset); err != nil || line != string(r.Text) {
			t.Fatalf("line %d: %q, %v", it.Line, line, err)
		}
	}
	if at, err := trace.AtTime(1 << 60); at != trace.Instructions || err != nil {
		t.Errorf("a time behind the end: %d, %v", at, err)
	}
}

// TestUnknownDigits writes a byte that nobody knows over one that is known.
func TestUnknownDigits(t *testing.T) {
	text := "1 clk 0 IT (1) 00001000 00000000 A svc : nop\n1 clk MW4 00000010 11223344\n1 clk R t0 0000000g\n" +
		"2 clk 0 IT (2) 00001004 00000000 A svc : nop\n2 clk MW2 00000012 5x66\n3 clk 0 IT (3) 00001008 00000000 A svc : nop\n"
	trace, _ := indexed(t, []byte(text), matcher.Dialect)
	p, known := make([]byte, 6), make([]Knowledge, 6)
	if err := trace.Memory(2, 0xf, p, known, Layout{BigEndian: true}); err != nil {
		t.Fatal(err)
	}
	want := "[0 17 34 0 102 0] [0 1 1 2 1 0]"
	if got := fmt.Sprint(p, known); got != want {
		t.Errorf("memory is %s, want %s", got, want)
	}
	if s := trace.Summary(); s.Unknown != 1 || s.FirstUnknown != 3 {
		t.Errorf("lines that are no records: %+v", s)
	}
}

// TestJSONLines indexes a dialect whose parser cannot begin everywhere.
func TestJSONLines(t *testing.T) {
	_, records := generated(t, generate.Options{Instructions: 12_000, CPUs: 3})
	var text []byte
	for i := range records {
		text = append(jsonl.Append(text, &records[i]), '\n')
	}
	trace, _ := indexed(t, text, jsonl.Dialect)
	if len(trace.dir.leaves) < 10 {
		t.Fatalf("%d blocks", len(trace.dir.leaves))
	}
	s := newStory(records)
	compareState(t, trace, s, 30_000)
	compareSearch(t, trace, s, 17_000, Want{What: Write, Addr: 0x1010, Size: 4})
}

// TestFewBlocksAreRead reads memory of which some bytes are never told of beside others that are all the time: no block is read for
// the former.
func TestFewBlocksAreRead(t *testing.T) {
	text, _ := generated(t, generate.Options{Instructions: 50_000})
	trace, _ := indexed(t, text, matcher.Dialect)
	p, known := make([]byte, 64), make([]Knowledge, 64)
	const sum = 0x800 // five bytes are written again and again
	if err := trace.Memory(trace.Instructions, sum-16, p, known, Layout{BigEndian: true}); err != nil {
		t.Fatal(err)
	}
	if n := len(trace.blocks.entries); n > 2 || known[15] != Unseen || known[20] != Known || known[21] != Unseen {
		t.Errorf("%d of %d blocks were read to find out %v", n, len(trace.dir.leaves), known)
	}
	if _, err := trace.Next(context.Background(), 0, []Want{{What: Write, Addr: sum - 16, Size: 16}, {What: Read, Addr: sum + 5, Size: 8}}); err != nil {
		t.Fatal(err)
	}
	if n := len(trace.blocks.entries); n > 2 {
		t.Errorf("%d blocks were read to find nothing", n)
	}
}

// TestEach asks for all that happened between two positions, in ranges that begin and end around the boundaries of blocks, and
// compares with a walk through all records.
func TestEach(t *testing.T) {
	text, records := generated(t, generate.Options{Instructions: 20_000, CPUs: 2})
	trace, _ := indexed(t, text, matcher.Dialect)
	number := make([]int64, len(records)) // of the instruction that each record belongs to
	n := int64(-1)
	for i := range records {
		if records[i].Kind == itrace.Instruction {
			n++
		}
		number[i] = n
	}
	var ends []int64
	for _, l := range trace.dir.leaves {
		for d := int64(-2); d <= 2; d++ {
			ends = append(ends, min(max(l.first+d, Ahead), trace.Instructions))
		}
	}
	ends = append(ends, trace.Instructions)
	names = make(map[uint32]string)
	for i, name := range trace.Names {
		names[uint32(i)] = name
	}
	s := newStory(records)
	random := rand.New(rand.NewPCG(7, 8))
	for range 3 {
		wants := []Want{someWant(random, records, trace), someWant(random, records, trace)}
		for range 60 {
			from, to := ends[random.IntN(len(ends))], ends[random.IntN(len(ends))]
			if from > to {
				from, to = to, from
			}
			var want, got, back []int64
			for i := range records {
				meets := s.meets(&records[i], wants[0]) || s.meets(&records[i], wants[1])
				if meets && number[i] >= from && number[i] < to {
					want = append(want, records[i].Line)
				}
			}
			see := func(lines *[]int64) func(Found) bool {
				return func(f Found) bool {
					*lines = append(*lines, f.Item.Line)
					return true
				}
			}
			if err := errors.Join(trace.Each(t.Context(), from, to, wants, see(&got)), trace.EachBack(t.Context(), from, to, wants, see(&back))); err != nil {
				t.Fatal(err)
			}
			slices.Reverse(back)
			if !slices.Equal(want, got) || !slices.Equal(want, back) {
				t.Fatalf("%+v from %d to %d: %d lines forwards and %d backwards, want %d", wants, from, to, len(got), len(back), len(want))
			}
		}
	}
}

// TestUntoldBytes has accesses and instructions of which the trace tells no data: they tell nothing of memory, but for a write, which
// makes it unknown.
func TestUntoldBytes(t *testing.T) {
	untold := itrace.Extra{Scope: itrace.NoOpcode | itrace.NoLoads | itrace.NoLoaded | itrace.NoStored}
	step := func(addr string) itrace.Record {
		return itrace.Record{Kind: itrace.Instruction, AddrDigits: []byte(addr), Extra: untold}
	}
	access := func(addr string, size uint32, write bool, digits string) itrace.Record {
		return itrace.Record{Kind: itrace.Memory, AddrDigits: []byte(addr), Size: size, Write: write, Digits: []byte(digits)}
	}
	var text []byte
	for _, r := range []itrace.Record{step("1000"), access("10", 2, true, "1122"), step("1004"), access("10", 2, false, ""), step("1008"),
		access("11", 1, true, ""), step("100c")} {
		text = append(jsonl.Append(text, &r), '\n')
	}
	trace, _ := indexed(t, text, jsonl.Dialect)
	if trace.Summary().Unknown > 0 {
		t.Fatalf("%+v\n%s", trace.Summary(), text)
	}
	for position, want := range []string{"[0 0] [0 0]", "[17 34] [1 1]", "[17 34] [1 1]", "[17 0] [1 2]", "[17 0] [1 2]"} {
		p, known := make([]byte, 2), make([]Knowledge, 2)
		if err := trace.Memory(int64(position), 0x10, p, known, Layout{BigEndian: true}); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p, known); got != want {
			t.Errorf("position %d: %s, want %s", position, got, want)
		}
	}
}
