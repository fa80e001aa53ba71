package tracepoint

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
)

// TestSave reads a saved file and compares it with what the engine says of itself.
func TestSave(t *testing.T) {
	r := newRig(t)
	r.SetNotes("a note")
	r.must(r.DefineVariable(trace.Variable{Number: 7, Name: "hits", Initial: -3}))
	first := tracepointAt(1, 0x10, collectRegisters, collectMemory(0x1000, 4))
	first.Source = trace.Source{At: "f", Cond: "x > 1", Commands: []string{"collect $regs, x"}}
	r.start(first, tracepointAt(2, 0x20), tracepointAt(2, 0x30))
	for i, pc := range []arch.Addr{0x10, 0x30, 0x10, 0x20} {
		r.hit(&fakeThread{pc: pc, registers: [registerCount]uint64{uint64(i)}})
	}
	r.must(r.Stop(trace.ReasonStop, "enough"))

	var out bytes.Buffer
	r.must(r.Save(&out, "<target>\n</target>"))
	file, err := tfile.OpenBytes(out.Bytes())
	r.must(err)
	if findings := file.Findings(); len(findings) > 0 {
		t.Errorf("findings: %v", findings)
	}
	header := file.Header()
	if status := r.Status(); header.Status == nil || *header.Status != status {
		t.Errorf("status %+v, want %+v", header.Status, status)
	}
	if header.Description != "<target>\n</target>" || header.RegisterSize != registerBytes {
		t.Errorf("description %q, registers %d", header.Description, header.RegisterSize)
	}
	if diff := cmp.Diff(r.Variables(), header.Variables); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	want := r.Tracepoints()
	slices.Reverse(want)
	if diff := cmp.Diff(want, header.Tracepoints); diff != "" {
		t.Errorf("tracepoints (-want +got):\n%s", diff)
	}
	if file.NumFrames() != r.NumFrames() {
		t.Fatalf("%d frames, want %d", file.NumFrames(), r.NumFrames())
	}
	for live := range r.Frames() {
		saved, err := file.Frame(live.Number)
		if err != nil || !bytes.Equal(saved.Bytes(), live.Bytes()) {
			t.Errorf("frame %d is %x, want %x, error %v", live.Number, saved.Bytes(), live.Bytes(), err)
		}
	}
}

// TestSaveRefuses: nothing is written when a definition does not fit into a line of a trace file.
func TestSaveRefuses(t *testing.T) {
	r := newRig(t)
	long := tracepointAt(1, 0x10)
	long.Source.At = string(bytes.Repeat([]byte("x"), tfile.MaxLine))
	r.start(long)
	var out bytes.Buffer
	var refused *tfile.LineError
	if err := r.Save(&out, ""); !errors.As(err, &refused) || out.Len() > 0 {
		t.Errorf("error %v, %d bytes written", err, out.Len())
	}
}

type fullDisk struct{ room int }

var errFullDisk = errors.New("disk is full")

func (f *fullDisk) Write(p []byte) (int, error) {
	if f.room < len(p) {
		return f.room, errFullDisk
	}
	f.room -= len(p)
	return len(p), nil
}

// TestSaveFails tells of a writer that fails in the header, and at the end.
func TestSaveFails(t *testing.T) {
	r := framesRig(t)
	var whole bytes.Buffer
	r.must(r.Save(&whole, ""))
	for _, room := range []int{0, whole.Len() - 1} {
		if err := r.Save(&fullDisk{room}, ""); !errors.Is(err, errFullDisk) {
			t.Errorf("with room for %d bytes: error %v", room, err)
		}
	}
	if err := r.Save(io.Discard, ""); err != nil {
		t.Error(err)
	}
}
