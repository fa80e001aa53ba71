package tracepoint

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/tfile"
	"tracewell/trace"
)

// TestCapture holds captures to the files that Save would have written at the same time, and looks at what later hits, another run and
// a circular buffer do to them.
func TestCapture(t *testing.T) {
	r := newRig(t)
	r.start(tracepointAt(1, 0x10, collectRegisters), tracepointAt(2, 0x20, collectMemory(0x1000, 4)))
	hits := func(n int) {
		for i := range n {
			r.hit(&fakeThread{pc: 0x10, registers: [registerCount]uint64{uint64(i)}})
			r.hit(&fakeThread{pc: 0x20})
		}
	}
	hits(3)
	var out bytes.Buffer
	r.must(r.Save(&out, "<target/>"))
	file, err := tfile.OpenBytes(out.Bytes())
	r.must(err)
	early := r.Capture("<target/>")
	same := func() {
		t.Helper()
		if diff := cmp.Diff(file.Header(), early.Header()); diff != "" {
			t.Errorf("header (-saved +captured):\n%s", diff)
		}
		if early.NumFrames() != file.NumFrames() {
			t.Fatalf("%d frames, saved %d", early.NumFrames(), file.NumFrames())
		}
		for i := range file.NumFrames() {
			want, err := file.Frame(i)
			r.must(err)
			got, err := early.ReadFrame(i, nil)
			if err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) || early.Tracepoint(i) != file.Tracepoint(i) {
				t.Errorf("frame %d of tracepoint %d is %x, saved %x; error %v", i, early.Tracepoint(i), got.Bytes(), want.Bytes(), err)
			}
		}
	}
	same()
	hits(1)
	same()
	later := r.Capture("")
	if later.NumFrames() != 8 || !later.Continues(early) || early.Continues(later) || later.Continues(file) {
		t.Errorf("%d frames later, which continue: %v", later.NumFrames(), later.Continues(early))
	}
	if _, err := early.ReadFrame(6, nil); !errors.Is(err, errDropped) {
		t.Errorf("a frame that came later is read: %v", err)
	}
	r.must(r.Stop(trace.ReasonStop, ""))
	r.must(r.Start(&r.target, 1))
	hits(4)
	if again := r.Capture(""); again.NumFrames() != 8 || again.Continues(later) {
		t.Errorf("%d frames of another run continue: %v", again.NumFrames(), again.Continues(later))
	}
	if _, err := later.ReadFrame(0, nil); !errors.Is(err, errDropped) {
		t.Errorf("a frame of the run before is read: %v", err)
	}
}
