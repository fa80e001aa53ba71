package tfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzOpen opens arbitrary bytes. Nothing may panic; whatever the size of the reads the same frames must be found; frames
// must lie one behind the other; and a file that opens without findings must come back equal when it is written and opened.
func FuzzOpen(f *testing.F) {
	little := write(f, smallHeader(binary.LittleEndian), smallFrames(binary.LittleEndian)...)
	big := write(f, smallHeader(binary.BigEndian), smallFrames(binary.BigEndian)...)
	f.Add(little)
	f.Add(big)
	f.Add(little[:len(little)-20])
	f.Add([]byte(magic + "R 0x10\ntp A1:10:R01\nwhat\n\n\x01\x00\x02\x00\x00\x00Q!\x00\x00trailing"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := OpenBytes(data)
		if file == nil {
			if !errors.Is(err, ErrNotTraceFile) {
				t.Fatalf("no file, but %v", err)
			}
			return
		}
		var format *FormatError
		if err != nil && (!errors.As(err, &format) || format.Offset < 0 || format.Offset > int64(len(data))) {
			t.Fatalf("error %v for %d bytes", err, len(data))
		}
		other, otherErr := Open(bytes.NewReader(data), int64(len(data)), func(o *options) { o.window = 16 })
		if diff := cmp.Diff(file.starts, other.starts); diff != "" || (err == nil) != (otherErr == nil) {
			t.Fatalf("with small reads %v instead of %v:\n%s", otherErr, err, diff)
		}
		frames := walk(t, file, data)
		if err == nil && len(file.Findings()) == 0 {
			rewrite(t, file, frames)
		}
	})
}

// walk calls all there is on every frame.
func walk(t *testing.T, file *File, data []byte) (frames [][]byte) {
	for i := range file.NumFrames() {
		frame := frameOf(t, file, i)
		if got := frame.Bytes(); !bytes.Equal(got, data[file.starts[i]:file.starts[i+1]]) {
			t.Fatalf("frame %d is not the bytes from %d to %d", i, file.starts[i], file.starts[i+1])
		}
		if frame.Tracepoint() != file.Tracepoint(i) || frame.Tracepoint() == 0 {
			t.Fatalf("frame %d is of tracepoint %d, the index says %d", i, frame.Tracepoint(), file.Tracepoint(i))
		}
		frame.Registers()
		frame.Static()
		frame.Variable(2)
		at := frameHeader
		for b := range frame.Blocks() {
			if b.Offset < at {
				t.Fatalf("block at %d, behind the one before it is %d", b.Offset, at)
			}
			at = b.Offset + 1
			frame.ReadMemory(b.Addr, make([]byte, len(b.Bytes)+1))
		}
		if err := frame.Check(); err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("frame %d: %v", i, err)
		}
		frames = append(frames, frame.Bytes())
	}
	return frames
}

// rewrite writes the file anew, if it is one that may be written, and compares what is read in that.
func rewrite(t *testing.T, file *File, frames [][]byte) {
	var out bytes.Buffer
	w, err := NewWriter(&out, file.Header())
	if errors.As(err, new(*LineError)) {
		return // one A line may have held many actions, and its key may come first in many lines
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, frame := range frames {
		if file.Tracepoint(i) < 0 {
			return
		}
		if err := w.WriteFrame(frame); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenBytes(out.Bytes(), WithOrder(file.Header().Order))
	if err != nil {
		t.Fatalf("rewritten: %v", err)
	}
	if diff := cmp.Diff(file.Header(), again.Header()); diff != "" {
		t.Errorf("rewritten header (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(frames, walk(t, again, out.Bytes())); diff != "" {
		t.Errorf("rewritten frames (-first +second):\n%s", diff)
	}
}
