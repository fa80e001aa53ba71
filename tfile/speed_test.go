package tfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"tracewell/arch"
)

func TestFrameAccessAllocatesNothing(t *testing.T) {
	for name, f := range map[string]*File{"in memory": openTestdata(t, "queue-basic.tf"), "read": openReader(t, "queue-basic.tf")} {
		buf := make([]byte, 1<<16)
		var memory [32]byte
		blocks := 0
		allocs := testing.AllocsPerRun(100, func() {
			frame, err := f.ReadFrame(84, buf)
			if err != nil {
				t.Fatal(err)
			}
			for range frame.Blocks() {
				blocks++
			}
			frame.Registers()
			frame.Variable(2)
			frame.ReadMemory(0x404080, memory[:])
			if frame.Check() != nil {
				t.Fatal(frame.Check())
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations for a frame", name, allocs)
		}
		if blocks == 0 {
			t.Errorf("%s: no blocks", name)
		}
	}
}

func openReader(t testing.TB, name string) *File {
	t.Helper()
	data := readTestdata(t, name)
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// buildFrame makes a frame as a hit does: registers, two reads of which one comes back short, a variable.
func buildFrame(b *Builder, buf []byte) []byte {
	b.Begin(buf, 2)
	clear(b.Registers(2420))
	place := b.Len()
	clear(b.Memory(0x404080, 32))
	clear(b.Memory(0x404020, 32))
	b.ShrinkMemory(16)
	b.ShrinkMemoryAt(place, 20)
	b.Variable(2, 42)
	return b.Finish()
}

func TestBuilderAllocatesNothing(t *testing.T) {
	b := &Builder{Order: binary.LittleEndian}
	buf := make([]byte, 0, 4096)
	length := 0
	if n := testing.AllocsPerRun(100, func() { length = len(buildFrame(b, buf)) }); n != 0 {
		t.Errorf("%v allocations for a frame", n)
	}
	if want := 6 + 1 + 2420 + 11 + 20 + 11 + 16 + 13; length != want {
		t.Errorf("a frame of %d bytes, want %d", length, want)
	}
}

func BenchmarkBuilder(b *testing.B) {
	builder := &Builder{Order: binary.LittleEndian}
	buf := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(buildFrame(builder, buf))))
	}
}

// BenchmarkWriter writes frames of 40 bytes, which is the dearest, and of 2.4 kB, which is a usual size.
func BenchmarkWriter(b *testing.B) {
	h := smallHeader(binary.LittleEndian)
	h.RegisterSize = 2420
	builder := Builder{Order: binary.LittleEndian}
	builder.Begin(nil, 2)
	builder.AppendMemory(0x1000, make([]byte, 40-FrameHeader-memoryHead))
	for name, frame := range map[string][]byte{"40-byte frames": builder.Finish(), "2.4-kB frames": buildFrame(&builder, nil)} {
		b.Run(name, func(b *testing.B) {
			w, err := NewWriter(io.Discard, h)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				if err := w.WriteFrame(frame); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAppender appends frames of 2.4 kB to a file, one at a time and many at once.
func BenchmarkAppender(b *testing.B) {
	h := appendHeader(binary.LittleEndian)
	h.RegisterSize = 2420
	frame := buildFrame(&Builder{Order: binary.LittleEndian}, nil)
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprintf("%d at once", n), func(b *testing.B) {
			file, err := os.Create(filepath.Join(b.TempDir(), "appended.tf"))
			if err != nil {
				b.Fatal(err)
			}
			defer file.Close()
			a, err := NewAppender(file, h)
			if err != nil {
				b.Fatal(err)
			}
			batch := bytes.Repeat(frame, n)
			b.SetBytes(int64(len(batch)))
			b.ReportAllocs()
			for b.Loop() {
				if err := a.Append(batch); err != nil {
					b.Fatal(err)
				}
				if a.End() > 1<<30 { // not to fill the disk
					a.end = 1000
				}
			}
		})
	}
}

// manyFrames returns a file of frames of size bytes, 200 MB of them at most.
func manyFrames(b testing.TB, size int) (data []byte, frames int) {
	b.Helper()
	builder := Builder{Order: binary.LittleEndian}
	builder.Begin(nil, 2)
	builder.AppendMemory(0x1000, make([]byte, size-FrameHeader-memoryHead))
	frame := builder.Finish()
	frames = min(1_000_000, 200_000_000/size)
	data = write(b, smallHeader(binary.LittleEndian))
	data = append(data[:len(data)-4], bytes.Repeat(frame, frames)...)
	return append(data, 0, 0, 0, 0), frames
}

// BenchmarkIndex opens files of many frames, in memory and on a disk, where they are in the page cache. The design asks for
// 1 GB/s.
func BenchmarkIndex(b *testing.B) {
	for _, size := range []int{40, 200, 2400, 60_000} {
		data, frames := manyFrames(b, size)
		name := filepath.Join(b.TempDir(), "many.tf")
		if err := os.WriteFile(name, data, 0o666); err != nil {
			b.Fatal(err)
		}
		file, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		defer file.Close()
		opens := map[string]func() (*File, error){
			"memory": func() (*File, error) { return OpenBytes(data) },
			"file":   func() (*File, error) { return Open(file, int64(len(data))) },
		}
		for where, open := range opens {
			b.Run(fmt.Sprintf("%d-byte frames in %s", size, where), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if f, err := open(); err != nil || f.NumFrames() != frames {
						b.Fatal(f.NumFrames(), err)
					}
				}
			})
		}
	}
}

// BenchmarkFindTracepoint looks for a tracepoint that made none of a million frames. The requirement is 20 ms.
func BenchmarkFindTracepoint(b *testing.B) {
	data, frames := manyFrames(b, 40)
	f, err := OpenBytes(data)
	if err != nil || f.NumFrames() != frames {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, err := f.Find(Query{Kind: ByTracepoint, Tracepoint: 3}, 0, nil); ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

// BenchmarkFindPC looks for a pc that no frame has, in a file of many frames.
func BenchmarkFindPC(b *testing.B) {
	frame := buildFrame(&Builder{Order: binary.LittleEndian}, nil)
	h := smallHeader(binary.LittleEndian)
	h.RegisterSize = 2420
	data := write(b, h)
	data = append(append(data[:len(data)-markerLen], bytes.Repeat(frame, 40_000)...), endMarker[:]...)
	name := filepath.Join(b.TempDir(), "many.tf")
	if err := os.WriteFile(name, data, 0o666); err != nil {
		b.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	f, err := Open(file, int64(len(data)))
	if err != nil {
		b.Fatal(err)
	}
	never := Query{Kind: ByPC, Low: arch.Addr(1)}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, ok, err := f.Find(never, 0, ripOf); ok || err != nil {
			b.Fatal(ok, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/40_000, "ns/frame")
}
