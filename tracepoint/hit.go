package tracepoint

import (
	"errors"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
)

// Hit is called by the target when a thread reaches the site. Each enabled tracepoint of the address has its turn, in the
// order of definition: if the condition holds the hit counts, and its actions make one frame. What ends the run does so
// after the last of them had its turn, as in gdbserver.
//
// Hits before the run has begun are let go. One after its end is answered with Halt, so that a target that missed the
// end learns of it.
func (s *Site) Hit(snapshot Snapshot) Verdict {
	e := s.engine
	e.state.Lock()
	defer e.state.Unlock()
	if e.phase != running {
		return e.verdictOutsideRun()
	}
	for _, d := range s.definitions {
		if d.active() {
			e.hit(d, snapshot)
		}
	}
	return e.verdict(snapshot)
}

// hit gives one tracepoint its turn.
func (e *Engine) hit(d *definition, snapshot Snapshot) {
	if d.condition != nil && !e.holds(d, snapshot) {
		return
	}
	d.Hits++
	e.collect(d, d.atHit, snapshot, false)
	if d.Step > 0 {
		e.sessions = append(e.sessions, session{snapshot.Thread(), d, d.Step})
		return
	}
	e.checkPass(d)
}

// holds evaluates a condition. One that fails is taken as false and ends the run.
func (e *Engine) holds(d *definition, snapshot Snapshot) bool {
	e.collector.begin(snapshot) // a condition that records does so in vain
	v, err := e.machine.Value(d.condition, &e.collector)
	if err != nil {
		e.failed(d, err)
		return false
	}
	return v != 0
}

// checkPass ends the run when a tracepoint has had as many hits as its pass count allows.
func (e *Engine) checkPass(d *definition) {
	if d.Pass > 0 && d.Hits >= d.Pass {
		e.end(ending{reason: trace.ReasonPassCount, tracepoint: d.Number})
	}
}

// collect makes a frame by performing operations, unless the buffer was found to be full in this same hit. The frame holds
// what could be collected even if an operation failed, which ends the run: what led to the failure is often in it.
func (e *Engine) collect(d *definition, operations []operation, snapshot Snapshot, stepped bool) {
	if e.full {
		return
	}
	c := &e.collector
	c.begin(snapshot)
	for i := range operations {
		if err := c.perform(&operations[i], d.marker); err != nil {
			e.failed(d, err)
		}
	}
	frame, err := c.frame(d.Number)
	if err == nil {
		err = e.keep(d, frame, snapshot.PC(), stepped)
	}
	if err != nil {
		e.full = true
		e.end(endingBy(err))
		return
	}
	d.frames++
	d.Usage += uint64(len(frame) - tfile.FrameHeader)
	if e.made++; e.made == e.limit {
		e.full = true
		e.end(ending{reason: trace.ReasonStop})
	}
}

// keep puts a frame where frames go.
func (e *Engine) keep(d *definition, frame []byte, pc arch.Addr, stepped bool) error {
	if !e.layout.SinkOnly {
		if err := e.buffer.append(frame, d.Number, pc, stepped); err != nil {
			return err
		}
		if e.collector.hasStatic {
			e.buffer.markStatic()
		}
	}
	if e.layout.Sink != nil {
		return e.layout.Sink.Take(frame)
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
func (e *Engine) failed(d *definition, err error) {
	d.errors++
	d.lastError = err
	if !e.layout.Tolerant {
		e.end(ending{trace.ReasonError, d.Number, err.Error()})
	}
}

// verdict ends the run if there is a reason to, and otherwise asks for a step if the thread is being stepped.
func (e *Engine) verdict(snapshot Snapshot) Verdict {
	e.collector.release()
	if e.ending.reason != "" {
		e.halt()
		return Halt
	}
	if e.isStepping(snapshot) {
		return Step
	}
	return Continue
}

func (e *Engine) verdictOutsideRun() Verdict {
	if e.phase == starting {
		return Continue
	}
	return Halt
}
