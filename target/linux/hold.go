//go:build linux

package linux

import (
	"slices"

	"tracewell/internal/sys"
	"tracewell/target"
)

// stopSet says which tasks are to be stopped.
type stopSet struct {
	except *task
	only   *task      // nil for all
	in     *addrSpace // nil for any
}

// has reports whether a task is one that must not run.
func (w stopSet) has(k *task) bool {
	return k.role == member && k != w.except && (w.only == nil || k == w.only) && (w.in == nil || k.proc.addrSpace == w.in)
}

// child is the task that k waits for in the kernel after a vfork, nil if it does not.
func (t *Target) child(k *task) *task { return t.tasks[k.vforked] }

// stopThreads stops running tasks and waits until they have stopped. It handles nothing: their stops, and those of others that
// come meanwhile, are queued, and a task caught behind an inserted breakpoint is put back before it, to run into it again. When
// what the tasks were stopped for is done the loop resumes them (resumeNext) and handles the stops. A parent that waits for its
// vfork child executes nothing, and is left to wait.
func (t *Target) stopThreads(w stopSet) {
	held := t.interruptThreads(w, func(k *task) bool { return t.child(k) == nil })
	t.waitHalting()
	t.stand(w, held)
}

// stopAll is stopThreads that waits for the parents of vfork children, too, unless the child is a process of its own. Children
// are led on until the parent can stop: it is the one thing that is handled here. Only the loop and requests call it.
func (t *Target) stopAll(w stopSet) {
	held := t.interruptThreads(w, func(k *task) bool { return t.child(k) == nil || t.child(k).role != member })
	t.waitHalting()
	for t.halting(true) {
		if !t.leadChild() {
			t.waitEvent()
		}
	}
	t.stand(w, held)
}

// interruptThreads tells the tasks of a set to stop that run and match, and returns them.
func (t *Target) interruptThreads(w stopSet, match func(*task) bool) (held []*task) {
	for k := range t.all() {
		if !w.has(k) || !k.runs() || k.state == halting || !match(k) {
			continue
		}
		if err := sys.Interrupt(k.tid); sys.Gone(err) && k.tid == k.proc.pid {
			k.state = zombie
			continue
		}
		k.state = halting
		held = append(held, k)
	}
	return held
}

// waitHalting waits until no task is left that has been told to stop and can.
func (t *Target) waitHalting() {
	for first := true; t.halting(false); first = false {
		if first && t.haltsLeader() {
			t.alarm.start()
			defer t.alarm.stop()
		}
		if _, interrupted := t.waitEvent(); interrupted {
			t.findZombies()
		}
	}
}

// halting reports whether a task has been told to stop and has not yet, those that wait for a vfork child included or not.
func (t *Target) halting(parents bool) bool {
	if t.lost {
		return false
	}
	for k := range t.all() {
		if k.state == halting && (parents || t.child(k) == nil) {
			return true
		}
	}
	return false
}

// haltsLeader reports whether one of the tasks that have been told to stop is a leader that may become a zombie instead.
func (t *Target) haltsLeader() bool {
	for _, p := range t.procs {
		if k := t.tasks[p.pid]; k != nil && k.state == halting && k.mayLinger() {
			return true
		}
	}
	return false
}

// leadChild lets one vfork child go on, by handling its stop if it has one, and reports whether one was to be. Nothing is told of
// one, and no more is stopped for it than the threads of its memory.
func (t *Target) leadChild() bool {
	if t.resumeNext(true) {
		return true
	}
	for _, s := range t.stops {
		if k := s.task; k != nil && k.role != member {
			t.takeStop(k.tid)
			t.handleStop(k)
			return true
		}
	}
	return false
}

// stand leaves every task of a set in a state in which it can be looked at, changed and let go, and has the loop resume those
// which were stopped for that alone.
func (t *Target) stand(w stopSet, held []*task) {
	var owing []*task
	for i := range t.stops {
		if s := &t.stops[i]; s.task != nil && w.has(s.task) && !s.stood {
			s.stood = true
			owing = append(owing, s.task)
		}
	}
	for _, k := range owing {
		t.prepareStop(k)
	}
	for _, k := range held {
		if k.state == halting { // it need not be waited for any more
			k.state = running
		}
		if !k.has(owesStop) {
			t.finishCall(k)
		}
		t.resumeLater(k)
	}
}

// prepareStop prepares a task for standing still with a stop that is not going to be handled for a while: one that needs no
// handling is taken out of the queue, and the task is led out of a system call.
func (t *Target) prepareStop(k *task) {
	if t.tasks[k.tid] != k { // an exec of another has ended it
		return
	}
	if !t.mustHandle(k) {
		t.takeStop(k.tid)
		t.resumeLater(k)
	}
	t.finishCall(k)
}

// mustHandle prepares what a task has stopped with for being handled later, and reports whether it must be. What would be gone
// by then is noted, an untold birth is no more than entered, and a task behind an inserted breakpoint is put back to run into
// it again.
func (t *Target) mustHandle(k *task) bool {
	switch signal, event := k.stop.signal, k.stop.event; {
	case event == sys.EventStop:
		return false
	case event != 0 && event != sys.EventExec && !t.tells(k, event):
		t.born(k, event)
		return false
	case event == 0 && signal == sys.SyscallTrap && !k.proc.seesCalls():
		return false
	case event == 0 && signal == sys.SIGTRAP && k.fetch() == nil:
		if at := k.trapPC(); k.byBreakpoint() && (k.proc.inserted[at] != nil || k.proc.stale(at)) {
			k.putBack(at)
			return false
		}
		if !k.triggersKnown {
			k.noteTriggers()
		}
	}
	return true
}

// tells reports whether an event of a task may be one for the session, and so waits until it can be told.
func (t *Target) tells(k *task, event int) bool {
	if event != sys.EventClone || t.reports.Threads {
		return t.reports != (target.Reports{})
	}
	group, err := sys.ThreadGroup(k.child)
	return err == nil && !k.threadOf(k.child, group, event)
}

// finishCall has a task that is stopped at an event go on to the end of its system call, without an instruction of the program.
// At the event the kernel has yet to write the result: a task that was sent elsewhere from there, to make a call of ours or a
// function call of the session's, would find the result there, and have the -ENOSYS that it shows at the event when it is
// put back. After a clone3 that seems to have failed like this the C library makes the same thread once more. A vfork has no
// end before the child's exec, so it is left alone; so is a call whose return the session wants to see.
func (t *Target) finishCall(k *task) {
	if t.tasks[k.tid] != k || k.state != stopped || k.why != atEvent || k.event == sys.EventVfork || k.proc.seesCalls() {
		return
	}
	owed, event := k.has(owesStop), k.stop
	if k.stepping {
		k.step(0) // the stop is then that of a finished step
	} else {
		sys.ContToSyscall(k.tid, 0)
	}
	k.state = running
	k.forget()
	if !t.awaitStop(k) {
		return
	}
	if k.why == atReturn {
		k.why = atCallEnd
	}
	switch {
	case owed: // it is the event that is still to be handled
		k.owes |= owesStop
		k.stop = event
	case t.mustHandle(k):
		t.queueStop(k)
		t.stops[len(t.stops)-1].stood = true
	}
}

// standAside has tasks that were not to run stand as stopThreads leaves them, should one have stopped meanwhile: the parent of a
// vfork child that is a process of its own.
func (t *Target) standAside() bool {
	i := slices.IndexFunc(t.stops, func(s stop) bool { return s.task != nil && s.task.role == member && !s.stood })
	if i < 0 {
		return false
	}
	t.stops[i].stood = true
	t.prepareStop(t.stops[i].task)
	return true
}
