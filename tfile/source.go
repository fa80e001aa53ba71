package tfile

import (
	"fmt"
	"io"
)

// A source gives the bytes of a trace file: out of memory without copying where it has them there, else by reading.
type source struct {
	r    io.ReaderAt
	mem  []byte // the whole file, or nil
	size int64
}

// read returns n bytes at offset, which must lie in the file, in buf if it has the capacity and they are not in memory.
func (s *source) read(buf []byte, offset int64, n int) ([]byte, error) {
	if s.mem != nil {
		return s.mem[offset : offset+int64(n) : offset+int64(n)], nil
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if got, err := s.r.ReadAt(buf, offset); got < n {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // the size that Open was told is not the file's
		}
		return nil, fmt.Errorf("reading %d bytes of the trace file at offset %d: %w", n, offset, err)
	}
	return buf, nil
}

const (
	// defaultWindow is how much is read at once when a file is indexed: enough that the cost of a call does not show, little
	// enough to stay in the cache.
	defaultWindow = 1 << 18
	// glance is how much is read at once where nearly all of it would be skipped.
	glance = 64
	// farApart is the distance between two places at which a call for each begins to cost less than copying what lies
	// between: 8 kB at 10 GB/s take 0.8 µs, a short read from the page cache 0.4.
	farApart = 8 << 10
	// progressStep is how many bytes pass between two calls of a progress function.
	progressStep = 1 << 20
)

// A window is the part of a source that was read last. It makes big reads of the small ones of a walk that goes forward, and
// short ones where the walk skips most of what lies ahead.
type window struct {
	source
	step int // bytes to read at once
	most int // what step grows to, from read to read
	base int64
	buf  []byte
	uses int // of buf

	progress func(done int64)
	reported int64
}

func newWindow(s source, o options) *window {
	return &window{source: s, step: o.window, base: o.start, reported: o.start, progress: o.progress}
}

// at returns the bytes at offset: n of them or more, or fewer if the file ends before. They are valid until the next call.
func (w *window) at(offset int64, n int) ([]byte, error) {
	if w.progress != nil && offset >= w.reported+progressStep {
		w.progress(offset)
		w.reported = offset
	}
	if w.mem != nil {
		return w.mem[min(offset, w.size):], nil
	}
	w.uses++
	if skip := offset - w.base; skip >= 0 && skip+int64(n) <= int64(len(w.buf)) {
		return w.buf[skip:], nil
	}
	step := w.step
	if apart := (offset - w.base) / int64(w.uses); apart > farApart {
		step = min(step, glance)
	}
	want := int(min(int64(max(n, step)), w.size-offset))
	if want <= 0 {
		return nil, nil
	}
	buf, err := w.read(w.buf[:cap(w.buf)], offset, want)
	if err != nil {
		return nil, err
	}
	w.base, w.buf, w.uses = offset, buf, 0
	w.step = max(w.step, min(4*w.step, w.most))
	return buf, nil
}
