//go:build linux

package linux

import (
	"slices"

	"tracewell/internal/sys"
	"tracewell/target"
)

// addVforkChild makes a new tracee of a thread group a vfork child in the memory of p, to go on as soon as it may.
func (t *Target) addVforkChild(tid, group int, p *process) {
	k := &task{tid: tid, tgid: group, proc: p}
	t.addChild(k)
	t.settleLids(p.addrSpace)
	t.resumeLater(k)
}

// addChild makes a tracee a vfork child, which may be blocked in a vfork of its own and stop later.
func (t *Target) addChild(k *task) {
	k.role = vforkChild
	t.tasks[k.tid] = k
	t.children++
}

// forgetChild takes a vfork child off the list: it has ended or has been detached.
func (t *Target) forgetChild(k *task) {
	t.takeStop(k.tid)
	delete(t.tasks, k.tid)
	t.children--
	t.settleLids(k.proc.addrSpace)
}

// shares reports whether a child whose beginning an event of k tells of runs in the memory of k.
func (k *task) shares(event, child int) bool {
	return event == sys.EventVfork || sys.SharesMemory(child, k.tid)
}

// dropChild lets the child or thread go whose beginning a task stopped with: as a vfork child, if it runs in memory that may keep
// its inserted breakpoints.
func (t *Target) dropChild(k *task, child int) {
	event := k.stop.event
	if !k.shares(event, child) {
		t.setFree(child, k.proc, false)
		return
	}
	if event == sys.EventVfork {
		k.vforked = child
	}
	if group, err := sys.ThreadGroup(child); err == nil { // otherwise it is dead
		t.addVforkChild(child, group, k.proc)
	}
}

// leaveMemory is called when a process is about to leave its memory. Its vfork children stay with one that is still there;
// otherwise they are stopped, to be detached when the inserted breakpoints that they would meet are gone.
func (t *Target) leaveMemory(p *process) (halted []*task) {
	if rest := t.sharer(p); rest != nil {
		for _, k := range t.tasks {
			if k.role != member && k.proc == p {
				k.proc = rest
			}
		}
		return nil
	}
	return t.stopChildren(p)
}

// sharer is another process in the memory of p, nil for none.
func (t *Target) sharer(p *process) *process {
	for _, other := range t.procs {
		if other != p && other.addrSpace == p.addrSpace {
			return other
		}
	}
	return nil
}

// stopChildren stops the vfork children of a process, each at an instruction of the program's own, and returns them. One that is
// blocked until its own child has left its memory is not waited for: it is detached when it stops.
func (t *Target) stopChildren(p *process) (all []*task) {
	for _, k := range t.tasks {
		if k.role == vforkChild && k.proc == p {
			k.role = partingChild
			if sys.Interrupt(k.tid) == nil && !t.blocked(k) {
				all = append(all, k)
			}
		}
	}
	live := func(k *task) bool { return t.tasks[k.tid] == k }
	for !t.lost && slices.ContainsFunc(all, func(k *task) bool { return live(k) && k.state != stopped }) {
		t.waitEvent()
	}
	all = slices.DeleteFunc(all, func(k *task) bool { return !live(k) || k.state != stopped })
	for _, k := range all {
		if k.has(owesStop) {
			t.takeStop(k.tid)
			t.prepareDetach(k)
		}
	}
	return all
}

// blocked reports whether a task waits for a vfork child that is under trace, maybe as another vfork child, and has not left its
// memory.
func (t *Target) blocked(k *task) bool {
	child := t.tasks[k.vforked]
	return child != nil && child.proc.addrSpace == k.proc.addrSpace
}

// prepareDetach deals with the stop of a vfork child that is to be detached: it keeps the signal that it takes along, and is put
// back before an inserted breakpoint that it has run into.
func (t *Target) prepareDetach(k *task) {
	switch s := k.stop; {
	case s.event != 0:
		t.unreportedChild(k, func(child int) { t.setFree(child, k.proc, k.shares(s.event, child)) })
	case s.signal == sys.SIGTRAP && k.fetch() == nil && k.byBreakpoint() && k.behindTrap():
		k.setPC(k.trapPC())
	case kindOfStop(s, 0, false) != noSignal:
		k.signal = s.signal
	}
}

// behindTrap reports whether the int3 that a vfork child has run into is, or was, an inserted breakpoint.
func (k *task) behindTrap() bool {
	at := k.trapPC()
	return k.proc.trapAt(at) != nil || k.proc.stale(at)
}

// detachWhenStopped detaches a vfork child that has stopped at last.
func (t *Target) detachWhenStopped(k *task) {
	t.prepareDetach(k)
	t.detachChildren([]*task{k})
}

// detachChildren detaches stopped vfork children.
func (t *Target) detachChildren(all []*task) {
	for _, k := range all {
		t.detachTask(k)
		t.forgetChild(k)
		k.close()
	}
}

// detachSharer lets one of the processes go that run in one memory: the parent of a vfork, or the child. Until the other has left
// the memory, its threads are as vfork children there.
func (t *Target) detachSharer(p, rest *process) {
	tasks := slices.Clone(p.order)
	t.removeProcess(p)
	for _, k := range tasks {
		k.proc, k.wants, k.verb = rest, toRun, target.Go
		k.owes &^= owesStep
		t.addChild(k)
	}
	t.settleLids(rest.addrSpace)
	for _, k := range tasks {
		if k.state == stopped {
			k.disarm()
			t.proceed(k, t.partingSignal(k))
		}
	}
}

// disarm switches the debug registers of a stopped task off, should they have been in use.
func (k *task) disarm() {
	if k.debugGeneration != 0 {
		host.loadDebug(k.tid, new([numDebugRegisters]debugSlot))
		k.debugGeneration = 0
	}
}
