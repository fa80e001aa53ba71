package tracepoint

import (
	"math"
	"slices"

	"tracewell/target"
)

// A session is one while-stepping in progress: a thread that still has steps to make for one hit of one tracepoint.
// A thread has several when it reaches tracepoints while it steps. The list is in the order in which they began.
type session struct {
	serial uint64 // counts from 1
	thread int64
	d      *definition
	left   uint64
}

// Stepped implements target.Handler. Each while-stepping in progress on the thread, the latest first, makes one frame of its
// stepping actions. Steps are no hits; the pass count is looked at when the last step is made, so that a run that it ends has
// all of them.
func (w *worker) Stepped(s target.Snapshot) target.Verdict {
	e := w.engine
	e.state.Lock()
	v := e.current()
	if v == nil {
		defer e.state.Unlock()
		return e.verdictOutsideRun()
	}
	w.begin(v, s)
	var c catch
	before := uint64(math.MaxUint64)
	for {
		a, serial := e.latestStepping(s.Thread(), before)
		if serial == 0 {
			e.state.Unlock()
			return w.done(&catch{})
		}
		e.state.Unlock()
		c = catch{d: a.d, pass: a.t.Pass, step: serial}
		w.collect(&c, &a, a.t.StepActions)
		w.seal(&c)
		before = serial
		e.state.Lock()
		e.commit(&w.hit, &c)
	}
}

// latestStepping finds the latest while-stepping of a thread that began before another one, with its definition as it is now. The
// serial number is 0 if there is none. State is held.
func (e *Engine) latestStepping(thread int64, before uint64) (a armed, serial uint64) {
	for i := len(e.sessions) - 1; i >= 0; i-- {
		if s := &e.sessions[i]; s.thread == thread && s.serial < before {
			return armed{s.d, s.d.program, s.d.marker}, s.serial
		}
	}
	return armed{}, 0
}

// stepMade counts a step. State is held.
func (e *Engine) stepMade(h *hit, c *catch) {
	i := slices.IndexFunc(e.sessions, func(s session) bool { return s.serial == c.step })
	if i < 0 {
		return
	}
	if e.sessions[i].left--; e.sessions[i].left == 0 {
		e.checkPass(h, c.d, c.pass)
		e.setSessions(slices.Delete(e.sessions, i, i+1))
	}
}

// ThreadGone implements target.Handler. The verdict matters when the steps of the thread were all that a pass count waited for.
func (w *worker) ThreadGone(thread int64) target.Verdict {
	e := w.engine
	e.state.Lock()
	v := e.threadGone(thread)
	e.state.Unlock()
	if v == target.Halt {
		e.bringBack()
	}
	return v
}

// threadGone is ThreadGone with state held.
func (e *Engine) threadGone(thread int64) target.Verdict {
	if e.phase != running {
		return target.Continue
	}
	h := hit{run: e.runs}
	e.setSessions(slices.DeleteFunc(e.sessions, func(s session) bool {
		gone := s.thread == thread
		if gone && !e.over(&h) {
			e.checkPass(&h, s.d, s.d.program.Pass)
		}
		return gone
	}))
	return e.finish(&h)
}

// setSessions changes the list, and has hits know whether there is any. State is held.
func (e *Engine) setSessions(list []session) {
	e.sessions = list
	e.stepping.Store(len(list) > 0)
}

// isStepping reports whether any while-stepping waits for the thread to step. State is held.
func (e *Engine) isStepping(thread int64) bool {
	return slices.ContainsFunc(e.sessions, func(s session) bool { return s.thread == thread })
}
