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

// defaultWindow is how much is read at once when a file is indexed: enough that the cost of a call does not show, little
// enough to stay in the cache.
const defaultWindow = 1 << 18

// A window is the part of a source that was read last. It makes big reads of the small ones of a walk that goes forward, and
// skips over what the walk skips if that is more than a window.
type window struct {
	source
	step int // bytes to read at once
	base int64
	buf  []byte
}

// at returns the bytes at offset: n of them or more, or fewer if the file ends before. They are valid until the next call.
func (w *window) at(offset int64, n int) ([]byte, error) {
	if w.mem != nil {
		return w.mem[min(offset, w.size):], nil
	}
	if skip := offset - w.base; skip >= 0 && skip+int64(n) <= int64(len(w.buf)) {
		return w.buf[skip:], nil
	}
	want := int(min(int64(max(n, w.step)), w.size-offset))
	if want <= 0 {
		return nil, nil
	}
	buf, err := w.read(w.buf[:cap(w.buf)], offset, want)
	if err != nil {
		return nil, err
	}
	w.base, w.buf = offset, buf
	return buf, nil
}
