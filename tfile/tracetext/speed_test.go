package tracetext

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"tracewell/tfile"
)

// manyFrames returns a trace file of some 64 MB with the definitions and, again and again, the frames of a real one.
func manyFrames(b *testing.B) []byte {
	b.Helper()
	data := readReal(b, "queue-basic")
	f, err := tfile.OpenBytes(data)
	if err != nil {
		b.Fatal(err)
	}
	first, err := f.Frame(0)
	if err != nil {
		b.Fatal(err)
	}
	start, end := first.Offset(), len(data)-markerBytes
	return append(append(data[:start:start], bytes.Repeat(data[start:end], 300)...), 0, 0, 0, 0)
}

// bigMemory returns a trace file of a frame with 64 MB of memory.
func bigMemory(b *testing.B) []byte {
	b.Helper()
	memory := make([]byte, 64<<20)
	for i := range memory {
		memory[i] = byte(i * i >> 8)
	}
	builder := tfile.Builder{Order: binary.LittleEndian}
	builder.Begin([]byte(tfile.Magic+"R 4\n\n"), 1)
	builder.AppendMemory(0x1000, memory)
	return append(builder.Finish(), 0, 0, 0, 0)
}

// counter counts the bytes that are written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

var contents = map[string]func(*testing.B) []byte{"registers": manyFrames, "memory": bigMemory}

// BenchmarkWrite reports bytes of the trace file in a second.
func BenchmarkWrite(b *testing.B) {
	for name, content := range contents {
		b.Run(name, func(b *testing.B) {
			data := content(b)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Write(io.Discard, bytes.NewReader(data), int64(len(data))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRead reports bytes of the trace file in a second, and how many bytes of text there are for each.
func BenchmarkRead(b *testing.B) {
	for name, content := range contents {
		b.Run(name, func(b *testing.B) {
			data := content(b)
			text := []byte(textOf(b, data))
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				var n counter
				if err := Read(bytes.NewReader(text), &n); err != nil || int(n) != len(data) {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(len(text))/float64(len(data)), "text/binary")
		})
	}
}
