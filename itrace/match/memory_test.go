package match

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"tracewell/itrace/generate"
)

// flowing is a trace that is generated while it is read.
func flowing(o generate.Options) io.Reader {
	r, w := io.Pipe()
	go func() {
		_, err := generate.Write(w, o)
		w.CloseWithError(err)
	}()
	return r
}

// peakMemory compares two traces of n instructions that differ in all times, and returns the most memory that was live, in bytes.
func peakMemory(t *testing.T, n int64) (peak uint64) {
	steps := 0
	measure := func(int64, int64) {
		if steps++; steps%200 == 0 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	}
	r := Compare(t.Context(), Input{Name: "ref", Reader: flowing(generate.Options{Instructions: n})},
		Input{Name: "other", Reader: flowing(generate.Options{Instructions: n, TimeBase: 77})}, dialects, Options{Progress: measure})
	if r.Verdict != Equal || r.Compared.Instructions != n {
		t.Error(show(r))
	}
	return peak
}

// TestMemoryStays compares traces of a length and four times as long: both take the same memory.
func TestMemoryStays(t *testing.T) {
	if underRace {
		t.Skip("what the race detector takes is not measured")
	}
	const n = 250_000
	short, long := peakMemory(t, n), peakMemory(t, 4*n)
	if long > short*6/5+1<<19 || long > 50<<20 {
		t.Errorf("%d bytes for %d instructions, %d for four times as many", short, n, long)
	}
}

// TestComparingAllocatesNothing compares traces of a length and four times as long, those that are the same and those that differ in
// their times: what is allocated is the same, but for some slices that have grown.
func TestComparingAllocatesNothing(t *testing.T) {
	if underRace {
		t.Skip("what the race detector takes is not measured")
	}
	const n = 50_000
	for _, base := range []uint64{0, 77} {
		allocated := func(n int64) float64 {
			ref, _ := generated(t, generate.Options{Instructions: n})
			oth, _ := generated(t, generate.Options{Instructions: n, TimeBase: base})
			return testing.AllocsPerRun(1, func() {
				Compare(t.Context(), Input{Name: "ref", Reader: strings.NewReader(ref)}, Input{Name: "other", Reader: strings.NewReader(oth)},
					dialects, Options{})
			})
		}
		if short, long := allocated(n), allocated(4*n); long > short+n/100 {
			t.Errorf("%v allocations for %d instructions, %v for four times as many", short, n, long)
		}
	}
}
