package tracepoint

import (
	"fmt"
	"io"
	"iter"

	"tracewell/target"
	"tracewell/tfile"
)

// NumFrames returns how many frames the buffer holds.
func (e *Engine) NumFrames() int {
	e.state.Lock()
	defer e.state.Unlock()
	return e.buffer.count()
}

// Frame returns a copy of frame n, counted from 0 for the oldest; false if there is none. The number of a frame shrinks as
// a circular buffer drops older ones, the copy is not affected.
func (e *Engine) Frame(n int) (target.Traceframe, bool) {
	e.state.Lock()
	defer e.state.Unlock()
	if n < 0 || n >= e.buffer.count() {
		return target.Traceframe{}, false
	}
	return e.frame(e.buffer.first+uint64(n), nil), true
}

// frame copies a frame, appending its bytes to dst, which is empty.
func (e *Engine) frame(sequence uint64, dst []byte) target.Traceframe {
	bytes := append(dst, e.buffer.frame(sequence)...)
	view, err := tfile.ParseFrame(bytes, e.layout.Order, e.layout.RegisterBlock)
	if err != nil {
		panic(fmt.Sprintf("tracepoint: frame %d of the trace buffer: %v", sequence, err))
	}
	at := e.buffer.entry(sequence)
	return target.Traceframe{Frame: view, Number: int(sequence - e.buffer.first), PC: at.pc, Stepped: at.stepped()}
}

// Frames yields the frames that the buffer holds when the iteration begins, oldest first, for saving. The bytes of each are
// valid until the next. Those that a circular buffer drops meanwhile are left out, and the sequence ends early if the
// buffer is cleared.
func (e *Engine) Frames() iter.Seq[target.Traceframe] {
	return func(yield func(target.Traceframe) bool) {
		e.state.Lock()
		runs, next, end := e.runs, e.buffer.first, e.buffer.next
		e.state.Unlock()
		var bytes []byte
		for {
			e.state.Lock()
			if next = max(next, e.buffer.first); e.runs != runs || next >= end {
				e.state.Unlock()
				return
			}
			f := e.frame(next, bytes[:0])
			e.state.Unlock()
			next++
			bytes = f.Bytes()
			if !yield(f) {
				return
			}
		}
	}
}

// ReadBuffer copies from the frames as one stream of bytes, oldest frame first and without static trace data or the end mark
// of a trace file, as qTBuffer serves it. It returns how much of dst it filled, and io.EOF if offset is the length of the
// stream. In a circular buffer during a run the stream moves as frames are dropped.
func (e *Engine) ReadBuffer(offset int64, dst []byte) (int, error) {
	e.state.Lock()
	defer e.state.Unlock()
	switch length := int64(e.buffer.used - e.buffer.static); {
	case offset < 0 || offset > length:
		return 0, fmt.Errorf("offset %d of the trace buffer is not from 0 to %d", offset, length)
	case offset == length:
		return 0, io.EOF
	}
	return e.buffer.readAt(offset, dst), nil
}
