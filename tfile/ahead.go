package tfile

import (
	"slices"
	"sync"
)

// readAhead makes big reads of the small ones of walks over frames that go forward: a call for each frame costs more than the rest
// of looking at it. Walks on several goroutines have a window each, and frames here and there are read alone. The zero value is
// ready.
type readAhead struct {
	mu   sync.Mutex
	idle []*window // guarded by mu, one for each walk; what was used last is at the end
}

const (
	// longStep is what the reads of a walk grow to, and frames that long are read alone: a thousand files may be open.
	longStep = 64 << 10
	// maxWalks is how many walks are told apart.
	maxWalks = 16
)

// read returns n bytes at offset as source.read does, in memory of the caller's.
func (a *readAhead) read(s *source, buf []byte, offset int64, n int) ([]byte, error) {
	if s.mem != nil || n >= longStep {
		return s.read(buf, offset, n)
	}
	w := a.take(s, offset)
	defer a.put(w)
	ahead, err := w.at(offset, n)
	if err != nil { // what lies behind the frame may not be there any more
		w.buf = w.buf[:0]
		return s.read(buf, offset, n)
	}
	return append(buf[:0], ahead[:n]...), nil
}

// take takes the window of the walk that comes to offset; one that nobody is on if there is none.
func (a *readAhead) take(s *source, offset int64) *window {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, w := range slices.Backward(a.idle) {
		if w.base <= offset && offset <= w.base+int64(len(w.buf))+farApart {
			a.idle = slices.Delete(a.idle, i, i+1)
			return w
		}
	}
	w := new(window)
	if len(a.idle) == maxWalks {
		w = a.idle[0]
		a.idle = slices.Delete(a.idle, 0, 1)
	}
	// The first frame is read alone, since it may be one here and there.
	*w = window{source: *s, step: 1, most: longStep, base: offset, buf: w.buf[:0]}
	return w
}

// put gives a window back.
func (a *readAhead) put(w *window) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.idle) < maxWalks { // more goroutines than that may have taken one
		a.idle = append(a.idle, w)
	}
}
