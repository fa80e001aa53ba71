package survey

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/view"
)

func TestSummary(t *testing.T) {
	v := basic(t)
	even := func(f view.Frame) (Reading, bool) {
		return Reading{Number: number64(int64(f.Number))}, f.Number%2 == 0
	}
	s := NewSummary(v.Content.Header().Variables, even)
	c := Choice{End: v.Content.NumFrames()}
	if err := c.Each(t.Context(), v, func(f view.Frame) error { s.Add(f, v.Stepped(f)); return nil }); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, f := range s.Tracepoints() {
		fmt.Fprintf(&got, "%d: %d frames, %d steps, %d bytes, %d to %d; %d pcs, %v to %v; %d values, %d lacking\n", f.Tracepoint, f.Frames, f.Steps,
			f.Bytes, f.First, f.Last, f.PCs, f.Low, f.High, f.Values[0].Count, f.Values[0].Lacking)
		if _, ok := f.Rate(); ok || f.Timed != 0 {
			t.Errorf("tracepoint %d has times, which nobody collected", f.Tracepoint)
		}
	}
	const want = `2: 24 frames, 0 steps, 62184 bytes, 0 to 83; 1 pcs, 0x4011b5 to 0x4011b5; 12 values, 12 lacking
3: 11 frames, 0 steps, 27577 bytes, 3 to 84; 1 pcs, 0x4011e9 to 0x4011e9; 7 values, 4 lacking
4: 50 frames, 40 steps, 122260 bytes, 4 to 81; 5 pcs, 0x401247 to 0x401280; 24 values, 26 lacking
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", &got, want)
	}
}

// TestFigures has many tracepoints, in no order, of which each has the pcs and the texts of its own frames only.
func TestFigures(t *testing.T) {
	var numbers []trace.Number
	for i := range 60 {
		numbers = append(numbers, trace.Number(i*7%20+1))
	}
	v := basic(t)
	made := made(t, v.Content.Header(), numbers, func(*tfile.Builder, int) {})
	text := func(f view.Frame) (Reading, bool) {
		return Reading{Number: number64(int64(f.Number)), Text: "text", IsText: f.Number < 20}, true
	}
	s := NewSummary(nil, text)
	for i := range numbers {
		f, err := made.Frame(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.PC, f.HasPC = arch.Addr(0x1000+i), true
		s.Add(f, false)
	}
	figures := s.Tracepoints()
	if len(figures) != 20 {
		t.Fatalf("%d tracepoints", len(figures))
	}
	for i, f := range figures {
		low := arch.Addr(0x1000 + slices.Index(numbers, f.Tracepoint))
		if f.Tracepoint != trace.Number(i+1) || f.Frames != 3 || f.PCs != 3 || f.Low != low || f.High != low+40 {
			t.Errorf("%d: tracepoint %d, %d frames, %d pcs, %v to %v", i, f.Tracepoint, f.Frames, f.PCs, f.Low, f.High)
		}
		if m := f.Values[0]; m.Count != 3 || m.Texts.Count != 1 || fmt.Sprint(m.Texts.Frequent()) != "[{text 1}]" {
			t.Errorf("tracepoint %d: %d values, texts %v", f.Tracepoint, m.Count, m.Texts.Frequent())
		}
	}
}

// TestRate has frames with timestamps, two of them in one frame, and one frame without.
func TestRate(t *testing.T) {
	h := basic(t).Content.Header()
	times := [][]int64{{1_000_000}, {1, 1_500_000}, {}, {3_000_000}}
	v := made(t, h, []trace.Number{2, 2, 2, 2}, func(b *tfile.Builder, i int) {
		for _, at := range times[i] {
			b.Variable(h.Variables[0].Number, at)
		}
	})
	if h.Variables[0].Name != trace.TimestampName {
		t.Fatalf("the first variable is %s", h.Variables[0].Name)
	}
	// Two frames are enough for a rate, and frames of one microsecond have none.
	for second, want := range map[int64]string{1_500_000: "1 true", 500_000: "0 false"} {
		two := made(t, h, []trace.Number{2, 2}, func(b *tfile.Builder, i int) {
			b.Variable(h.Variables[0].Number, []int64{500_000, second}[i])
		})
		s := NewSummary(h.Variables)
		c := Choice{End: 2}
		if err := c.Each(t.Context(), two, func(f view.Frame) error { s.Add(f, false); return nil }); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintln(s.Tracepoints()[0].Rate()); got != want+"\n" {
			t.Errorf("got %swant %s", got, want)
		}
	}
	for variables, want := range map[*[]trace.Variable]string{&h.Variables: "1 true, 3 timed", {}: "0 false, 0 timed"} {
		s := NewSummary(*variables)
		c := Choice{End: v.Content.NumFrames()}
		if err := c.Each(t.Context(), v, func(f view.Frame) error { s.Add(f, false); return nil }); err != nil {
			t.Fatal(err)
		}
		figures := s.Tracepoints()[0]
		rate, ok := figures.Rate()
		if got := fmt.Sprint(rate, ok, ", ", figures.Timed, " timed"); strings.ReplaceAll(got, " ,", ",") != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
