//go:build linux

package linux

import (
	"slices"

	"tracewell/internal/sys"
	"tracewell/target"
)

// entertain makes a stopped tracee of a thread group a guest of p and lets it go on.
func (t *Target) entertain(tid, group int, p *process) {
	k := &task{tid: tid, tgid: group, proc: p}
	t.admit(k)
	t.proceed(k, 0)
}

// admit makes a tracee a guest, which may be blocked in a vfork and stop later.
func (t *Target) admit(k *task) {
	k.guest = true
	t.tasks[k.tid] = k
	t.guests++
}

// strike takes a guest off the list: it has ended or has been let go.
func (t *Target) strike(k *task) {
	delete(t.tasks, k.tid)
	t.guests--
}

// shares reports whether a child whose beginning an event of k tells of runs in the memory of k.
func (k *task) shares(event, child int) bool {
	return event == sys.EventVfork || sys.SharesMemory(child, k.tid)
}

// dropChild lets the child or thread go whose beginning a task stopped with: as a guest, if it runs in memory that may keep its traps.
func (t *Target) dropChild(k *task, child int) {
	event := k.status.Event()
	if !k.shares(event, child) {
		t.setFree(child, k.proc, false)
		return
	}
	if event == sys.EventVfork {
		k.vforked = child
	}
	if group, err := sys.ThreadGroup(child); err == nil { // otherwise it is dead
		t.entertain(child, group, k.proc)
	}
}

// abandon is called when a process is about to leave its space. Its guests stay with one that is still there; otherwise they
// are stopped, to be set free when the traps that they would meet are gone.
func (t *Target) abandon(p *process) (stopped []*task) {
	if rest := t.sharer(p); rest != nil {
		for _, k := range t.tasks {
			if k.guest && k.proc == p {
				k.proc = rest
			}
		}
		return nil
	}
	return t.stopGuests(p)
}

// sharer is another process in the memory of p, nil for none.
func (t *Target) sharer(p *process) *process {
	for _, other := range t.procs {
		if other != p && other.space == p.space {
			return other
		}
	}
	return nil
}

// stopGuests stops the guests of a process, each at an instruction of the program's own, and returns them. One that is blocked
// until its child has left its memory is not waited for: it is set free when it stops.
func (t *Target) stopGuests(p *process) (all []*task) {
	for _, k := range t.tasks {
		if k.guest && k.proc == p && !k.leaving {
			k.leaving = true
			if sys.Interrupt(k.tid) == nil && !t.blocked(k) {
				all = append(all, k)
			}
		}
	}
	for slices.ContainsFunc(all, func(k *task) bool { return t.tasks[k.tid] == k && k.state != stopped }) {
		switch k, s, _ := t.hear(); {
		case k == nil:
		case k.leaving && k.proc == p && slices.Contains(all, k):
			t.comeToRest(k, s)
		case k.guest:
			t.act(k, s)
		default:
			t.keep(k, s)
		}
	}
	return slices.DeleteFunc(all, func(k *task) bool { return t.tasks[k.tid] != k })
}

// blocked reports whether a task waits for a vfork child that is under trace, maybe as another guest, and has not left its memory.
func (t *Target) blocked(k *task) bool {
	child := t.tasks[k.vforked]
	return child != nil && child.proc.space == k.proc.space
}

// comeToRest deals with the stop of a guest that is to be let go: it keeps the signal that it takes along, and is put back before a
// trap that it has run into.
func (t *Target) comeToRest(k *task, s sys.Status) {
	if t.ended(k, s) {
		return
	}
	k.status = s
	switch sig, _ := s.Stopped(); {
	case s.Event() != 0:
		t.orphan(k, s, func(child int) { t.setFree(child, k.proc, k.shares(s.Event(), child)) })
	case sig == sys.SIGTRAP && k.fetch() == nil && k.byBreakpoint() && k.behindTrap():
		k.setPC(k.trapPC())
	case kindOfStop(s, 0, false) != noSignal:
		k.signal = sig
	}
}

// behindTrap reports whether the int3 that a guest has run into is, or was, a trap.
func (k *task) behindTrap() bool {
	at := k.trapPC()
	return k.proc.traps[at] != nil || k.proc.stale(at)
}

// seeOff lets a guest go that has stopped at last.
func (t *Target) seeOff(k *task, s sys.Status) {
	if t.comeToRest(k, s); t.tasks[k.tid] == k {
		t.setGuestsFree([]*task{k})
	}
}

// setGuestsFree lets stopped guests go their way.
func (t *Target) setGuestsFree(all []*task) {
	for _, k := range all {
		t.detachTask(k)
		t.strike(k)
		k.close()
	}
}

// interruption is the status of a stop for nothing but that it was asked for.
const interruption = sys.Status(sys.EventStop<<16 | sys.SIGTRAP<<8 | 0x7f)

// keep puts off what a task that was to run on has stopped with, while something else is being dealt with.
func (t *Target) keep(k *task, s sys.Status) {
	held := k.held
	k.held = false
	t.park(k, s)
	if held || t.tasks[k.tid] != k {
		return
	}
	t.endCall(k)
	if !k.waiting && t.tasks[k.tid] == k {
		k.waiting, k.status = true, interruption
		if s.Event() == sys.EventStop {
			k.status = s
		}
		t.parked++
	}
}

// take acts on what a task has stopped with if the program runs, and otherwise keeps it for the next Resume.
func (t *Target) take(k *task, s sys.Status) {
	switch {
	case t.active || k.guest:
		t.act(k, s)
	default:
		t.keep(k, s)
	}
}

// detachSharer lets one of the processes go that run in one memory: the parent of a vfork, or the child. Until the other has left
// the memory, its threads are guests there.
func (t *Target) detachSharer(p, rest *process) {
	tasks := slices.Clone(p.order)
	t.dismiss(p)
	for _, k := range tasks {
		k.proc, k.resumed, k.stopping, k.verb, k.collecting = rest, true, false, target.Go, false
		if t.admit(k); k.state == stopped {
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
