package tracepoint

import (
	"errors"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
)

// A hit is one hit or step in progress. All tracepoints that it is about have their turn, even when one of them has ended the
// run; hits that others make meanwhile come too late then.
type hit struct {
	run     uint64 // in which it began
	full    bool   // it made the last frame that there was room for, or one too many
	counted bool   // something was committed that came of it, so it may be what ends the run
}

// A catch is what one tracepoint makes of one hit or step.
type catch struct {
	d         *definition
	pass      uint64 // hits after which the run stops, 0 for no limit
	left      uint64 // steps of the while-stepping that begins with the hit, 0 without one
	step      uint64 // serial number of the while-stepping in progress that this is a step of, 0 at a hit
	thread    int64
	pc        arch.Addr
	lost      error   // the connection to the thread: nothing of the catch is to be relied on
	condition error   // the condition failed, so there is nothing else
	failures  []error // of actions
	frame     []byte  // whole; holds what could be collected even if actions failed: what led to the failure is often in it
	tooLarge  bool    // in place of the frame
	static    bool    // the frame has static trace data
}

// commit counts a catch and keeps its frame. Everything that ends a run is decided here, for hits and deposits alike, in the
// order in which they come. State is held.
func (e *Engine) commit(h *hit, c *catch) {
	h.counted = true
	switch {
	case e.over(h):
		return
	case c.lost != nil:
		e.lose(h, c.d.Number, c.lost)
		return
	case c.condition != nil: // taken as false
		e.failed(h, c.d, c.condition)
		return
	}
	if c.step == 0 {
		c.d.Hits++
	}
	if !h.full { // behind the last frame of a run nothing is collected, so nothing fails
		for _, err := range c.failures {
			e.failed(h, c.d, err)
		}
		e.keep(h, c)
	}
	switch {
	case c.step != 0:
		e.stepMade(h, c)
	case c.left > 0:
		e.steppings++
		e.setSessions(append(e.sessions, session{e.steppings, c.thread, c.d, c.left}))
	default:
		e.checkPass(h, c.d, c.pass)
	}
}

// over reports whether a hit comes too late: its run has ended, or is about to end by another hit. State is held.
func (e *Engine) over(h *hit) bool {
	return e.phase != running || e.runs != h.run || e.ender != nil && e.ender != h
}

// checkPass ends the run when a tracepoint has had as many hits as its pass count allows.
func (e *Engine) checkPass(h *hit, d *definition, pass uint64) {
	if pass > 0 && d.Hits >= pass {
		e.end(h, ending{reason: trace.ReasonPassCount, tracepoint: d.Number})
	}
}

// keep puts a frame where frames go.
func (e *Engine) keep(h *hit, c *catch) {
	err := errBufferFull
	if !c.tooLarge && len(c.frame) <= e.buffer.size {
		err = e.appendFrame(h, c)
	}
	if err != nil {
		h.full = true
		e.end(h, endingBy(err))
		return
	}
	c.d.frames++
	c.d.Usage += uint64(len(c.frame) - tfile.FrameHeader)
	if e.made++; e.made == e.limit {
		h.full = true
		e.end(h, ending{reason: trace.ReasonStop})
	}
}

// appendFrame adds a frame to the buffer and hands it to the sink.
func (e *Engine) appendFrame(h *hit, c *catch) error {
	if !e.layout.SinkOnly {
		if err := e.buffer.append(c.frame, c.d.Number, c.pc, c.step != 0); err != nil {
			return err
		}
		if c.static {
			e.buffer.markStatic()
		}
	}
	switch {
	case e.layout.Sink == nil:
	case h == &e.deposits:
		return e.handOver(c.frame, 1)
	default:
		return e.layout.Sink.Take(c.frame, 1)
	}
	return nil
}

// endingBy is the end of a run that cannot keep a frame.
func endingBy(err error) ending {
	if errors.Is(err, errBufferFull) {
		return ending{reason: trace.ReasonFull}
	}
	return ending{reason: trace.ReasonError, text: err.Error()}
}

// failed takes note of an expression that failed.
func (e *Engine) failed(h *hit, d *definition, err error) {
	d.errors++
	d.lastError = err
	if !e.layout.Tolerant {
		e.end(h, ending{trace.ReasonError, d.Number, err.Error()})
	}
}

// lose ends the run because whoever collects cannot be reached any more. The hit makes no more frames: what was read of the
// thread is not to be relied on. State is held.
func (e *Engine) lose(h *hit, n trace.Number, err error) {
	if !e.over(h) {
		h.full = true
		e.end(h, ending{trace.ReasonError, n, err.Error()})
	}
}

// end asks for the run to end when the hit in progress is done with. Of several reasons that one hit brings about the one that
// comes first in precedence is given.
func (e *Engine) end(h *hit, why ending) {
	if e.ending.reason == "" || why.precedes(e.ending) {
		e.ending, e.ender = why, h
	}
}

// finish ends the run if the hit has brought about a reason. State is held.
func (e *Engine) finish(h *hit) target.Verdict {
	switch {
	case e.phase == idle:
		return target.Halt
	case e.ender != h || e.runs != h.run:
		return target.Continue
	}
	e.halt()
	return target.Halt
}
