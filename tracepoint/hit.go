package tracepoint

import (
	"maps"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/target"
)

// A view is what a hit has to know of the run that is on. It is never changed but replaced, so that a hit which is about to find
// its condition false takes no lock at all.
type view struct {
	run       uint64
	limit     int                     // bytes that the trace buffer has room for
	locations map[arch.Addr]*location // all that there are
}

// current is the view of the run that is on, nil if none is. It is made when a hit asks for it: a client that defines thousands of
// tracepoints during a run makes one copy of the locations for each hit at most. State is held.
func (e *Engine) current() *view {
	v := e.view.Load()
	if v == nil && e.phase == running {
		v = &view{e.runs, e.buffer.size, maps.Clone(e.locations)}
		e.view.Store(v)
	}
	return v
}

// NewHandler returns what a target is to call at tracepoints (target.Tracer.SetHandler).
func (e *Engine) NewHandler() target.Handler { return e.newWorker() }

// Hit implements target.Handler. Each enabled tracepoint of the address has its turn, in the order of definition: if the
// condition holds the hit counts, and its actions make one frame. What ends the run does so after the last of them had its
// turn, as in gdbserver.
//
// Hits before the run has begun do not count. One after its end is answered with Halt, so that a target that missed the
// end learns of it.
func (w *worker) Hit(at arch.Addr, s target.Snapshot) target.Verdict {
	e := w.engine
	v := e.view.Load()
	if v == nil {
		e.state.Lock()
		if v = e.current(); v == nil {
			defer e.state.Unlock()
			return e.verdictOutsideRun()
		}
		e.state.Unlock()
	}
	w.begin(v, s)
	var list []armed
	if l := v.locations[at]; l != nil {
		list = l.armed()
	}
	var c catch
	for i := range list {
		if c.d != nil {
			w.commit(&c)
			c = catch{}
		}
		w.turn(&c, &list[i])
	}
	return w.done(&c)
}

// turn gives one tracepoint its turn. The catch, which is empty before, stays so if the condition is false.
func (w *worker) turn(c *catch, a *armed) {
	holds, err := w.holds(a.t.Condition)
	if !holds && err == nil {
		return
	}
	c.d, c.pass, c.left, c.condition = a.d, a.t.Pass, a.t.Step, err
	if err == nil {
		w.collect(c, a, a.t.Actions)
	}
	w.seal(c)
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

// seal notes where the thread was when the catch was made, and whether it can still be reached: asking a thread is done before
// state is taken.
func (w *worker) seal(c *catch) {
	c.pc, c.thread, c.lost = w.snapshot.PC(), w.snapshot.Thread(), w.snapshot.Err()
}

// commit is Engine.commit with state not held.
func (w *worker) commit(c *catch) {
	e := w.engine
	e.state.Lock()
	e.commit(&w.hit, c)
	e.state.Unlock()
}

// done commits the last catch, if it is one, and ends the run if there is a reason to. Otherwise it asks for a step if the
// thread is being stepped. All that is under one lock, the only one that a hit of a single tracepoint takes. A hit that came to
// nothing takes none, unless the run has changed since it began or some thread is being stepped.
func (w *worker) done(c *catch) target.Verdict {
	e, thread := w.engine, w.snapshot.Thread()
	w.snapshot = nil
	if c.d == nil && !w.counted && !e.stepping.Load() && e.view.Load() == w.view {
		return target.Continue
	}
	e.state.Lock()
	if c.d != nil {
		e.commit(&w.hit, c)
	}
	v := e.finish(&w.hit)
	if v == target.Continue && e.isStepping(thread) {
		v = target.Step
	}
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
