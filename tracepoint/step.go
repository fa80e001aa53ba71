package tracepoint

import "slices"

// A session is one while-stepping in progress: a thread that still has steps to make for one hit of one tracepoint.
// A thread has several when it reaches tracepoints while it steps. The list is in the order in which they began.
type session struct {
	thread int64
	d      *definition
	left   uint64
}

// Stepped is called by the target when a thread has made the step that a verdict asked for. Each while-stepping in progress
// on the thread, the latest first, makes one frame of its stepping actions. Steps are no hits; the pass count is looked at
// when the last step is made, so that a run that it ends has all of them.
//
// A target calls it before Site.Hit if the step led to a site.
func (e *Engine) Stepped(snapshot Snapshot) Verdict {
	e.state.Lock()
	defer e.state.Unlock()
	if e.phase != running {
		return e.verdictOutsideRun()
	}
	thread := snapshot.Thread()
	for i := len(e.sessions) - 1; i >= 0; i-- {
		s := &e.sessions[i]
		if s.thread != thread {
			continue
		}
		e.collect(s.d, s.d.atStep, snapshot, true)
		if s.left--; s.left == 0 {
			e.checkPass(s.d)
			e.sessions = slices.Delete(e.sessions, i, i+1)
		}
	}
	return e.verdict(snapshot)
}

// ThreadGone is called by the target when a thread will make no more steps: it has ended, or has been let go. The verdict
// matters when the steps of the thread were all that a pass count waited for.
func (e *Engine) ThreadGone(thread int64) Verdict {
	e.state.Lock()
	defer e.state.Unlock()
	if e.phase != running {
		return Continue
	}
	e.sessions = slices.DeleteFunc(e.sessions, func(s session) bool {
		gone := s.thread == thread
		if gone {
			e.checkPass(s.d)
		}
		return gone
	})
	if e.ending.reason != "" {
		e.halt()
		return Halt
	}
	return Continue
}

// isStepping reports whether any session waits for the thread to step.
func (e *Engine) isStepping(snapshot Snapshot) bool {
	if len(e.sessions) == 0 {
		return false
	}
	thread := snapshot.Thread()
	return slices.ContainsFunc(e.sessions, func(s session) bool { return s.thread == thread })
}
