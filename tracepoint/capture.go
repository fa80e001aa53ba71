package tracepoint

import (
	"errors"

	"tracewell/tfile"
	"tracewell/trace"
)

// Capture is what the engine holds at a time, as the content of a trace file: definitions with their counts, variables and
// status as they were, and the frames that there were, which stay in the engine's buffer and are read there. It is for looking at
// a run while it is on. A frame that is dropped, by a circular buffer or because another run begins, cannot be read any more.
// Its methods may be called by several goroutines.
type Capture struct {
	engine      *Engine
	header      tfile.Header
	runs        uint64
	first, next uint64 // sequence numbers
	numbers     []trace.Number
}

// Capture returns what the engine holds now. The description is as for Save.
func (e *Engine) Capture(description string) *Capture {
	// Frames that come between the two are not among the counts.
	c := &Capture{engine: e, header: e.header(description)}
	e.state.Lock()
	defer e.state.Unlock()
	c.runs, c.first, c.next = e.runs, e.buffer.first, e.buffer.next
	c.numbers = make([]trace.Number, 0, e.buffer.count())
	for s := c.first; s < c.next; s++ {
		c.numbers = append(c.numbers, e.buffer.entry(s).tracepoint())
	}
	return c
}

// Continues reports whether the frames of an earlier capture are the first ones of this.
func (c *Capture) Continues(earlier tfile.Content) bool {
	before, ok := earlier.(*Capture)
	return ok && before.engine == c.engine && before.runs == c.runs && before.first == c.first && before.next <= c.next
}

// Header implements tfile.Content.
func (c *Capture) Header() tfile.Header { return c.header }

// NumFrames implements tfile.Content.
func (c *Capture) NumFrames() int { return len(c.numbers) }

// Tracepoint implements tfile.Content.
func (c *Capture) Tracepoint(i int) trace.Number { return c.numbers[i] }

// errDropped is the error of a frame that is no longer there.
var errDropped = errors.New("the frame has been dropped from the trace buffer")

// ReadFrame implements tfile.Content.
func (c *Capture) ReadFrame(i int, buf []byte) (tfile.Frame, error) {
	e := c.engine
	e.state.Lock()
	defer e.state.Unlock()
	sequence := c.first + uint64(i)
	if i < 0 || e.runs != c.runs || sequence < e.buffer.first || sequence >= min(c.next, e.buffer.next) {
		return tfile.Frame{}, errDropped
	}
	frame := e.frame(sequence, buf[:0]).Frame
	if !e.buffer.entry(sequence).static() {
		return frame, nil
	}
	return tfile.ParseFrame(withoutStatic(frame, e.layout.Order), e.layout.Order, e.layout.RegisterBlock)
}
