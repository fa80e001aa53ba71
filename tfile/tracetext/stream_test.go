package tracetext

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"tracewell/tfile"
)

// TestProgress looks at what is reported of long work: not too often, and never less than before.
func TestProgress(t *testing.T) {
	data := longFile(t, 6<<20)
	text := textOf(t, data)
	f, err := tfile.OpenBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	var calls, last int64
	report := WithProgress(func(done int64) {
		if calls++; done < last {
			t.Errorf("%d after %d", done, last)
		}
		last = done
	})
	tests := []struct {
		name string
		work func() error
		all  int
		step int
	}{
		{"Write", func() error { return Write(io.Discard, bytes.NewReader(data), int64(len(data)), report) }, len(data), reportBytes},
		{"Read", func() error { return Read(strings.NewReader(text), io.Discard, report) }, len(text), reportBytes},
		{"WriteContent", func() error { return WriteContent(io.Discard, f, report) }, f.NumFrames(), reportFrames},
	}
	for _, test := range tests {
		calls, last = 0, 0
		if err := test.work(); err != nil {
			t.Fatal(err)
		}
		most := int64(test.all/test.step + 2)
		if calls < most-3 || calls > most || last > int64(test.all) || last < int64(test.all-2*test.step) {
			t.Errorf("%s: %d reports up to %d; of %d there should be about %d", test.name, calls, last, test.all, most)
		}
	}
}

// longFile returns a file of about size bytes, of frames of a real one.
func longFile(t testing.TB, size int) []byte {
	data := readReal(t, "queue-basic")
	f, err := tfile.OpenBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	first, err := f.Frame(0)
	if err != nil {
		t.Fatal(err)
	}
	start, end := first.Offset(), len(data)-markerBytes
	frames := bytes.Repeat(data[start:end], size/(end-int(start)))
	return append(append(data[:start:start], frames...), 0, 0, 0, 0)
}

// TestStreams makes text and reads it again, and asserts that neither keeps what it has passed.
func TestStreams(t *testing.T) {
	const size = 64 << 20
	data := longFile(t, size)
	length := int64(len(data))
	grown := func(work func() error) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := work(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	var text bytes.Buffer
	text.Grow(size) // which the text of registers, mostly zero, does not take
	if n := grown(func() error { return Write(&text, bytes.NewReader(data), length) }); n > size/10 {
		t.Errorf("Write allocated %d bytes for %d", n, size)
	}
	if n := grown(func() error { return Read(&text, io.Discard) }); n > size/20 {
		t.Errorf("Read allocated %d bytes for %d", n, size)
	}
}

// TestFramesAllocateNothing compares the allocations for a file with those for one of many more frames.
func TestFramesAllocateNothing(t *testing.T) {
	short, long := longFile(t, 1<<20), longFile(t, 4<<20)
	of := func(data []byte) (write, read float64) {
		text := textOf(t, data)
		write = testing.AllocsPerRun(5, func() { Write(io.Discard, bytes.NewReader(data), int64(len(data))) })
		return write, testing.AllocsPerRun(5, func() { Read(strings.NewReader(text), io.Discard) })
	}
	shortWrite, shortRead := of(short)
	longWrite, longRead := of(long)
	if more := longWrite - shortWrite; more > 100 {
		t.Errorf("Write: %v more allocations for some thousand frames more", more)
	}
	if more := longRead - shortRead; more > 100 {
		t.Errorf("Read: %v more allocations for some thousand frames more", more)
	}
}

// TestSmallTextHugeFrame asserts that a small text cannot ask for much memory.
func TestSmallTextHugeFrame(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := firstLine + "\nbyte-order little\nregister-size 2147483647\nframe of tracepoint 1\nregisters\n"
	if err := Read(strings.NewReader(text), io.Discard); !errors.As(err, new(*Error)) {
		t.Errorf("%v, want an *Error", err)
	}
	text = strings.Replace(text, "2147483647", "100000", 1) + strings.Repeat("registers\n", 1000)
	if err := Read(strings.NewReader(text), io.Discard); !errors.As(err, new(*Error)) {
		t.Errorf("%v, want an *Error", err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

// TestBigRegisterBlocks makes text of a frame whose register blocks are larger than what a text may leave out.
func TestBigRegisterBlocks(t *testing.T) {
	for _, blocks := range []int{1, 30} {
		size := 2 * maxImplied / (1 + blocks/2)
		data := textHeader(size)
		frame := append([]byte{1, 0, 0, 0, 0, 0}, bytes.Repeat(append([]byte("R"), make([]byte, size)...), blocks)...)
		n := len(frame) - tfile.FrameHeader
		frame[2], frame[3], frame[4], frame[5] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
		data = append(append(data, frame...), 0, 0, 0, 0)
		if !bytes.Equal(bytesOf(t, textOf(t, data)), data) {
			t.Errorf("%d blocks of %d: other bytes come back", blocks, size)
		}
	}
}

// textHeader returns a trace file up to its frames.
func textHeader(size int) []byte {
	var data bytes.Buffer
	text := firstLine + "\nbyte-order little\nregister-size " + strconv.Itoa(size) + "\nframes\n"
	if err := Read(strings.NewReader(text), &data); err != nil {
		panic(err)
	}
	return data.Bytes()
}

// TestBrokenStreams looks that the errors of what is read and written come back.
func TestBrokenStreams(t *testing.T) {
	data := longFile(t, 1<<20)
	text := textOf(t, data)
	failed := errors.New("failed")
	for _, good := range []int{0, 100, 1 << 18, 1<<18 + 1<<17} {
		if err := Write(io.Discard, failingReaderAt{bytes.NewReader(data), int64(good), failed}, int64(len(data))); !errors.Is(err, failed) {
			t.Errorf("Write with %d bytes to read: %v", good, err)
		}
		if err := Write(&failingWriter{good, failed}, bytes.NewReader(data), int64(len(data))); !errors.Is(err, failed) {
			t.Errorf("Write with room for %d: %v", good, err)
		}
		if err := Read(io.MultiReader(strings.NewReader(text[:good]), iotest.ErrReader(failed)), io.Discard); !errors.Is(err, failed) {
			t.Errorf("Read with %d bytes to read: %v", good, err)
		}
		if err := Read(strings.NewReader(text), &failingWriter{good, failed}); !errors.Is(err, failed) {
			t.Errorf("Read with room for %d: %v", good, err)
		}
	}
	if err := Write(io.Discard, strings.NewReader("no trace file"), 13); !errors.Is(err, tfile.ErrNotTraceFile) {
		t.Errorf("Write of something else: %v", err)
	}
}

type failingReaderAt struct {
	io.ReaderAt
	good int64
	err  error
}

func (r failingReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > r.good {
		return 0, r.err
	}
	return r.ReaderAt.ReadAt(p, at)
}

type failingWriter struct {
	good int
	err  error
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if len(p) > w.good {
		return 0, w.err
	}
	w.good -= len(p)
	return len(p), nil
}
