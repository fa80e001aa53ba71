package check

import (
	"bytes"
	"io"
	"testing"

	"tracewell/tfile"
	"tracewell/trace"
)

// clean is a well-formed file of many frames.
func clean(t testing.TB, frames int) *tfile.File {
	t.Helper()
	p := good(t)
	p.frames = nil
	data, _ := p.bytes()
	whole, err := tfile.OpenBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	h := whole.Header()
	h.Status = &trace.Status{Frames: int64(frames), Created: int64(frames)}
	w, err := tfile.NewWriter(&out, h)
	if err != nil {
		t.Fatal(err)
	}
	one := goodFrame()
	for range frames {
		if err := w.WriteFrame(one); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// Reading by an io.ReaderAt, as the command does, and not in memory.
	f, err := tfile.Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestCleanFramesCostNothing compares what files of few and of many frames allocate.
func TestCleanFramesCostNothing(t *testing.T) {
	cost := func(frames int) float64 {
		f := clean(t, frames)
		return testing.AllocsPerRun(5, func() {
			if report, err := File(f, nil, Options{}); err != nil || report.Verdict != WellFormed {
				t.Fatalf("%v %v", err, report.Findings)
			}
		})
	}
	if few, many := cost(1), cost(1000); many > few+10 {
		t.Errorf("%v allocations for a frame, %v for a thousand", few, many)
	}
}

func BenchmarkFrames(b *testing.B) {
	f := clean(b, 10000)
	b.SetBytes(f.End())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := File(f, nil, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFix(b *testing.B) {
	f := clean(b, 10000)
	report, err := File(f, nil, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(f.End())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := report.Fix(io.Discard, nil); err != nil {
			b.Fatal(err)
		}
	}
}
