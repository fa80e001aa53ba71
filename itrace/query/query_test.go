package query_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/packed"
	"tracewell/itrace"
	"tracewell/itrace/dialects"
	"tracewell/itrace/execution"
	"tracewell/itrace/generate"
	"tracewell/itrace/matcher"
	"tracewell/itrace/query"
)

// TestAgainstTheRecords asks about everything that a trace has, in ranges of all lengths, and compares with a walk through all its
// records.
func TestAgainstTheRecords(t *testing.T) {
	trace, s := generated(t, generate.Options{Instructions: 12_000, CPUs: 2})
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		askAnything(t, trace, s, random, s.someAsked(random))
	}
}

// TestRealTraces does the same with the traces of real producers that are in the tree.
func TestRealTraces(t *testing.T) {
	paths, err := filepath.Glob("../../internal/test/producers/testdata/*.zst")
	if err != nil || len(paths) < 20 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			unpacked, err := packed.Open(f, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer unpacked.Close()
			text := make([]byte, unpacked.Size())
			if _, err := unpacked.ReadAt(text, 0); err != nil && err != io.EOF {
				t.Fatal(err)
			}
			trace, s := opened(t, text, dialects.All.Detect(text).Dialect, execution.Options{})
			random := rand.New(rand.NewPCG(11, 12))
			for range 5 {
				q := s.someAsked(random)
				q.cpu = -1
				askAnything(t, trace, s, random, q)
			}
		})
	}
}

// askAnything asks about something that a trace has. A question that the trace cannot answer has an error that says so, and no
// answer in the records.
func askAnything(t *testing.T, trace *query.Trace, s *story, random *rand.Rand, q asked) {
	t.Helper()
	ctx := t.Context()
	r := &s.records[random.IntN(len(s.records))]
	name, text, addr, size := "", fmt.Sprintf("0x%x", r.Addr), r.Addr, uint64(1)
	switch r.Kind {
	case itrace.Register:
		name = string(r.Name)
		text = name
	case itrace.Memory:
		addr, size = r.Addr-random.Uint64N(3), 1+random.Uint64N(6)
		text = fmt.Sprintf("0x%x..0x%x", addr, addr+size-1)
	}
	o, err := trace.Object(text)
	if err != nil {
		t.Fatal(err)
	}
	if name != "" && len(o.Names) > 1 {
		return // the walk looks for one of its names only
	}
	pick := restrict(t, trace, q)
	var got []string
	access := func(a query.Access) error {
		got = append(got, fmt.Sprint(a.Number, a.Item.Line, " ", strings.ToLower(string(a.Before)), ">", strings.ToLower(string(a.Value))))
		return nil
	}
	if err := trace.Writers(ctx, o, pick, access); !answered(t, err) {
		got = nil
	}
	compare(t, "writers of "+text, q, got, s.accesses(q, name, addr, size, true))
	if name == "" {
		got = nil
		if err := trace.Readers(ctx, o, pick, access); !answered(t, err) {
			got = nil
		}
		compare(t, "readers of "+text, q, got, s.accesses(q, name, addr, size, false))
	}
	changes := random.IntN(2) == 0
	got = nil
	if err := trace.Values(ctx, o, changes, pick, func(v query.Value) error {
		got = append(got, fmt.Sprint(v.Number, " ", strings.ToLower(string(v.Value))))
		return nil
	}); !answered(t, err) {
		return
	}
	compareValues(t, fmt.Sprintf("values of %s, changes %v", text, changes), q, got, s.values(q, name, addr, size, changes))
}

// answered reports whether a question was answered, and not refused since the trace tells nothing of what it is about.
func answered(t *testing.T, err error) bool {
	t.Helper()
	var untold *query.Untold
	if err != nil && !errors.As(err, &untold) {
		t.Fatal(err)
	}
	return err == nil
}

// compareValues compares values alone: the steps of Values are instructions, and the walk has the lines of accesses.
func compareValues(t *testing.T, what string, q asked, got, want []string) {
	t.Helper()
	alone := func(lines []string) (values []string) {
		for _, line := range lines {
			_, value, _ := strings.Cut(line, " ")
			if strings.Trim(value, "?") == "" {
				value = "" // nothing is known
			}
			values = append(values, value)
		}
		return values
	}
	compare(t, what, q, alone(got), alone(want))
}

// TestState compares registers and memory at positions with a walk through the records in front of these.
func TestState(t *testing.T) {
	trace, s := generated(t, generate.Options{Instructions: 8_000, CPUs: 2})
	random := rand.New(rand.NewPCG(3, 4))
	for range 25 {
		position := random.Int64N(s.instructions + 1)
		m, registers := memory{}, map[string]string{}
		for i := range s.records {
			r := &s.records[i]
			if r.number == position && r.Kind == itrace.Instruction {
				s.learn(m, r) // its opcode is there
			}
			if r.number >= position {
				break
			}
			s.learn(m, r)
			if r.Kind == itrace.Register {
				registers[fmt.Sprint(r.CPU, string(r.Name))] = string(r.Digits)
			}
		}
		held, err := trace.RegistersAt(t.Context(), position)
		if err != nil {
			t.Fatal(err)
		}
		known := 0
		for _, h := range held {
			if h.Name == "pc" || h.Name == "r0" || h.Name == "zero" {
				continue
			}
			if want := registers[fmt.Sprint(h.CPU, h.Name)]; want != string(h.Value) {
				t.Fatalf("position %d: %s of cpu %d is %q, want %q", position, h.Name, h.CPU, h.Value, want)
			}
			if len(h.Value) > 0 {
				known++
			}
		}
		if known != len(registers) {
			t.Errorf("position %d: %d registers are known, want %d", position, known, len(registers))
		}
		for _, from := range []uint64{0x7f0, 0xffe, 0x7fe0, 0x80008000, 0x400} {
			image, err := trace.MemoryAt(position, from, 40, false)
			if err != nil {
				t.Fatal(err)
			}
			for i, b := range image.Bytes {
				want, ok := m[from+uint64(i)]
				if got := fmt.Sprintf("%02x", b); ok != (image.Known[i] == 1) || ok && got != want {
					t.Fatalf("position %d: byte 0x%x is %s (%v), want %q", position, from+uint64(i), got, image.Known[i], want)
				}
			}
		}
	}
}

// TestPosition reads positions in all forms.
func TestPosition(t *testing.T) {
	trace, s := generated(t, generate.Options{Instructions: 2_000, TimeBase: 500})
	r := &s.records[len(s.records)/2]
	for r.Kind != itrace.Instruction {
		r = &s.records[r.Line]
	}
	first := slices.IndexFunc(s.records, func(o told) bool { return o.Kind == itrace.Instruction && o.Addr == r.Addr })
	for text, want := range map[string]int64{
		fmt.Sprint(r.number): r.number, fmt.Sprint("#", r.number): r.number, fmt.Sprint(":", r.Line): r.number,
		fmt.Sprint("@", r.Time): r.number, "begin": -1, "end": s.instructions, fmt.Sprintf("0x%x", r.Addr): s.records[first].number,
	} {
		if got, err := trace.Position(t.Context(), text, 0); err != nil || got != want {
			t.Errorf("%s: %d, want %d; %v", text, got, want, err)
		}
	}
	for text, want := range map[string]string{
		"": "an empty position", "2001": "there is no instruction 2001", ":999999": "there is no line 999999", "@x": "is no position",
		"push": "for symbols and lines name the program by --exec", "0x4": "is not executed", ":0": "there is no line 0", "#": "is no position",
	} {
		if _, err := trace.Position(t.Context(), text, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if all, err := trace.Object("0x0..0xffffffffffffffff"); err != nil || all.Size != 1<<64-1 {
		t.Errorf("all of memory: %+v, %v", all, err)
	}
	for text, want := range map[string]string{
		"0x20..0x10": "ends before it begins", "0x10,0": "has no bytes", "nothing": "neither a register", "&t0": "for variables name the program",
		"0..": "neither a register",
	} {
		if _, err := trace.Object(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestAround shows an instruction with its neighbours.
func TestAround(t *testing.T) {
	trace, s := generated(t, generate.Options{Instructions: 3_000, CPUs: 2})
	random := rand.New(rand.NewPCG(9, 9))
	for range 60 {
		q := s.someAsked(random)
		q.first, q.last = 0, 0
		restrict(t, trace, q)
		position, before, behind := random.Int64N(s.instructions), random.Int64N(5), random.Int64N(5)
		var got, want []string
		if err := trace.Around(t.Context(), position, before, behind, func(m query.Moment) error {
			got = append(got, fmt.Sprint(m.Number, len(m.Effects)))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		effects := map[int64]int{}
		var mine []int64
		for i := range s.records {
			r := &s.records[i]
			if r.Kind != itrace.Instruction {
				effects[r.number]++
			}
			if s.inside(r, q) {
				mine = append(mine, r.number)
			}
		}
		split, _ := slices.BinarySearch(mine, position)
		end := split
		if end < len(mine) && mine[end] == position {
			end++
		}
		for _, n := range mine[max(0, int64(split)-before):min(int64(len(mine)), int64(end)+behind)] {
			want = append(want, fmt.Sprint(n, effects[n]))
		}
		compare(t, fmt.Sprintf("%d before and %d behind %d", before, behind, position), q, got, want)
	}
}

// TestOneInstruction has one instruction write a byte three times: what was there before each write is the one before it.
func TestOneInstruction(t *testing.T) {
	text := "1 clk 0 IT (1) 00001000 00000000 A svc : nop\n1 clk MW1 00000010 01\n" +
		"2 clk 0 IT (2) 00001004 00000000 A svc : nop\n2 clk MW1 00000010 02\n2 clk MW2 00000010 0304\n2 clk MW1 00000010 05\n"
	trace, _ := opened(t, []byte(text), matcher.Dialect, execution.Options{Arch: "mips"})
	o, err := trace.Object("0x10")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := trace.Writers(t.Context(), o, query.Pick{}, func(a query.Access) error {
		got = append(got, string(a.Before)+">"+string(a.Value))
		return nil
	}); err != nil || fmt.Sprint(got) != "[>01 01>02 02??>0304 03>05]" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestInterrupted ends a search.
func TestInterrupted(t *testing.T) {
	trace, _ := generated(t, generate.Options{Instructions: 20_000})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	place, err := trace.Code("0x80008000")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trace.Count(ctx, place); err != context.Canceled {
		t.Errorf("an interrupted search: %v", err)
	}
}
