package tfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/trace"
)

func TestWriterRefusesLines(t *testing.T) {
	long := strings.Repeat("x", 500)
	tests := map[string]func(h *Header){
		"a long source string": func(h *Header) { h.Tracepoints[0].Source.Commands = []string{long} },
		"a long condition":     func(h *Header) { h.Tracepoints[0].Condition = []byte(long) },
		"a long expression": func(h *Header) {
			h.Tracepoints[0].Actions = []trace.Action{{Kind: trace.CollectExpression, Code: []byte(long)}}
		},
		"a tracepoint twice":       func(h *Header) { h.Tracepoints[1] = h.Tracepoints[0] },
		"a number too large":       func(h *Header) { h.Tracepoints[1].Number = trace.MaxNumber + 1 },
		"number 0":                 func(h *Header) { h.Tracepoints[1].Number = 0 },
		"a variable twice":         func(h *Header) { h.Variables[0].Number = h.Variables[1].Number },
		"a long name":              func(h *Header) { h.Variables[0].Name = long },
		"long notes":               func(h *Header) { h.Status.Notes = long },
		"a long description line":  func(h *Header) { h.Description = "<target>\n" + long + long },
		"an empty line":            func(h *Header) { h.Other = []string{""} },
		"a line with a line in it": func(h *Header) { h.Other = []string{"a\nb"} },
	}
	for name, change := range tests {
		h := smallHeader(binary.LittleEndian)
		change(&h)
		var out bytes.Buffer
		_, err := NewWriter(&out, h, KeepUnknownLines())
		if !errors.As(err, new(*LineError)) {
			t.Errorf("%s: %v, want a *LineError", name, err)
		}
		if out.Len() > 0 {
			t.Errorf("%s: %d bytes were written", name, out.Len())
		}
	}
}

func TestWriterTakesLinesUpToTheLimit(t *testing.T) {
	h := smallHeader(binary.LittleEndian)
	h.Other = []string{"note " + strings.Repeat("x", MaxLine-len("note "))}
	f, err := OpenBytes(write(t, h))
	if err != nil || len(f.Findings()) != 1 || f.Findings()[0].Rule != RuleUnknownLine {
		t.Errorf("%v, %v; want the line to be unknown but not too long", f.Findings(), err)
	}
}

func TestWriterNeeds(t *testing.T) {
	for name, h := range map[string]Header{
		"an order":         {RegisterSize: 4},
		"a register size":  {Order: binary.LittleEndian},
		"a positive size":  {Order: binary.LittleEndian, RegisterSize: -1},
		"a small size":     {Order: binary.LittleEndian, RegisterSize: MaxRegisters + 1},
		"anything, at all": {},
	} {
		if _, err := NewWriter(io.Discard, h); err == nil {
			t.Errorf("a header without %s was written", name)
		}
	}
}

func TestWriterRefusesFrames(t *testing.T) {
	w, err := NewWriter(io.Discard, smallHeader(binary.LittleEndian))
	if err != nil {
		t.Fatal(err)
	}
	for _, frame := range []string{
		"",
		"\x01\x00\x05\x00\x00\x00ab", // cut
		"\x01\x00\x01\x00\x00\x00ab", // more than a frame
		"\x00\x00\x00\x00\x00\x00",   // would end the file
		"\x01\x80\x00\x00\x00\x00",   // a negative number
		"\x01\x00\x01\x00\x00\x00Q",  // no block
		"\x01\x00\x02\x00\x00\x00R1", // a register block that is too short
		"\x01\x00\x03\x00\x00\x00S\x00\x00",
	} {
		if err := w.WriteFrame([]byte(frame)); err == nil {
			t.Errorf("frame %q was written", frame)
		}
	}
	if err := w.WriteFrame(smallFrames(binary.LittleEndian)[0]); err != nil {
		t.Errorf("after refused frames a good one gives %v", err)
	}
}

// fullWriter takes n bytes.
type fullWriter struct{ n int }

var errFull = errors.New("disk full")

func (w *fullWriter) Write(p []byte) (int, error) {
	if len(p) > w.n {
		return 0, errFull
	}
	w.n -= len(p)
	return len(p), nil
}

func TestWriterErrors(t *testing.T) {
	h, frame := smallHeader(binary.LittleEndian), smallFrames(binary.LittleEndian)[0]
	if _, err := NewWriter(&fullWriter{10}, h); !errors.Is(err, errFull) {
		t.Errorf("no room for the header: %v", err)
	}
	w, err := NewWriter(&fullWriter{5000}, h)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * writeBuffer / len(frame) {
		err = w.WriteFrame(frame)
	}
	if !errors.Is(err, errFull) {
		t.Errorf("no room for the frames: %v", err)
	}
	if err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("no room for the end: %v", err)
	}
	if w, err = NewWriter(&fullWriter{1500}, h); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := w.WriteFrame(frame); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("no room at the end: %v", err)
	}
	w, _ = NewWriter(io.Discard, h)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if w.WriteFrame(frame) == nil || w.Close() == nil {
		t.Error("a closed writer goes on")
	}
}

func TestWriterOptions(t *testing.T) {
	const damaged, static = "\x01\x00\x02\x00\x00\x00R1", "\x01\x00\x03\x00\x00\x00S\x00\x00"
	h := smallHeader(binary.LittleEndian)
	var plain, kept bytes.Buffer
	if _, err := NewWriter(&plain, h); err != nil || strings.Contains(plain.String(), h.Other[0]) {
		t.Errorf("an unknown line was kept, or %v: %q", err, plain.String())
	}
	var done []int64
	w, err := NewWriter(&kept, h, KeepUnknownLines(), KeepDamaged(), ReportFrames(func(n int64) { done = append(done, n) }))
	if err != nil || !strings.Contains(kept.String(), "\n"+h.Other[0]+"\n") {
		t.Fatalf("an unknown line was left out, or %v: %q", err, kept.String())
	}
	for range 2500 {
		if err := w.WriteFrame([]byte(damaged)); err != nil {
			t.Fatal(err)
		}
	}
	if w.WriteFrame([]byte(static)) == nil {
		t.Error("static data was written")
	}
	if diff := cmp.Diff([]int64{1000, 2000}, done); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if w, err = NewWriter(&kept, h, KeepStatic()); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteFrame([]byte(static)); err != nil {
		t.Error(err)
	}
	if w.WriteFrame([]byte(damaged)) == nil {
		t.Error("a damaged frame was written")
	}
}

func TestWriterAllocatesNothing(t *testing.T) {
	h := smallHeader(binary.LittleEndian)
	h.RegisterSize = 2420
	w, err := NewWriter(io.Discard, h)
	if err != nil {
		t.Fatal(err)
	}
	frame := buildFrame(&Builder{Order: binary.LittleEndian}, nil)
	allocations := testing.AllocsPerRun(1000, func() {
		if err := w.WriteFrame(frame); err != nil {
			t.Fatal(err)
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations for a frame", allocations)
	}
}

func TestWriteContent(t *testing.T) {
	data := write(t, smallHeader(binary.BigEndian), smallFrames(binary.BigEndian)...)
	f, err := OpenBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Write(&out, f, KeepUnknownLines(), KeepStatic()); err != nil || !bytes.Equal(out.Bytes(), data) {
		t.Errorf("%v; written again the file differs:\n%s", err, cmp.Diff(string(data), out.String()))
	}
	if err := Write(io.Discard, f); err == nil || !strings.Contains(err.Error(), "frame 3: ") {
		t.Errorf("static data in frame 3: %v", err)
	}
	fast := openTestdata(t, "queue-fast.tf")
	if err := Write(io.Discard, fast); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged frame: %v", err)
	}
	if err := Write(io.Discard, fast, KeepDamaged()); err != nil {
		t.Errorf("a damaged frame that is kept: %v", err)
	}
	fast.header.RegisterSize = 0
	if Write(io.Discard, fast) == nil {
		t.Error("a file without register size was written")
	}
}
