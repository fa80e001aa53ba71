//go:build amd64

package linux

import (
	"slices"

	"tracewell/internal/linux"
	"tracewell/target"
	"tracewell/tracepoint"
)

// adopt makes a stopped tracee a task of the process.
func (t *Target) adopt(tid int, p *process) *task {
	k := &task{tid: tid, proc: p}
	t.tasks[tid] = k
	t.order = append(t.order, k)
	return k
}

// born deals with the event that tells of a new task: a thread is adopted, a vfork child becomes a guest, a forked child is
// freed of the traps it inherited and let go.
func (t *Target) born(parent *task, event int) {
	if event == linux.EventVforkDone {
		return
	}
	tid, err := linux.EventMessage(parent.tid)
	if err != nil {
		return
	}
	if !t.firstStop(tid) {
		return
	}
	group, err := linux.ThreadGroup(tid)
	switch {
	case err != nil:
		// Killed already; its end will not concern anybody.
	case group == parent.proc.pid && !parent.guest:
		k := t.adopt(tid, parent.proc)
		k.verb, k.resumed = t.wish(k)
		switch {
		case t.holding:
			t.newborn = append(t.newborn, k) // to be let go with those that are held
		case t.active && k.resumed:
			t.proceed(k, 0)
		}
	case event == linux.EventVfork || linux.SharesMemory(tid, parent.tid):
		k := &task{tid: tid, proc: parent.proc, guest: true}
		t.tasks[tid] = k
		t.guests++
		t.proceed(k, 0)
	default:
		t.setFree(tid, parent.proc)
	}
}

// firstStop waits for the stop that a new task begins with, which may have come before its parent's event. It reports false
// for one that has been killed.
func (t *Target) firstStop(tid int) bool {
	if t.early[tid] {
		delete(t.early, tid)
		return true
	}
	for {
		_, s, err := linux.Wait(tid)
		if err == linux.ErrInterrupted {
			continue
		}
		_, ok := s.Stopped()
		return err == nil && ok
	}
}

// setFree takes the traps out of a forked child's own copy of the memory and detaches it.
func (t *Target) setFree(pid int, parent *process) {
	if mem, err := linux.OpenMemory(pid); err == nil {
		for _, tr := range parent.traps {
			mem.WriteAt([]byte{tr.original}, int64(tr.addr))
		}
		mem.Close()
	}
	linux.Detach(pid, 0)
}

// wish is what the last Resume said of threads that were not there yet.
func (t *Target) wish(k *task) (target.Verb, bool) {
	for _, a := range t.actions {
		if a.Thread.Covers(k.id()) {
			return target.Go, true
		}
	}
	return target.Go, false
}

// ended deals with the end of a task and reports whether it was one.
func (t *Target) ended(k *task, s linux.Status) bool {
	code, exited := s.Exited()
	sig, killed := s.Killed()
	if !exited && !killed {
		return false
	}
	delete(t.tasks, k.tid)
	k.close()
	if k.guest {
		t.guests--
		return true
	}
	if k.waiting {
		t.parked--
	}
	t.order = slices.DeleteFunc(t.order, func(o *task) bool { return o == k })
	if t.engine != nil && t.engine.ThreadGone(int64(k.tid))&tracepoint.Halt != 0 {
		t.removeSites()
	}
	if k.tid == k.proc.pid {
		e := target.Event{Kind: target.Exited, Thread: k.id(), Code: code}
		if killed {
			e.Kind, e.Signal = target.Terminated, gdbSignal(sig)
		}
		t.over(&e)
	} else if !t.holding {
		t.noneLeft()
	}
	return true
}

// over notes that the process is gone, leaving the event for the Resume that is or will be pending.
func (t *Target) over(e *target.Event) {
	for _, k := range t.order {
		delete(t.tasks, k.tid)
		k.close()
	}
	t.order, t.parked = nil, 0
	t.proc.close()
	t.proc = nil
	t.finished = e
}

// vanish deals with a wait that finds no tracees although tasks are known: they died under a debugger's nose, for instance by
// an exec of another thread.
func (t *Target) vanish() {
	if t.proc == nil {
		t.guests = 0
		if t.active {
			t.finish()
		}
		return
	}
	pid := t.proc.pid
	t.over(&target.Event{Kind: target.Terminated, Thread: target.ThreadID{PID: pid, TID: pid}, Signal: target.SignalKill})
}

// noneLeft ends a Resume that can bring no event any more, because its threads have exited and the others were to stay
// stopped.
func (t *Target) noneLeft() {
	if !t.active || t.parked > 0 || slices.ContainsFunc(t.order, func(k *task) bool { return k.state != stopped }) {
		return
	}
	if len(t.order) > 0 {
		t.report(target.Event{Kind: target.Stopped, Thread: t.order[0].id()})
	}
}

// execed deals with a program that has replaced itself: one task is left, under the leader's id, in a new address space.
func (t *Target) execed(k *task) {
	if k.guest {
		delete(t.tasks, k.tid)
		t.guests--
		linux.Detach(k.tid, 0)
		return
	}
	t.keepOnly(k)
	k.passed, k.slot, k.collecting, k.sent, k.deferred, k.rseqKnown = 0, nil, false, 0, nil, false
	k.stepping = false // a step into the exec ends here
	if k.proc.renew() != nil {
		return
	}
	path, _ := linux.Executable(k.proc.pid)
	t.report(target.Event{Kind: target.Execed, Thread: k.id(), Signal: target.SignalTrap, Path: path})
}

// keepOnly drops every task but one: after an exec the others are gone, some without a word.
func (t *Target) keepOnly(k *task) {
	for _, other := range t.order {
		if other != k {
			delete(t.tasks, other.tid)
			other.close()
		}
	}
	t.order, t.parked = []*task{k}, 0
	if k.waiting {
		t.parked = 1
	}
}
