package tfile

import (
	"bytes"
	"encoding/binary"
	"io"
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
	builder.AppendMemory(0x1000, make([]byte, 40-frameHeader-memoryHead))
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

// millionFrames returns a file of a million frames of size bytes.
func millionFrames(b *testing.B, size int) []byte {
	b.Helper()
	builder := Builder{Order: binary.LittleEndian}
	builder.Begin(nil, 2)
	builder.AppendMemory(0x1000, make([]byte, size-frameHeader-memoryHead))
	frame := builder.Finish()
	h := smallHeader(binary.LittleEndian)
	data := write(b, h)
	data = append(data[:len(data)-4], bytes.Repeat(frame, 1_000_000)...)
	return append(data, 0, 0, 0, 0)
}

// BenchmarkIndex opens files of a million small frames. The design asks for 1 GB/s.
func BenchmarkIndex(b *testing.B) {
	for name, size := range map[string]int{"40-byte frames": 40, "200-byte frames": 200} {
		b.Run(name, func(b *testing.B) {
			data := millionFrames(b, size)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				f, err := Open(bytes.NewReader(data), int64(len(data)))
				if err != nil || f.NumFrames() != 1_000_000 {
					b.Fatal(f.NumFrames(), err)
				}
			}
		})
	}
}

func BenchmarkFindPC(b *testing.B) {
	f := openReader(b, "queue-basic.tf")
	never := Query{Kind: ByPC, Low: arch.Addr(1)}
	b.SetBytes(f.starts[len(f.starts)-1] - f.starts[0])
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, err := f.Find(never, 0, ripOf); ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
