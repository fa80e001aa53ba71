package tracepoint

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
)

// testMarker is a marker at 0x10 whose data is register 0, as often as a byte long as that says.
type testMarker struct{}

func (testMarker) AppendStatic(dst []byte, s target.Snapshot) []byte {
	n, _ := s.Register(0)
	return append(dst, bytes.Repeat([]byte{byte(n)}, int(n))...)
}

func (testMarker) Semaphores() []arch.Addr { return []arch.Addr{0x2000} }

func markerAt10(addr arch.Addr) Marker {
	if addr == 0x10 {
		return testMarker{}
	}
	return nil
}

var collectStatic = trace.Action{Kind: trace.CollectStatic}

func staticAt(number trace.Number, addr arch.Addr, actions ...trace.Action) trace.Tracepoint {
	t := tracepointAt(number, addr, actions...)
	t.Static = true
	return t
}

// stream reads the buffer by pieces of size bytes.
func (r *rig) stream(size int) []byte {
	var all []byte
	piece := make([]byte, size)
	for {
		n, err := r.ReadBuffer(int64(len(all)), piece)
		if errors.Is(err, io.EOF) {
			return all
		}
		r.must(err)
		all = append(all, piece[:n]...)
	}
}

// TestStaticTraceDataStays: frames in the buffer have it, what leaves the buffer does not. A frame ahead puts all others at odd
// places.
func TestStaticTraceDataStays(t *testing.T) {
	for _, c := range []struct{ circular, ahead bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
		r := newRig(t)
		r.SetMarkers(markerAt10)
		r.SetCircular(c.circular)
		r.must(r.SetBufferSize(200))
		r.start(staticAt(1, 0x10, collectStatic, collectMemory(0x1000, 2), collectStatic), tracepointAt(2, 0x20, collectStatic))
		if c.ahead {
			r.hit(&fakeThread{pc: 0x20})
		}
		for i := range uint64(9) {
			if c.circular || i < 3 {
				r.hit(&fakeThread{pc: 0x10, registers: [registerCount]uint64{i}, memory: []stretch{{0x1000, []byte{1, byte(i)}}}})
			}
			r.hit(&fakeThread{pc: 0x20, registers: [registerCount]uint64{i}})
		}
		r.must(r.Stop(trace.ReasonStop, ""))
		var plain []byte
		for f := range r.Frames() {
			data := f.Static()
			want := f.Tracepoint() == 1
			if (data != nil) != want || want && len(data) > 0 && !bytes.Equal(data, bytes.Repeat(data[:1], int(data[0]))) {
				t.Errorf("frame %d of tracepoint %d has the data %v", f.Number, f.Tracepoint(), data)
			}
			plain = append(plain, withoutStatic(f.Frame, r.layout.Order)...)
		}
		if r.NumFrames() < 8 || len(plain) >= r.buffer.used {
			t.Fatalf("%d frames, %d bytes of them plain", r.NumFrames(), len(plain))
		}
		for size := 1; size < 40; size++ {
			if got := r.stream(size); !bytes.Equal(got, plain) {
				t.Fatalf("%+v: by %d bytes: got %x, want %x", c, size, got, plain)
			}
		}
		var file bytes.Buffer
		r.must(r.Save(&file, ""))
		saved, err := tfile.OpenBytes(file.Bytes())
		r.must(err)
		for i := range saved.NumFrames() {
			if f, err := saved.Frame(i); err != nil || f.Static() != nil || f.Check() != nil {
				t.Errorf("frame %d of the file: %v, data %v", i, err, f.Static())
			}
		}
	}
}

// TestStaticTooLarge: static trace data counts for the size of a frame.
func TestStaticTooLarge(t *testing.T) {
	r := newRig(t)
	r.SetMarkers(markerAt10)
	r.must(r.SetBufferSize(100))
	r.start(staticAt(1, 0x10, collectStatic))
	r.hit(&fakeThread{pc: 0x10, registers: [registerCount]uint64{100 - 6 - 3}})
	if r.NumFrames() != 1 {
		t.Fatal("static trace data that just fits is in no frame")
	}
	r.hit(&fakeThread{pc: 0x10, registers: [registerCount]uint64{100 - 6 - 2}})
	r.wantEnd(trace.ReasonFull, 0, "")
}

// TestStreamWhileDropping reads on where reading was, in a circular buffer that has dropped frames meanwhile.
func TestStreamWhileDropping(t *testing.T) {
	r := newRig(t)
	r.SetMarkers(markerAt10)
	r.must(r.SetBufferSize(200))
	r.SetCircular(true)
	r.start(staticAt(1, 0x10, collectMemory(0x100, 8), collectStatic))
	memory := make([]byte, 8)
	piece := make([]byte, 3)
	for i := range 50 {
		memory[0] = byte(i)
		r.hit(&fakeThread{pc: 0x10, registers: [registerCount]uint64{uint64(i % 7)}, memory: []stretch{{0x100, memory}}})
		all := r.stream(1000)
		for offset := len(all) / 2; offset < len(all); offset += 5 {
			n, err := r.ReadBuffer(int64(offset), piece)
			if want := all[offset:min(offset+3, len(all))]; err != nil || !bytes.Equal(piece[:n], want) {
				t.Fatalf("after hit %d: % x at %d, %v; want % x", i, piece[:n], offset, err, want)
			}
			if offset%3 == 0 { // the cursor is in the middle, and now the oldest frame goes
				memory[0] = byte(i)
				r.hit(&fakeThread{pc: 0x10, registers: [registerCount]uint64{uint64(i % 7)}, memory: []stretch{{0x100, memory}}})
				n, err := r.ReadBuffer(int64(offset), piece)
				got := bytes.Clone(piece[:n])
				all = r.stream(1000)
				if want := all[min(offset, len(all)):min(offset+3, len(all))]; err != nil && len(want) > 0 || !bytes.Equal(got, want) {
					t.Fatalf("after hit %d and another: % x at %d, %v; want % x", i, got, offset, err, want)
				}
			}
		}
	}
}

// TestSemaphores: a location has those of its marker while a static tracepoint is at it.
func TestSemaphores(t *testing.T) {
	r := newRig(t)
	r.SetMarkers(markerAt10)
	semaphores := func(want ...arch.Addr) {
		t.Helper()
		if got := r.target.sites[0x10]; !slices.Equal(got, want) || !r.target.has(0x10) {
			t.Errorf("semaphores %v, want %v", got, want)
		}
	}
	r.start(tracepointAt(2, 0x10))
	semaphores()
	r.must(r.Define(staticAt(1, 0x10), false))
	semaphores(0x2000)
	r.must(r.Stop(trace.ReasonStop, ""))
	r.must(r.Start(&r.target, 1))
	semaphores(0x2000)
}
