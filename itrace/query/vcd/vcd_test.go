package vcd

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"tracewell/itrace/execution"
	"tracewell/itrace/generate"
	"tracewell/itrace/index"
	"tracewell/itrace/matcher"
	"tracewell/itrace/query"
)

func generated(t *testing.T, o generate.Options) *query.Trace {
	t.Helper()
	var text bytes.Buffer
	if _, err := generate.Write(&text, o); err != nil {
		t.Fatal(err)
	}
	source := execution.Source{Name: "trace", Content: bytes.NewReader(text.Bytes()), Size: int64(text.Len())}
	e, _, err := execution.Open(source, matcher.Dialect, execution.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	trace, err := query.New(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// waves is a dump as a viewer reads it: for each signal the times and values of its changes.
type waves struct {
	end     uint64
	bits    map[string]int // by scope.name
	changes map[string][]moment
}

type moment struct {
	at    uint64
	value string // bits, extended to the width
}

// parsed reads a dump word by word, as the grammar of the standard has it.
func parsed(t *testing.T, dump string) *waves {
	t.Helper()
	w := &waves{bits: map[string]int{}, changes: map[string][]moment{}}
	names := map[string]string{}
	var scopes []string
	words := strings.Fields(dump)
	now, declared := uint64(0), false
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		section := func() (inside []string) {
			for words[0] != "$end" {
				inside, words = append(inside, words[0]), words[1:]
			}
			words = words[1:]
			return inside
		}
		switch {
		case word == "$scope":
			scopes = append(scopes, section()[1])
		case word == "$upscope":
			section()
			scopes = scopes[:len(scopes)-1]
		case word == "$var":
			v := section()
			name := strings.Join(append(scopes, v[3]), ".")
			n, err := strconv.Atoi(v[1])
			if names[v[2]] != "" || err != nil || v[4] != fmt.Sprintf("[%d:0]", n-1) || w.bits[name] != 0 {
				t.Fatalf("%q", v)
			}
			names[v[2]], w.bits[name] = name, n
		case word == "$enddefinitions":
			section()
			declared = len(scopes) == 0
		case word == "$comment", word == "$timescale":
			section()
		case word == "$dumpvars", word == "$end":
		case word[0] == '#':
			at, err := strconv.ParseUint(word[1:], 10, 64)
			if err != nil || at < now {
				t.Fatal(word, now)
			}
			now = at
		case word[0] == 'b' && declared:
			name := names[words[0]]
			words = words[1:]
			n := w.bits[name]
			if n == 0 || len(word) > n+1 {
				t.Fatalf("%s of %q has %d bits", word, name, n)
			}
			fill := "0"
			if word[1] == 'x' {
				fill = "x"
			}
			w.changes[name] = append(w.changes[name], moment{now, strings.Repeat(fill, n+1-len(word)) + word[1:]})
		default:
			t.Fatalf("%q", word)
		}
	}
	w.end = now
	return w
}

// at is the value of a signal at a time.
func (w *waves) at(name string, time uint64) (value string) {
	for _, c := range w.changes[name] {
		if c.at <= time {
			value = c.value
		}
	}
	return value
}

// bitsOf are hexadecimal digits as bits, x for those that are not known.
func bitsOf(digits string, n int) string {
	text := ""
	for _, c := range digits {
		if v, err := strconv.ParseUint(string(c), 16, 4); err == nil {
			text += fmt.Sprintf("%04b", v)
		} else {
			text += "xxxx"
		}
	}
	if text == "" {
		text = strings.Repeat("x", n)
	}
	return text
}

// TestHeld holds a dump against what the trace says of single moments, whatever the pieces are.
func TestHeld(t *testing.T) {
	trace := generated(t, generate.Options{Instructions: 3000, CPUs: 2})
	random := rand.New(rand.NewPCG(4, 4))
	var objects []query.Object
	for _, text := range []string{"t0", "sp", "ra", "0x800,4", "0x1000,40"} {
		o, err := trace.Object(text)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	for _, piece := range []int64{0, 1, 100, 777} {
		trace.From, trace.To = index.Ahead, trace.Instructions
		if piece == 100 {
			trace.From, trace.To = 1000, 4000
		}
		var out bytes.Buffer
		if err := Write(t.Context(), trace, objects, Options{Piece: piece}, &out); err != nil {
			t.Fatal(err)
		}
		w := parsed(t, out.String())
		if w.end != uint64(trace.To) || len(w.bits) != 8 {
			t.Errorf("it ends at %d, and has %d signals", w.end, len(w.bits))
		}
		for range 60 {
			// What an instruction has written is there behind it, which is in front of the next one.
			n := max(trace.From, 0) + random.Int64N(trace.To-max(trace.From, 0))
			held, err := trace.RegistersAt(t.Context(), n+1)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range held {
				name := fmt.Sprintf("cpu%d.%s", h.CPU, h.Name)
				if bits, ok := w.bits[name]; ok && w.at(name, uint64(n)) != bitsOf(string(h.Value), bits) {
					t.Fatalf("pieces of %d: %s at %d is %s, not %s", piece, name, n, w.at(name, uint64(n)), h.Value)
				}
			}
			image, err := trace.MemoryAt(n+1, 0x800, 4, false)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			for i, b := range image.Bytes { // big endian
				if image.Known[i] == index.Known {
					want += fmt.Sprintf("%08b", b)
				} else {
					want += "xxxxxxxx"
				}
			}
			if got := w.at("memory.0x800,4", uint64(n)); got != want {
				t.Fatalf("pieces of %d: memory at %d is %s, not %s", piece, n, got, want)
			}
		}
	}
}

// TestTime: the axis may be the time of the trace.
func TestTime(t *testing.T) {
	trace := generated(t, generate.Options{Instructions: 500, TimeBase: 7000})
	o, err := trace.Object("t0")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Write(t.Context(), trace, []query.Object{o}, Options{Time: true}, &out); err != nil {
		t.Fatal(err)
	}
	changes := parsed(t, out.String()).changes["cpu0.t0"]
	n := 1 // the first is that nothing is known
	if err := trace.Values(t.Context(), o, true, query.Pick{}, func(v query.Value) error {
		if c := changes[n]; c.at != v.Item.Time || c.value != bitsOf(string(v.Value), 32) || c.at < 7000 {
			t.Errorf("%+v, not %s at %d", c, v.Value, v.Item.Time)
		}
		n++
		return nil
	}); err != nil || n != len(changes) || n < 10 {
		t.Error(err, n)
	}
	trace.LastTime = 0
	if err := Write(t.Context(), trace, []query.Object{o}, Options{Time: true}, &out); err == nil {
		t.Error("a trace without times has an axis of times")
	}
}

// TestNames: names that the format would take for something else, more signals than characters, and digits that are not known.
func TestNames(t *testing.T) {
	if got := reference("a b[3]::é"); got != "a_b_3_::_" {
		t.Error(got)
	}
	seen := map[string]bool{}
	for n := range 20000 {
		if s := id(n); seen[s] || strings.ContainsAny(s, " \n") {
			t.Fatalf("%d: %q", n, s)
		} else {
			seen[s] = true
		}
	}
	for digits, want := range map[string]string{"1F": "b00011111", "?a": "bxxxx1010", "012": "b00010010"} {
		var out bytes.Buffer
		d := &dump{}
		d.Writer = bufio.NewWriter(&out)
		d.value([]byte(digits), 8)
		d.Flush()
		if out.String() != want {
			t.Errorf("%s: %s", digits, out.String())
		}
	}
}
