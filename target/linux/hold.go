//go:build linux

package linux

import (
	"tracewell/internal/sys"
	"tracewell/target"
)

// whom says which tasks a hold is about.
type whom struct {
	except  *task
	in      *space // nil for any
	blocked bool   // those too that cannot run because their vfork child has not left; a guest is led on until it has
}

// covers reports whether k, which runs, must be stopped.
func (w whom) covers(t *Target, k *task) bool {
	if k == w.except || !k.runs() || w.in != nil && k.proc.space != w.in {
		return false
	}
	if child := t.tasks[k.vforked]; child != nil {
		return w.blocked && child.guest
	}
	return true
}

// hold stops running tasks. It waits until they have stopped and returns them for release. What they stopped with is kept for
// later; a task caught behind a trap is put back before it, to run into it again.
func (t *Target) hold(w whom) (held []*task) {
	was := t.holding
	t.holding = true
	defer func() { t.holding = was }()
	for k := range t.all() {
		if k.held || !w.covers(t, k) {
			continue
		}
		if err := sys.Interrupt(k.tid); sys.Gone(err) && k.tid == k.proc.pid {
			k.state = zombie
			continue
		}
		k.held = true
		held = append(held, k)
	}
	for _, other := range t.await(w) {
		t.keep(other.task, other.status)
	}
	for _, k := range held {
		k.held = false // even if it need not be waited for any more
		t.endCall(k)
	}
	if !was {
		held = append(held, t.newborn...)
		t.newborn = t.newborn[:0]
	}
	return held
}

// endCall has a task that is stopped at an event go on to the end of its system call, without an instruction of the program.
// At the event the kernel has yet to write the result: a task that was sent elsewhere from there, to make a call of ours or a
// function call of the session's, would find the result there, and have the -ENOSYS that it shows at the event when it is
// put back. After a clone3 that seems to have failed like this the C library makes the same thread once more. A vfork has no
// end before the child's exec, so it is left alone; so is a call whose return the session wants to see.
func (t *Target) endCall(k *task) {
	if k.event == 0 || k.event == sys.EventVfork || k.state != stopped || k.proc.catch.on {
		return
	}
	waiting, status := k.waiting, k.status // an event, still to be acted on
	if k.stepping {
		sys.Step(k.tid, 0) // the stop is then that of a finished step
	} else {
		sys.ContToSyscall(k.tid, 0)
	}
	k.state = running
	k.forget()
	s, ok := t.waitFor(k)
	if !ok {
		return
	}
	_, s = t.arrive(k.tid, s)
	sig, _ := s.Stopped()
	k.returned = sig == sys.SyscallTrap
	if !waiting {
		t.park(k, s)
		return
	}
	k.waiting, k.status = true, status
	t.ended(k, s)
}

// stop is a wait status and whose it is.
type stop struct {
	task   *task
	status sys.Status
}

// await parks held tasks until all that w covers have stopped or ended, and returns the stops of others, which were to run on.
// Guests are led on meanwhile, since a task may wait for one.
func (t *Target) await(w whom) (others []stop) {
	for first := true; t.awaited(w); first = false {
		if first && t.awaitsLeader() {
			t.alarm.start()
			defer t.alarm.stop()
		}
		k, s, interrupted := t.hear()
		if interrupted {
			t.findZombies()
		}
		switch {
		case k == nil:
		case k.guest:
			t.act(k, s)
		case k.held:
			k.held = false
			t.park(k, s)
		default:
			others = append(others, stop{k, s})
		}
		if k != nil && k.tgid == k.proc.pid && !k.guest && s.Event() == sys.EventExec {
			t.keepOnly(k)
		}
	}
	return others
}

// awaitsLeader reports whether one of the tasks that have been told to stop is a leader that may become a zombie instead.
func (t *Target) awaitsLeader() bool {
	for _, p := range t.procs {
		if k := t.tasks[p.pid]; k != nil && k.held && k.mayLinger() {
			return true
		}
	}
	return false
}

// awaited reports whether a task that w covers has been told to stop and has not yet.
func (t *Target) awaited(w whom) bool {
	for k := range t.all() {
		if k.held && w.covers(t, k) {
			return true
		}
	}
	return false
}

// release lets the tasks that hold stopped go on, until one of them ends the Resume.
func (t *Target) release(held []*task) {
	for _, k := range held {
		if !t.active {
			return
		}
		if k.state == stopped && k.resumed && !k.waiting && t.tasks[k.tid] == k {
			t.proceed(k, 0)
		}
	}
}

// park keeps what a held task stopped with.
func (t *Target) park(k *task, s sys.Status) {
	if t.ended(k, s) {
		return
	}
	sig, _ := s.Stopped()
	switch event := s.Event(); {
	case event == sys.EventStop:
		k.group, k.groupSignal = sig != sys.SIGTRAP, sig
		return
	case event != 0 && event != sys.EventExec && !t.tells(k, event):
		t.born(k, event)
		return
	case event == 0 && sig == sys.SyscallTrap && !k.proc.catch.on:
		return
	case event == 0 && sig == sys.SIGTRAP && k.fetch() == nil:
		if at := k.trapPC(); k.byBreakpoint() && (k.proc.traps[at] != nil || k.proc.stale(at)) {
			k.putBack(at)
			return
		}
		k.noteTriggers()
	}
	k.waiting, k.status = true, s
	t.parked++
}

// tells reports whether an event of a task may be one for the session, and so waits until it can be told.
func (t *Target) tells(k *task, event int) bool {
	if event != sys.EventClone || t.reports.Threads {
		return t.reports != (target.Reports{})
	}
	group, err := sys.ThreadGroup(k.child)
	return err == nil && !k.threadOf(k.child, group, event)
}
