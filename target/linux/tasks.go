//go:build linux

package linux

import (
	"slices"

	"tracewell/internal/sys"
	"tracewell/target"
)

// adopt makes a stopped tracee a task of a process.
func (t *Target) adopt(tid int, p *process) *task {
	k := &task{tid: tid, tgid: p.pid, proc: p}
	t.tasks[tid] = k
	p.order = append(p.order, k)
	return k
}

// born deals with the event that tells of a new task: a thread is adopted, and so is a clone that shares the memory, which
// gdbserver takes for a thread, too. A child is made a process if the session wants to know of it. Otherwise one that shares
// the memory becomes a vfork child, and one with its own is freed of the inserted breakpoints that it inherited and let go. The
// parent of a child that shares the memory without a vfork does not wait for it, which is nothing to tell a session of. It
// reports whether there is an event to tell.
func (t *Target) born(parent *task, event int) (target.Event, bool) {
	if event == sys.EventVforkDone {
		told := t.reports.Vfork && parent.role == member
		return target.Event{Kind: target.VforkDone, Thread: parent.id(), Signal: target.SignalTrap}, told
	}
	tid := parent.child
	if tid == 0 || !t.firstStop(tid) {
		return target.Event{}, false
	}
	group, err := sys.ThreadGroup(tid)
	if err != nil {
		return target.Event{}, false // killed already; its end will not concern anybody
	}
	if parent.role == member && parent.threadOf(tid, group, event) {
		return t.threadBorn(tid, group, parent.proc)
	}
	if event == sys.EventVfork {
		parent.vforked = tid
	}
	shares := parent.shares(event, tid)
	told := event == sys.EventVfork && t.reports.Vfork || !shares && t.reports.Fork
	if told && parent.role == member {
		return t.childBorn(tid, parent, shares)
	}
	if !shares {
		t.setFree(tid, parent.proc, false)
		return target.Event{}, false
	}
	t.addVforkChild(tid, group, parent.proc)
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
	t.enterThread(k)
	if t.reports.Threads {
		return target.Event{Kind: target.ThreadCreated, Thread: k.id(), Signal: target.SignalTrap}, true
	}
	if t.wanted(k) {
		k.wants = toRun
		t.resumeLater(k)
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
	if !shares && t.collector != nil {
		p.legacy = parent.proc.pads.fork(t.collector.begun.Load())
	}
	e := target.Event{Kind: target.Forked, Thread: parent.id(), Signal: target.SignalTrap, Child: t.adopt(tid, p).id()}
	t.settleLids(p.addrSpace)
	if shares {
		e.Kind = target.Vforked
	}
	return e, true
}

// setFree takes the inserted breakpoints and what semaphores were raised by out of a forked child's own copy of the memory and
// detaches it. In memory that is the parent's, too, the semaphores are the parent's affair.
func (t *Target) setFree(pid int, parent *process, shared bool) {
	if mem, err := sys.OpenMemory(pid); err == nil {
		parent.warn(parent.code.Clean(mem))
		for _, bp := range parent.inserted {
			if bp.location != nil && !shared {
				lower(mem, bp.location.Semaphores)
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

// handleEnds tells the engine and the session of the tasks that have ended.
func (t *Target) handleEnds() {
	for len(t.ends) > 0 {
		e := t.ends[0]
		t.ends = slices.Delete(t.ends, 0, 1)
		t.handleEnd(e)
	}
	if t.lost {
		t.lost = false
		t.noTracees()
	}
}

func (t *Target) handleEnd(e end) {
	k := e.task
	p := k.proc
	if t.handler != nil && p.traced {
		t.depositAll()
		if t.handler.ThreadGone(int64(k.tid))&target.Halt != 0 {
			t.removeLocations()
		}
	}
	switch {
	case !e.last:
		t.threadEnded(k, e.code)
	case e.signal != 0:
		t.processEnded(p, target.Event{Kind: target.Terminated, Thread: k.id(), Signal: gdbSignal(e.signal)})
	default:
		t.processEnded(p, target.Event{Kind: target.Exited, Thread: k.id(), Code: e.code})
	}
}

// threadEnded tells the end of a thread to a session that wants to know, or has the loop look whether one is left.
func (t *Target) threadEnded(k *task, code int) {
	switch {
	case t.reports.Threads:
		t.tellLater(target.Event{Kind: target.ThreadExited, Thread: k.id(), Code: code})
	case !t.nonStop || k.resumed():
		t.fewer = true
	}
}

// processEnded notes that a process is gone.
func (t *Target) processEnded(p *process, e target.Event) {
	if p.traced && t.last != nil {
		t.last.end = e
	}
	t.removeProcess(p)
	t.tellLater(e)
}

// removeProcess forgets a process and its tasks.
func (t *Target) removeProcess(p *process) {
	children := t.leaveMemory(p)
	defer func() { t.detachChildren(children) }()
	t.removeTasks(p, func(*task) bool { return true })
	if t.sharer(p) == nil {
		t.endPads(p.addrSpace)
	}
	t.settleLids(p.addrSpace)
	p.addrSpace.leave()
	t.procs = slices.DeleteFunc(t.procs, func(o *process) bool { return o == p })
	for _, o := range t.procs {
		if o.parent == p {
			o.parent = nil
		}
	}
	p.traced = false
}

// removeTasks forgets those tasks of a process that match, with their stops.
func (t *Target) removeTasks(p *process, match func(*task) bool) {
	p.order = slices.DeleteFunc(p.order, func(k *task) bool {
		if !match(k) {
			return false
		}
		owed := k.owes // whoever detaches it asks still what it was stopped by
		t.takeStop(k.tid)
		k.owes = owed
		delete(t.tasks, k.tid)
		k.close()
		return true
	})
}

// noTracees deals with a wait that finds no tracees although tasks are known: they died under a debugger's nose, for instance by
// an exec of another thread.
func (t *Target) noTracees() {
	for len(t.procs) > 0 {
		pid := t.procs[0].pid
		end := target.Event{Kind: target.Terminated, Thread: target.ThreadID{PID: pid, TID: pid}, Signal: target.SignalKill}
		t.processEnded(t.procs[0], end)
	}
	clear(t.tasks)
	t.stops, t.children, t.lost = t.stops[:0], 0, false
}

// noneLeft tells that no thread is left which could have an event, if it is so: the resumed ones have exited, and the others are to
// stay stopped. In all-stop mode that ends the Resume. A thread that was to run and is still stopped is being killed, by an exit of
// its process: its end is on the way.
func (t *Target) noneLeft() {
	if !t.active && !t.nonStop || t.due() >= 0 || len(t.backlog) > 0 || len(t.procs) == 0 {
		return
	}
	var left *task
	for k := range t.all() {
		switch {
		case k.resumed() && (k.heard() || k.state == stopped), k.heard() && !t.nonStop:
			return
		case left == nil && k.state == stopped:
			left = k
		}
	}
	switch {
	case t.reports.NoneResumed:
		t.report(target.Event{Kind: target.NoneResumed})
	case left != nil && !t.nonStop:
		t.report(target.Event{Kind: target.Stopped, Thread: left.id()})
	}
}

// execed deals with a program that has replaced itself: one task is left, under the leader's id, in a new address space.
func (t *Target) execed(k *task) {
	if k.role != member {
		if former, err := sys.EventMessage(k.tid); err == nil && t.tasks[former] != nil && former != k.tid {
			t.forgetChild(t.tasks[former]) // the thread that executed the program has its process's id now
		}
		t.forgetChild(k)
		t.detachTask(k)
		return
	}
	if k.tgid != k.proc.pid && len(k.proc.order) > 1 { // a clone has left the memory that it shared
		t.detachClone(k)
		return
	}
	for _, other := range slices.Clone(k.proc.order) {
		if other.tgid != k.tgid {
			t.detachClone(other)
		}
	}
	t.removeTasks(k.proc, func(o *task) bool { return o != k })
	k.passed, k.counted, k.buffer, k.sent, k.deferred, k.rseqKnown = 0, 0, nil, 0, nil, false
	k.owes &^= owesStep | owesEntry
	k.diverted = nil
	k.proc.traced = false
	k.stepping = false // a step into the exec ends here
	children := t.leaveMemory(k.proc)
	if t.sharer(k.proc) == nil {
		t.endPads(k.proc.addrSpace)
	}
	t.unprepare(k.proc)
	former := k.proc.addrSpace
	err := k.proc.renew()
	t.settleLids(former)
	t.detachChildren(children)
	if err != nil {
		return
	}
	path, _ := sys.Executable(k.proc.pid)
	t.finishCall(k)
	t.report(target.Event{Kind: target.Execed, Thread: k.id(), Signal: target.SignalTrap, Path: path})
}

// detachClone lets one task go that the session has nothing more to do with.
func (t *Target) detachClone(k *task) {
	if k.runs() && sys.Interrupt(k.tid) == nil && t.awaitStop(k) && t.mustHandle(k) {
		t.queueStop(k)
	}
	if k.has(owesStop) {
		t.unreportedChild(k, func(child int) { t.dropChild(k, child) })
	}
	if t.tasks[k.tid] == k && !t.detachTask(k) {
		k.awaitEnd()
	}
	t.removeTasks(k.proc, func(o *task) bool { return o == k })
}
