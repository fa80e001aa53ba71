package match

import (
	"io"
	"math"
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

// liveHeap measures the memory that is in use: what is left when the garbage has been collected, so that it does not matter when
// that would have been otherwise.
type liveHeap struct {
	before, most uint64 // bytes
	times        int
}

func newLiveHeap() *liveHeap { return &liveHeap{before: liveBytes()} }

func liveBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// measure notes the memory in use, beyond what was before.
func (l *liveHeap) measure() {
	l.times++
	if now := liveBytes(); now > l.before {
		l.most = max(l.most, now-l.before)
	}
}

// mostLive compares generated traces and returns the most memory that was in use on the way, in bytes.
func mostLive(t *testing.T, ref, oth generate.Options, o Options, want Verdict) uint64 {
	t.Helper()
	live, step := newLiveHeap(), int64(0)
	o.Progress = func(read, _ int64) {
		if read > step {
			step = read + 1<<19
			live.measure()
		}
	}
	r := Compare(t.Context(), Input{Name: "ref", Reader: flowing(ref)}, Input{Name: "other", Reader: flowing(oth)}, dialects, o)
	if r.Verdict != want || want == Equal && r.Compared.Instructions != ref.Instructions || live.times < 2 {
		t.Errorf("measured %d times: %s", live.times, show(r))
	}
	return live.most
}

// checkMemory compares traces of a length and of eight times as many instructions. They must take the same memory, but for the
// blocks that the goroutines which read and generate happen to hold: a leak of eight bytes for each instruction is found. How many
// blocks those are is a matter of scheduling, which only ever adds to what is measured, so the least of some runs counts.
func checkMemory(t *testing.T, measure func(n int64) uint64) {
	t.Helper()
	if underRace {
		t.Skip("what the race detector takes is not measured")
	}
	const n, times, blocks, runs = 50_000, 8, 2 << 20, 4
	short, long := uint64(math.MaxUint64), uint64(math.MaxUint64)
	for range runs {
		short, long = min(short, measure(n)), min(long, measure(times*n))
		if long <= short+blocks && long <= 16<<20 {
			return
		}
	}
	t.Errorf("%d bytes for %d instructions, %d for %d times as many", short, n, long, times)
}

// TestMemoryStays compares traces that differ in all times.
func TestMemoryStays(t *testing.T) {
	checkMemory(t, func(n int64) uint64 {
		return mostLive(t, generate.Options{Instructions: n}, generate.Options{Instructions: n, TimeBase: 77}, Options{}, Equal)
	})
}

// TestMemoryStaysWithDifferences compares traces with differences, effects that come late and a stretch that only one side has. No
// more is looked ahead than is needed for that, or how much is in use would depend on where it is measured.
func TestMemoryStaysWithDifferences(t *testing.T) {
	checkMemory(t, func(n int64) uint64 {
		faults := []generate.Fault{{Kind: generate.FaultState, At: n / 3}, {Kind: generate.FaultInterrupt, At: n / 2}, {Kind: generate.FaultDrop, At: n / 2, N: 500}}
		return mostLive(t, generate.Options{Instructions: n}, generate.Options{Instructions: n, Late: 3, Faults: faults}, Options{Window: 4, Lookahead: 1024}, Different)
	})
}

// TestComparingAllocatesNothing compares traces of a length and four times as long, those that are the same and those that differ
// in their times: what is allocated is the same, but for some slices that have grown.
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
