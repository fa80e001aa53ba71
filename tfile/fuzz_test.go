package tfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/trace"
)

// FuzzOpen opens arbitrary bytes. Nothing may panic; whatever the size of the reads the same frames must be found; frames
// must lie one behind the other; and a file that opens without findings must come back equal when it is written and opened.
func FuzzOpen(f *testing.F) {
	little := write(f, smallHeader(binary.LittleEndian), smallFrames(binary.LittleEndian)...)
	big := write(f, smallHeader(binary.BigEndian), smallFrames(binary.BigEndian)...)
	f.Add(little)
	f.Add(big)
	f.Add(little[:len(little)-20])
	f.Add([]byte(Magic + "R 0x10\ntp A1:10:R01\nwhat\n\n\x01\x00\x02\x00\x00\x00Q!\x00\x00trailing"))
	f.Fuzz(func(t *testing.T, data []byte) {
		boundedFuzz(t, data)
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

// boundedFuzz fails if opening data allocates more than a small multiple of it. What a fuzzer's own machinery allocates
// meanwhile counts as well, so only large inputs tell much.
func boundedFuzz(t *testing.T, data []byte, opts ...Option) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	OpenBytes(data, opts...)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > uint64(roomAnyway+mostAllocated*len(data)) {
		t.Fatalf("%d bytes allocated to open %d", n, len(data))
	}
}

// FuzzRecovery opens arbitrary bytes with recovery, and as several files. Nothing may panic; all of a file must be accounted
// for; whatever the size of the reads the same must be found.
func FuzzRecovery(f *testing.F) {
	for _, order := range orders {
		whole := write(f, appendHeader(order), numbered(nil, order, 1), numbered(nil, order, 2), numbered(nil, order, 3))
		f.Add(whole)
		f.Add(slices.Concat(whole[:len(whole)-4], []byte("damage"), whole[len(whole)-60:]))
		f.Add(slices.Concat(whole, whole[:len(whole)-30], whole))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		boundedFuzz(t, data, WithRecovery())
		file, err := OpenBytes(data, WithRecovery())
		if file == nil || file.cut {
			return
		}
		first := file.starts[0]
		if len(file.lost) > 0 {
			first = min(first, file.lost[0].Offset)
		}
		tiles(t, file, first)
		for i := range file.NumFrames() {
			frameOf(t, file, i).Check()
		}
		small, smallErr := Open(bytes.NewReader(data), int64(len(data)), WithRecovery(), func(o *options) { o.window = 16 })
		if diff := cmp.Diff(file.starts, small.starts); diff != "" || (err == nil) != (smallErr == nil) || !slices.Equal(file.lost, small.lost) {
			t.Fatalf("with small reads %v, %v instead of %v, %v:\n%s", small.lost, smallErr, file.lost, err, diff)
		}
		end := int64(0)
		for file, err := range OpenAll(bytes.NewReader(data), int64(len(data))) {
			if file == nil || file.End() <= end {
				t.Fatalf("%v, %v behind %d", file, err, end)
			}
			end = file.End()
		}
	})
}

// FuzzWriter makes a file of arbitrary frames by Builder and Writer, one by Appender, and reads them.
func FuzzWriter(f *testing.F) {
	f.Add([]byte("\x01R\x02M\x03V\x04S\x01\x01"), true)
	f.Add([]byte("\xffM\xffM\xffM"), false)
	f.Fuzz(func(t *testing.T, recipe []byte, big bool) {
		order := orders["little"]
		if big {
			order = orders["big"]
		}
		h := appendHeader(order)
		var frames [][]byte
		for part := range bytes.SplitSeq(recipe, []byte{1}) {
			frames = append(frames, cook(order, part))
		}
		var d disk
		a, err := NewAppender(&d, h)
		if err == nil {
			err = a.Append(slices.Concat(frames...))
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range [][]byte{write(t, h, frames...), d.data} {
			file, err := OpenBytes(data, WithOrder(order))
			if err != nil || len(file.Findings()) > 0 {
				t.Fatal(file.Findings(), err)
			}
			if diff := cmp.Diff(frames, walk(t, file, data)); diff != "" {
				t.Errorf("frames (-written +read):\n%s", diff)
			}
			for i := range frames {
				if err := frameOf(t, file, i).Check(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// cook makes a frame: each two bytes of the recipe are a block and how large it is.
func cook(order arch.ByteOrder, recipe []byte) []byte {
	b := Builder{Order: order}
	b.Begin(nil, trace.Number(1+len(recipe)))
	for len(recipe) >= 2 {
		n := int(recipe[1])
		switch recipe[0] % 3 {
		case 0:
			clear(b.Registers(16))
		case 1:
			b.AppendMemory(arch.Addr(n), bytes.Repeat(recipe[:1], n*(1+n/255*300)))
		case 2:
			b.Variable(trace.VariableNumber(n), int64(n)<<56)
		}
		recipe = recipe[2:]
	}
	return b.Finish()
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
		at := FrameHeader
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
	w, err := NewWriter(&out, file.Header(), KeepUnknownLines(), KeepStatic(), KeepDamaged())
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
