package tfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSmallWindow indexes files with reads much shorter than frames and lines.
func TestSmallWindow(t *testing.T) {
	for _, name := range []string{"queue-basic.tf", "queue-fast.tf"} {
		data := readTestdata(t, name)
		want := openTestdata(t, name)
		for _, size := range []int{1, 6, 7, 100, 5000} {
			got, err := Open(bytes.NewReader(data), int64(len(data)), func(o *options) { o.window = size })
			if err != nil {
				t.Fatalf("%s with a window of %d: %v", name, size, err)
			}
			if diff := cmp.Diff(want.starts, got.starts); diff != "" {
				t.Errorf("%s with a window of %d (-want +got):\n%s", name, size, diff)
			}
			if diff := cmp.Diff(want.Header(), got.Header()); diff != "" {
				t.Errorf("%s with a window of %d (-want +got):\n%s", name, size, diff)
			}
		}
	}
}

// countingReader counts the bytes that are read, and the calls.
type countingReader struct {
	r        io.ReaderAt
	n, calls int
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.n += len(p)
	c.calls++
	return c.r.ReadAt(p, off)
}

// TestLongFramesAreSkipped indexes files of frames so long that reading all of them would cost more than many short reads.
func TestLongFramesAreSkipped(t *testing.T) {
	for size, count := range map[int]int{4 << 20: 3, 100_000: 100, 20_000: 500} {
		b := Builder{Order: binary.LittleEndian}
		b.Begin(nil, 1)
		b.AppendMemory(0, make([]byte, size))
		data := write(t, smallHeader(binary.LittleEndian), slices.Repeat([][]byte{b.Finish()}, count)...)
		r := &countingReader{r: bytes.NewReader(data)}
		f, err := Open(r, int64(len(data)))
		if err != nil || f.NumFrames() != count {
			t.Fatalf("%v, %v", f, err)
		}
		if r.n > len(data)/10+8*defaultWindow { // the first frames are looked at several times
			t.Errorf("%d of %d bytes were read to index %d frames", r.n, len(data), count)
		}
	}
}

// failingReader fails at an offset.
type failingReader struct {
	r  io.ReaderAt
	at int64
}

func (r failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > r.at {
		return 0, io.ErrClosedPipe
	}
	return r.r.ReadAt(p, off)
}

func TestReaderErrors(t *testing.T) {
	data := readTestdata(t, "queue-basic.tf")
	for _, at := range []int64{0, 100, 50000, int64(len(data)) - 1} {
		f, err := Open(failingReader{bytes.NewReader(data), at}, int64(len(data)), func(o *options) { o.window = 1 << 10 })
		if f != nil || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("reader that fails at %d: %v, %v", at, f, err)
		}
	}
	if _, err := Open(bytes.NewReader(data), int64(len(data))+100); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a size past the end: %v", err)
	}
	f := openTestdata(t, "queue-basic.tf")
	f.source = source{r: failingReader{bytes.NewReader(data), 50000}, size: int64(len(data))}
	if _, err := f.Frame(84); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("frame that cannot be read: %v", err)
	}
	if _, _, err := f.Find(Query{Kind: ByPC}, 0, ripOf); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("search in frames that cannot be read: %v", err)
	}
	for _, i := range []int{-1, 85} {
		if _, err := f.Frame(i); err == nil {
			t.Errorf("there is a frame %d of 85", i)
		}
	}
}
