package ctf

import (
	"io"
	"testing"
)

// many is the frames of a trace many times over.
const many = 200

// BenchmarkWrite converts 17,000 frames of a trace file in memory; bytes are those of the stream.
func BenchmarkWrite(b *testing.B) {
	c := repeated{openTraceFile(b, "queue-basic.tf"), many}
	_, stream := written(b, c)
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		if err := Write(io.Discard, io.Discard, c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen finds the frames of a stream in memory.
func BenchmarkOpen(b *testing.B) {
	metadata, stream := written(b, repeated{openTraceFile(b, "queue-basic.tf"), many})
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		opened(b, metadata, stream)
	}
}

// BenchmarkReadFrame reads all frames of such a stream.
func BenchmarkReadFrame(b *testing.B) {
	metadata, stream := written(b, repeated{openTraceFile(b, "queue-basic.tf"), many})
	c := opened(b, metadata, stream)
	b.SetBytes(int64(len(stream)))
	var buf []byte
	for b.Loop() {
		for i := range c.NumFrames() {
			f, err := c.ReadFrame(i, buf)
			if err != nil {
				b.Fatal(err)
			}
			buf = f.Bytes()
		}
	}
}

func TestReadFrameAllocatesNothing(t *testing.T) {
	metadata, stream := written(t, openTraceFile(t, "queue-basic.tf"))
	c := opened(t, metadata, stream)
	buf := make([]byte, 1<<16)
	if allocs := testing.AllocsPerRun(100, func() {
		if _, err := c.ReadFrame(84, buf); err != nil {
			t.Fatal(err)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations for a frame", allocs)
	}
}

// TestWriteAllocatesForTheHeader compares what it takes to write few frames and many.
func TestWriteAllocatesForTheHeader(t *testing.T) {
	c := openTraceFile(t, "queue-basic.tf")
	allocs := func(times int) float64 {
		return testing.AllocsPerRun(20, func() {
			if err := Write(io.Discard, io.Discard, repeated{c, times}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, more := allocs(1), allocs(10); more > few+5 {
		t.Errorf("%v allocations for 85 frames, %v for 850", few, more)
	}
}
