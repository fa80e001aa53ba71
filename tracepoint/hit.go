package tracepoint

import (
	"tracewell/arch"
	"tracewell/ax"
	"tracewell/target"
)

// Hit implements target.Handler. Each enabled tracepoint of the address has its turn, in the order of definition: if the
// condition holds the hit counts, and its actions make one frame. What ends the run does so after the last of them had its
// turn, as in gdbserver.
//
// Hits before the run has begun do not count. One after its end is answered with Halt, so that a target that missed the
// end learns of it.
func (e *Engine) Hit(at arch.Addr, s target.Snapshot) target.Verdict {
	e.state.Lock()
	if e.phase != running {
		defer e.state.Unlock()
		return e.verdictOutsideRun()
	}
	w := e.worker(s)
	var list []armed
	if l := e.locations[at]; l != nil {
		list = l.armed
	}
	e.state.Unlock()
	for i := range list {
		w.turn(&list[i])
	}
	return e.done(w)
}

// turn gives one tracepoint its turn.
func (w *worker) turn(a *armed) {
	c := catch{d: a.d, pass: a.t.Pass, left: a.t.Step}
	holds, err := w.holds(a.t.Condition)
	switch {
	case err != nil: // taken as false
		c.condition = err
	case !holds:
		return
	default:
		w.collect(&c, a.t.Actions, a.marker)
	}
	w.commit(&c)
}

// holds evaluates a condition.
func (w *worker) holds(condition *ax.Program) (bool, error) {
	if condition == nil {
		return true, nil
	}
	w.clear() // a condition that records does so in vain
	v, err := w.value(condition)
	return v != 0, err
}

// commit hands over what was made of the hit, unless the connection to the thread was lost on the way.
func (w *worker) commit(c *catch) {
	c.pc, c.thread = w.snapshot.PC(), w.snapshot.Thread()
	lost := w.snapshot.Err()
	e := w.engine
	e.state.Lock()
	defer e.state.Unlock()
	if lost != nil {
		e.lose(&w.hit, c.d.Number, lost)
		return
	}
	e.commit(&w.hit, c)
}

// done ends the turn of a worker, and the run if there is a reason to. Otherwise it asks for a step if the thread is being
// stepped.
func (e *Engine) done(w *worker) target.Verdict {
	thread := w.snapshot.Thread()
	e.state.Lock()
	v := e.finish(&w.hit)
	if v == target.Continue && e.isStepping(thread) {
		v = target.Step
	}
	e.retire(w)
	e.state.Unlock()
	if v == target.Halt {
		e.bringBack()
	}
	return v
}

func (e *Engine) verdictOutsideRun() target.Verdict {
	if e.phase == starting {
		return target.Continue
	}
	return target.Halt
}
