package tracepoint

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"testing"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
)

// framesRig has four frames: 0 and 2 of tracepoint 1 at 0x10, 1 of tracepoint 2 at 0x20, and 3, a step of it, at 0x24. None
// has registers.
func framesRig(t *testing.T) *rig {
	r := newRig(t)
	r.start(tracepointAt(1, 0x10), steppingAt(2, 0x20, 1))
	r.hit(at(1, 0x10, 0))
	r.hit(at(2, 0x20, 0))
	r.hit(at(1, 0x10, 0))
	r.Stepped(at(2, 0x24, 7))
	return r
}

func TestFind(t *testing.T) {
	r := framesRig(t)
	byPC := func(a arch.Addr) tfile.Query { return tfile.Query{Kind: tfile.ByPC, Low: a} }
	byRange := func(low, high arch.Addr) tfile.Query { return tfile.Query{Kind: tfile.ByRange, Low: low, High: high} }
	outside := func(low, high arch.Addr) tfile.Query { return tfile.Query{Kind: tfile.ByOutside, Low: low, High: high} }
	const none = -1
	for _, test := range []struct {
		name  string
		query tfile.Query
		from  int
		want  int
	}{
		{"tracepoint", tfile.Query{Tracepoint: 2}, 0, 1},
		{"tracepoint, next", tfile.Query{Tracepoint: 2}, 2, 3},
		{"tracepoint, no more", tfile.Query{Tracepoint: 2}, 4, none},
		{"no such tracepoint", tfile.Query{Tracepoint: 3}, 0, none},
		{"pc", byPC(0x10), 0, 0},
		{"pc, next", byPC(0x10), 1, 2},
		{"pc of a step without registers", byPC(0x24), 0, 3},
		{"pc that only the definition has", byPC(0x20), 2, none},
		{"range includes its start", byRange(0x20, 0x22), 0, 1},
		{"range includes its end", byRange(0x18, 0x20), 0, 1},
		{"range, next", byRange(0x20, 0x24), 2, 3},
		{"range without frames", byRange(0x11, 0x1f), 0, none},
		{"outside", outside(0x10, 0x10), 0, 1},
		{"outside leaves out its start", outside(0x20, 0x30), 1, 2},
		{"outside leaves out its end", outside(0x00, 0x10), 0, 1},
		{"outside of all", outside(0, math.MaxUint64), 0, none},
		{"from before the first", byPC(0x10), -5, 0},
		{"from far behind the last", byPC(0x10), math.MaxInt, none},
	} {
		t.Run(test.name, func(t *testing.T) {
			n, ok := r.Find(test.query, test.from)
			if !ok {
				n = none
			}
			if n != test.want {
				t.Errorf("got frame %d, want %d", n, test.want)
			}
		})
	}
}

// TestFindFar: a search that takes several batches ends where it should.
func TestFindFar(t *testing.T) {
	r := newRig(t)
	r.start(tracepointAt(1, 0x10), tracepointAt(2, 0x20))
	const before = 2*findBatch + 7
	for range before {
		r.hit(&fakeThread{pc: 0x10})
	}
	r.hit(&fakeThread{pc: 0x20})
	if n, ok := r.Find(tfile.Query{Kind: tfile.ByPC, Low: 0x20}, 3); n != before || !ok {
		t.Errorf("got frame %d, %v; want %d", n, ok, before)
	}
}

// TestFrameIsCopy: a frame that was selected stays as it is when the buffer drops it.
func TestFrameIsCopy(t *testing.T) {
	r := newRig(t)
	r.must(r.SetBufferSize(40))
	r.SetCircular(true)
	r.start(tracepointAt(1, 0x10, collectMemory(0x100, 1)))
	r.hit(at(1, 0x10, 1))
	f, ok := r.Frame(0)
	if !ok || f.Tracepoint() != 1 || f.Number != 0 {
		t.Fatalf("frame %+v, %v", f, ok)
	}
	before := bytes.Clone(f.Bytes())
	for i := range byte(5) {
		r.hit(at(1, 0x10, 2+i))
	}
	if !bytes.Equal(f.Bytes(), before) {
		t.Errorf("the copy changed from %x to %x", before, f.Bytes())
	}
	for _, n := range []int{-1, r.NumFrames(), math.MaxInt, math.MinInt} {
		if _, ok := r.Frame(n); ok {
			t.Errorf("there is a frame %d", n)
		}
	}
}

// TestFramesWhileDropping: an iteration leaves out what is dropped, ends where it began to end, and does not survive the run.
func TestFramesWhileDropping(t *testing.T) {
	r := newRig(t)
	r.must(r.SetBufferSize(3 * 18))
	r.SetCircular(true)
	r.start(tracepointAt(1, 0x10, collectMemory(0x100, 1)))
	for i := range byte(3) {
		r.hit(at(1, 0x10, i))
	}
	var seen []byte
	for f := range r.Frames() {
		seen = append(seen, f.Bytes()[len(f.Bytes())-1])
		if len(seen) == 1 {
			r.hit(at(1, 0x10, 3))
			r.hit(at(1, 0x10, 4))
		}
	}
	if !bytes.Equal(seen, []byte{0, 2}) {
		t.Errorf("saw %v, want 0 and 2", seen)
	}
	count := 0
	for range r.Frames() {
		if count++; count == 2 {
			break
		}
	}
	for range r.Frames() {
		count++
		r.must(r.Stop(trace.ReasonStop, ""))
		r.must(r.Start(&r.target, 1))
		r.hit(at(1, 0x10, 3))
	}
	if count != 3 {
		t.Errorf("%d frames, want 2 and then one before the buffer was cleared", count)
	}
}

// TestReadBuffer: the stream is the frames one after the other, in pieces of any size, also when the ring has wrapped, where
// gdbserver's is corrupt.
func TestReadBuffer(t *testing.T) {
	r := newRig(t)
	r.must(r.SetBufferSize(100))
	r.SetCircular(true)
	r.start(tracepointAt(1, 0x10, collectMemory(0x100, 1)), tracepointAt(2, 0x20, collectMemory(0x100, 1), collectMemory(0x100, 1)))
	for i := byte(0); i < 20 || !r.buffer.wrapped; i++ {
		r.hit(at(1, 0x10+arch.Addr(i%2)*0x10, i))
	}
	var want []byte
	for f := range r.Frames() {
		want = append(want, f.Bytes()...)
	}
	for size := 1; size <= len(want)+1; size++ {
		var got []byte
		dst := make([]byte, size)
		for {
			n, err := r.ReadBuffer(int64(len(got)), dst)
			if err == io.EOF {
				break
			}
			r.must(err)
			if n == 0 {
				t.Fatalf("nothing at %d", len(got))
			}
			got = append(got, dst[:n]...)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("in pieces of %d: %x, want %x", size, got, want)
		}
	}
	_, err := r.ReadBuffer(int64(len(want))+1, nil)
	wantError(t, err, fmt.Sprintf("offset %d of the trace buffer is not from 0 to %d", len(want)+1, len(want)))
	if _, err := r.ReadBuffer(-1, nil); err == nil || err == io.EOF {
		t.Errorf("offset -1: %v", err)
	}
}
