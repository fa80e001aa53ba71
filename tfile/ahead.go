package tfile

import (
	"slices"
	"sync"
)

// readAhead makes big reads of the small ones of walks over frames that go forward: a call for each frame costs more than the rest
// of looking at it. Walks on several goroutines have a stretch each, and frames here and there are read alone. The zero value is
// ready.
type readAhead struct {
	mu   sync.Mutex
	idle []*stretch // guarded by mu; what was used last is at the end
}

// stretch is what was read last for a walk, or where it went on if that was a frame alone.
type stretch struct {
	base int64
	buf  []byte
	step int // bytes to read next
}

const (
	// firstStep is what is read at once for a walk that may be one of two frames. That grows to lastStep and no further, since a
	// thousand files may be open.
	firstStep, lastStep = 4 << 10, 64 << 10
	// maxStretches is how many walks are told apart.
	maxStretches = 16
)

// read returns n bytes at offset as source.read does, in memory of the caller's.
func (a *readAhead) read(s *source, buf []byte, offset int64, n int) ([]byte, error) {
	if s.mem != nil {
		return s.read(buf, offset, n)
	}
	w := a.take(offset)
	defer a.put(w)
	if offset < w.base || offset+int64(n) > w.end() {
		ahead := w.buf[:0]
		if n < w.step {
			ahead, _ = s.read(ahead, offset, int(min(int64(w.step), s.size-offset)))
		}
		if len(ahead) == 0 { // what lies behind the frame may not be there any more
			w.base, w.buf, w.step = offset+int64(n), w.buf[:0], max(w.step, firstStep)
			return s.read(buf, offset, n)
		}
		w.base, w.buf, w.step = offset, ahead, min(4*w.step, lastStep)
	}
	at := int(offset - w.base)
	return append(buf[:0], w.buf[at:at+n]...), nil
}

func (w *stretch) end() int64 { return w.base + int64(len(w.buf)) }

// take takes the stretch of the walk that comes to offset; one that nobody is on if there is none.
func (a *readAhead) take(offset int64) *stretch {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, w := range slices.Backward(a.idle) {
		if w.base <= offset && offset <= w.end()+farApart {
			a.idle = slices.Delete(a.idle, i, i+1)
			return w
		}
	}
	if len(a.idle) < maxStretches {
		return new(stretch)
	}
	w := a.idle[0]
	a.idle = slices.Delete(a.idle, 0, 1)
	w.step = 0
	return w
}

// put gives a stretch back.
func (a *readAhead) put(w *stretch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.idle) < maxStretches { // more goroutines than that may have taken one
		a.idle = append(a.idle, w)
	}
}
