package generate

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"tracewell/itrace"
	"tracewell/itrace/matcher"
)

func generated(t testing.TB, o Options) (string, []Planted) {
	t.Helper()
	var out strings.Builder
	planted, err := Write(&out, o)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), planted
}

// TestEveryLineIsARecord reads a trace back and looks at what it is made of.
func TestEveryLineIsARecord(t *testing.T) {
	text, _ := generated(t, Options{Instructions: 20_000, CPUs: 2})
	var counts [4]int
	for r, err := range itrace.NewReader(strings.NewReader(text), matcher.Dialect).All() {
		if err != nil || r.Kind == itrace.Unknown {
			t.Fatalf("%s: %v, %v", r.Text, r.Problem, err)
		}
		counts[r.Kind]++
		if again := string(matcher.Append(nil, r)); again != string(r.Text) {
			t.Fatalf("%s is written as %s", r.Text, again)
		}
	}
	if counts[itrace.Instruction] != 40_000 || counts[itrace.Register] < 10_000 || counts[itrace.Memory] < 4_000 {
		t.Errorf("records of each kind: %v", counts)
	}
}

// TestPlantedFaults plants each fault in the middle: the lines before it are those of a trace without, and its line is the
// first that is not.
func TestPlantedFaults(t *testing.T) {
	right, _ := generated(t, Options{Instructions: 4000})
	lines := strings.Split(right, "\n")
	kinds, _ := FaultKinds()
	for _, kind := range kinds {
		text, planted := generated(t, Options{Instructions: 4000, Faults: []Fault{{Kind: kind, At: 2000}}})
		if len(planted) != 1 || planted[0].Instruction < 2000 {
			t.Errorf("%s: planted %v", kind, planted)
			continue
		}
		wrong := strings.Split(text, "\n")
		first := 0
		for first < min(len(lines), len(wrong)) && lines[first] == wrong[first] {
			first++
		}
		if kind == FaultPoll { // the answer of the device differs first, two lines behind the instruction
			first--
		}
		if got := planted[0].Line; got != int64(first+1) {
			t.Errorf("%s: first different line %d, said to be %d", kind, first+1, got)
		}
	}
}

func TestFaultText(t *testing.T) {
	for text, want := range map[string]Fault{
		"drop@0": {Kind: FaultDrop}, "value@12.1": {Kind: FaultValue, At: 12, CPU: 1}, "late@7:30": {Kind: FaultLate, At: 7, N: 30},
	} {
		var f Fault
		if err := f.UnmarshalText([]byte(text)); err != nil || f != want || f.String() != text {
			t.Errorf("%s: %v, %v", text, f, err)
		}
	}
	for _, text := range []string{"", "drop", "drop@", "drop@-1", "drop@x", "drop@1:0", "drop@1:x", "drop@1.x", "fall@1"} {
		if f := new(Fault); f.UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q: %v", text, f)
		}
	}
}

// TestVariations says the same in other ways; each is another text of as many records.
func TestVariations(t *testing.T) {
	plain, _ := generated(t, Options{Instructions: 3000})
	for _, o := range []Options{
		{Upper: true}, {Digits: 16}, {TimeBase: 100}, {TimeScale: "ns"}, {IDBase: 1}, {Security: "ns"}, {CRLF: true},
		{Shuffle: true}, {Late: 4}, {PlainNames: true},
	} {
		o.Instructions = 3000
		text, _ := generated(t, o)
		if text == plain || strings.Count(text, "\n") != strings.Count(plain, "\n") {
			t.Errorf("%+v: %d lines, want %d others", o, strings.Count(text, "\n"), strings.Count(plain, "\n"))
		}
	}
}

// TestSplit looks at the pieces of an access.
func TestSplit(t *testing.T) {
	text, _ := generated(t, Options{Instructions: 3000, Split: true})
	for _, access := range []string{" MW4 ", " MW2 ", " MW1 ", " MR4 ", " MR2 ", " MR1 "} {
		if !strings.Contains(text, access) {
			t.Errorf("no%s", access)
		}
	}
	whole, _ := generated(t, Options{Instructions: 3000})
	digits := func(text string) (n int) {
		for line := range strings.Lines(text) {
			if words := strings.Fields(line); words[2][0] == 'M' {
				n += len(words[4])
			}
		}
		return n
	}
	if digits(text) != digits(whole) {
		t.Errorf("%d digits of data in pieces, want %d", digits(text), digits(whole))
	}
}

func TestWriteReportsErrors(t *testing.T) {
	reader, writer := io.Pipe()
	reader.Close()
	if _, err := Write(writer, Options{Instructions: 1_000_000}); err == nil {
		t.Error("no error from a pipe that nobody reads")
	}
}

func BenchmarkWrite(b *testing.B) {
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		if _, err := Write(&out, Options{Instructions: 10_000}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(out.Len()))
	}
}
