//go:build linux

package linux

import (
	"slices"

	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/tracepoint"
)

// adopt makes a stopped tracee a task of a process.
func (t *Target) adopt(tid int, p *process) *task {
	k := &task{tid: tid, tgid: p.pid, proc: p}
	t.tasks[tid] = k
	p.order = append(p.order, k)
	return k
}

// born deals with the event that tells of a new task: a thread is adopted, and so is a clone that shares the memory, which
// gdbserver takes for a thread, too. A child is made a process if the session wants to know of it. Otherwise one that shares the
// memory becomes a guest, and one with its own is freed of the traps that it inherited and let go. The parent of a child that
// shares the memory without a vfork does not wait for it, which is nothing to tell a session of. It reports whether there is
// an event to tell.
func (t *Target) born(parent *task, event int) (target.Event, bool) {
	if event == sys.EventVforkDone {
		return target.Event{Kind: target.VforkDone, Thread: parent.id(), Signal: target.SignalTrap}, t.reports.Vfork && !parent.guest
	}
	tid := parent.child
	if tid == 0 || !t.firstStop(tid) {
		return target.Event{}, false
	}
	group, err := sys.ThreadGroup(tid)
	if err != nil {
		return target.Event{}, false // killed already; its end will not concern anybody
	}
	if !parent.guest && parent.threadOf(tid, group, event) {
		return t.threadBorn(tid, group, parent.proc)
	}
	if event == sys.EventVfork {
		parent.vforked = tid
	}
	shares := parent.shares(event, tid)
	told := event == sys.EventVfork && t.reports.Vfork || !shares && t.reports.Fork
	if told && !parent.guest {
		return t.childBorn(tid, parent, shares)
	}
	if !shares {
		t.setFree(tid, parent.proc, false)
		return target.Event{}, false
	}
	t.entertain(tid, group, parent.proc)
	return target.Event{}, false
}

// threadOf reports whether a new task that an event of k tells of is a thread of k's process.
func (k *task) threadOf(tid, group, event int) bool {
	return group == k.tgid || event == sys.EventClone && sys.SharesMemory(tid, k.tid)
}

// threadBorn adopts a thread and lets it go on as the session wants it, if it does not want to be asked first.
func (t *Target) threadBorn(tid, group int, p *process) (target.Event, bool) {
	k := t.adopt(tid, p)
	k.tgid = group
	if t.reports.Threads {
		return target.Event{Kind: target.ThreadCreated, Thread: k.id(), Signal: target.SignalTrap}, true
	}
	k.resumed = t.wanted(k)
	switch {
	case t.holding:
		t.newborn = append(t.newborn, k) // to be let go with those that are held
	case t.active && k.resumed:
		t.proceed(k, 0)
	}
	return target.Event{}, false
}

// childBorn makes a process of a child.
func (t *Target) childBorn(tid int, parent *task, shares bool) (target.Event, bool) {
	p, err := parent.proc.fork(tid, shares)
	if err != nil {
		sys.Detach(tid, 0)
		return target.Event{}, false
	}
	t.procs = append(t.procs, p)
	e := target.Event{Kind: target.Forked, Thread: parent.id(), Signal: target.SignalTrap, Child: t.adopt(tid, p).id()}
	if shares {
		e.Kind = target.Vforked
	}
	return e, true
}

// firstStop waits for the stop that a new task begins with, which may have come before its parent's event. It reports false
// for one that has been killed.
func (t *Target) firstStop(tid int) bool {
	if t.early[tid] {
		delete(t.early, tid)
		return true
	}
	if s, ok := t.inbox.take(tid); ok {
		_, ok = s.Stopped()
		return ok
	}
	for {
		_, s, err := sys.Wait(tid)
		if err == sys.ErrInterrupted {
			continue
		}
		_, ok := s.Stopped()
		return err == nil && ok
	}
}

// setFree takes the traps and what semaphores were raised by out of a forked child's own copy of the memory and detaches it. In
// memory that is the parent's, too, the semaphores are the parent's affair.
func (t *Target) setFree(pid int, parent *process, shared bool) {
	if mem, err := sys.OpenMemory(pid); err == nil {
		parent.warn(parent.code.Clean(mem))
		for _, tr := range parent.traps {
			if tr.site != nil && !shared {
				lower(mem, tr.site.Semaphores)
			}
		}
		mem.Close()
	}
	sys.Detach(pid, 0)
}

// wanted reports whether a thread that was not there yet is to run. In non-stop mode all do.
func (t *Target) wanted(k *task) bool {
	return t.nonStop || slices.ContainsFunc(t.actions, func(a target.Action) bool { return a.Thread.Covers(k.id()) })
}

// ended deals with the end of a task and reports whether it was one.
func (t *Target) ended(k *task, s sys.Status) bool {
	if !s.Ended() {
		return false
	}
	k.close()
	if k.guest {
		t.strike(k)
		return true
	}
	delete(t.tasks, k.tid)
	if k.waiting {
		t.parked--
	}
	p := k.proc
	p.order = slices.DeleteFunc(p.order, func(o *task) bool { return o == k })
	if t.engine != nil && p.traced && t.engine.ThreadGone(int64(k.tid))&tracepoint.Halt != 0 {
		t.removeSites()
	}
	code, _ := s.Exited()
	sig, killed := s.Killed()
	if k.tid == k.tgid { // what has not been heard of its threads never will
		t.forsake(p, func(o *task) bool { return o.tgid == k.tgid })
	}
	switch {
	case len(p.order) > 0:
		t.threadOver(k, code)
	case killed:
		t.over(p, target.Event{Kind: target.Terminated, Thread: k.id(), Signal: gdbSignal(sig)})
	default:
		t.over(p, target.Event{Kind: target.Exited, Thread: k.id(), Code: code})
	}
	return true
}

// threadOver tells the end of a thread to a session that wants to know, or that it was the last which could have had an event.
func (t *Target) threadOver(k *task, code int) {
	switch {
	case t.reports.Threads:
		t.tellLater(target.Event{Kind: target.ThreadExited, Thread: k.id(), Code: code})
	case t.nonStop:
		if k.resumed {
			t.noneResumed()
		}
	case !t.holding:
		t.noneLeft()
	}
}

// noneResumed tells in non-stop mode that no thread is left which could have an event, if it is so.
func (t *Target) noneResumed() {
	if !t.reports.NoneResumed {
		return
	}
	for k := range t.all() {
		if k.resumed && (k.state == stopped || k.heard()) {
			return
		}
	}
	t.events.add(target.Event{Kind: target.NoneResumed})
}

// over notes that a process is gone.
func (t *Target) over(p *process, e target.Event) {
	if p.traced && t.last != nil {
		t.last.end = e
	}
	t.dismiss(p)
	t.tellLater(e)
}

// dismiss forgets a process and its tasks.
func (t *Target) dismiss(p *process) {
	guests := t.abandon(p)
	defer func() { t.setGuestsFree(guests) }()
	t.forsake(p, func(*task) bool { return true })
	p.space.leave()
	t.procs = slices.DeleteFunc(t.procs, func(o *process) bool { return o == p })
	for _, o := range t.procs {
		if o.parent == p {
			o.parent = nil
		}
	}
	p.traced = false
}

// forsake forgets those tasks of a process that match.
func (t *Target) forsake(p *process, match func(*task) bool) {
	p.order = slices.DeleteFunc(p.order, func(k *task) bool {
		if !match(k) {
			return false
		}
		if k.waiting {
			t.parked--
		}
		delete(t.tasks, k.tid)
		t.inbox.take(k.tid)
		k.close()
		return true
	})
}

// vanish deals with a wait that finds no tracees although tasks are known: they died under a debugger's nose, for instance by
// an exec of another thread.
func (t *Target) vanish() {
	for len(t.procs) > 0 {
		pid := t.procs[0].pid
		t.over(t.procs[0], target.Event{Kind: target.Terminated, Thread: target.ThreadID{PID: pid, TID: pid}, Signal: target.SignalKill})
	}
	clear(t.tasks)
	t.guests = 0
}

// noneLeft ends a Resume of all-stop mode that can bring no event any more, because its threads have exited and the others were to
// stay stopped.
func (t *Target) noneLeft() {
	if !t.active || t.nonStop || t.parked > 0 || len(t.backlog) > 0 || len(t.procs) == 0 {
		return
	}
	var left *task
	for k := range t.all() {
		switch {
		case k.heard():
			return
		case left == nil && k.state == stopped:
			left = k
		}
	}
	switch {
	case t.reports.NoneResumed:
		t.report(target.Event{Kind: target.NoneResumed})
	case left != nil:
		t.report(target.Event{Kind: target.Stopped, Thread: left.id()})
	}
}

// execed deals with a program that has replaced itself: one task is left, under the leader's id, in a new address space.
func (t *Target) execed(k *task) {
	if k.guest {
		if former, err := sys.EventMessage(k.tid); err == nil && t.tasks[former] != nil && former != k.tid {
			t.strike(t.tasks[former]) // the thread that executed the program has its process's id now
		}
		t.strike(k)
		t.detachTask(k)
		return
	}
	if k.tgid != k.proc.pid && len(k.proc.order) > 1 { // a clone has left the memory that it shared
		t.expel(k)
		return
	}
	t.keepOnly(k)
	k.passed, k.counted, k.buffer, k.collecting, k.sent, k.deferred, k.rseqKnown = 0, 0, nil, false, 0, nil, false
	k.diverted, k.remade = nil, false
	k.proc.traced = false
	k.stepping = false // a step into the exec ends here
	guests := t.abandon(k.proc)
	err := k.proc.renew()
	t.setGuestsFree(guests)
	if err != nil {
		return
	}
	path, _ := sys.Executable(k.proc.pid)
	t.endCall(k)
	t.report(target.Event{Kind: target.Execed, Thread: k.id(), Signal: target.SignalTrap, Path: path})
}

// keepOnly drops every task of a process but one: after an exec the others are gone, some without a word. Only clones live on,
// in the memory that was the process's.
func (t *Target) keepOnly(k *task) {
	for _, other := range slices.Clone(k.proc.order) {
		if other.tgid != k.tgid {
			t.expel(other)
		}
	}
	t.forsake(k.proc, func(o *task) bool { return o != k })
}

// expel lets one task go that the session has nothing more to do with.
func (t *Target) expel(k *task) {
	if k.runs() && sys.Interrupt(k.tid) == nil {
		if s, ok := t.waitFor(k); ok {
			_, s = t.arrive(k.tid, s)
			t.park(k, s)
		}
	}
	if k.waiting {
		t.orphan(k, k.status, func(child int) { t.dropChild(k, child) })
	}
	if t.tasks[k.tid] == k && !t.detachTask(k) {
		k.bury()
	}
	t.forsake(k.proc, func(o *task) bool { return o == k })
}
