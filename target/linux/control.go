//go:build linux

package linux

import (
	"fmt"
	"slices"
	"time"

	"tracewell/internal/sys"
	"tracewell/target"
)

// Events implements target.Runner.
func (t *Target) Events() <-chan target.Event { return t.events.out }

// Resume implements target.Runner.
func (t *Target) Resume(actions []target.Action) error {
	err := target.ErrNoProcess
	t.do(func() {
		switch {
		case t.active && !t.nonStop:
			err = target.ErrRunning
		case len(t.procs) > 0 || len(t.backlog) > 0 || t.nonStop:
			err = t.start(actions)
		}
	})
	return err
}

// start sets every covered task going that is stopped. While something waits to be told, none is, and a step that is emulated, or
// what happens at the return from a system call, may end the Resume at once: what a signal was to do to a task it then does later.
func (t *Target) start(actions []target.Action) error {
	t.remember()
	orders := make(map[*task]target.Action)
	var covered []*task
	for k := range t.all() {
		if t.nonStop && k.resumed() {
			continue
		}
		k.wants = toStay
		for _, a := range actions {
			if a.Thread.Covers(k.id()) {
				k.wants, k.verb, k.rangeStart, k.rangeEnd = toRun, a.Verb, a.Start, a.End
				orders[k] = a
				covered = append(covered, k)
				break
			}
		}
	}
	if len(covered) == 0 && len(t.backlog) == 0 {
		if t.nonStop {
			return nil
		}
		return fmt.Errorf("%w: nothing to resume", target.ErrNoThread)
	}
	t.active, t.actions = true, actions
	for _, k := range covered {
		if t.tasks[k.tid] != k || k.state != stopped || k.has(owesStop) || !k.resumed() {
			continue
		}
		signal, ends := kernelSignal(orders[k].Signal), t.telling || len(t.backlog) > 0
		k.signal = 0 // the session has decided about it: a detach must not deliver it once more
		if !ends && k.why != atCallEnd {
			if k.hitsAgain(orders[k]) {
				k.meetAgain()
			}
			t.proceed(k, signal)
			continue
		}
		if signal != 0 {
			k.deferSignal(signal)
		}
		if !ends {
			t.atReturn(k)
		}
	}
	canRun := func(k *task) bool { return k.state != zombie }
	t.fewer = t.fewer || len(covered) > 0 && !slices.ContainsFunc(covered, canRun)
	return nil
}

// hitsAgain reports whether k, which has a hit behind it, is to run into the breakpoint again: at a breakpoint if it is to meet
// that anew, or if the session gives it a signal. The handler then comes before the instruction, which it returns to: GDB waits
// for the breakpoint to be hit again, and for a step to end at the handler (gdbserver 13.1 does the same). At a tracepoint
// alone the signal waits for the instruction. A breakpoint with a check is not met anew, for its commands would be carried out
// twice.
func (k *task) hitsAgain(order target.Action) bool {
	bp := k.proc.inserted[k.passed]
	switch {
	case bp == nil:
		return false
	case kernelSignal(order.Signal) != 0:
		return order.Verb != target.Go || bp.users > 0
	}
	return order.Anew && bp.users > 0 && bp.check == nil
}

// whileHeld changes what every task of a process is to have when it is next let go.
func (t *Target) whileHeld(p *process, change func() error) error {
	if !t.active {
		return change()
	}
	t.stopThreads(stopSet{in: p.addrSpace})
	return change()
}

// Interrupt implements target.Runner.
func (t *Target) Interrupt() error {
	t.do(func() {
		if k := t.interruptible(); k == nil {
			return
		} else if t.nonStop {
			t.stop(k, target.SignalInt)
		} else {
			t.report(target.Event{Kind: target.Stopped, Thread: k.id(), Signal: target.SignalInt})
		}
	})
	return nil
}

// interruptible finds a task that runs for the session, in all-stop mode any if there is none.
func (t *Target) interruptible() (k *task) {
	if !t.active {
		return nil
	}
	for other := range t.all() {
		if other.state == zombie {
			continue
		}
		if other.resumed() {
			return other
		}
		if k == nil && !t.nonStop {
			k = other
		}
	}
	return k
}

// Stop implements target.Runner.
func (t *Target) Stop(id target.ThreadID) error {
	t.do(func() {
		for k := range t.all() {
			if id.Covers(k.id()) && k.resumed() {
				t.stop(k, target.SignalNone)
			}
		}
	})
	return nil
}

// stop asks for the stop of one task, to be told with a signal that it has not got.
func (t *Target) stop(k *task, signal target.Signal) {
	if k.wants == toHalt {
		return
	}
	k.wants, k.stopSignal = toHalt, signal
	if k.runs() {
		sys.Interrupt(k.tid)
	}
}

// SetNonStop implements target.Runner.
func (t *Target) SetNonStop(on bool) error {
	t.do(func() {
		if !on {
			t.allStop()
		} else if !t.nonStop {
			t.allStop()
			t.nonStop, t.active = true, true
		}
	})
	return nil
}

// allStop stops everything without a word, in all-stop mode. Only beginnings and ends of processes that nobody has been told of
// yet remain to be received.
func (t *Target) allStop() {
	t.follow.rest()
	t.stopAll(stopSet{})
	t.handleEnds()
	t.events.drop(func(e target.Event) bool {
		ends := e.Kind == target.Exited || e.Kind == target.Terminated
		return !ends && t.process(e.Child.PID) == nil
	})
	for k := range t.all() {
		k.wants = toStay
	}
	t.nonStop, t.active, t.telling = false, false, false
}

// SetReports implements target.Runner.
func (t *Target) SetReports(r target.Reports) { t.do(func() { t.reports = r }) }

// Kill implements target.Runner.
func (t *Target) Kill(pid int) error {
	return t.onProcess(pid, func(p *process) error {
		t.kill(p)
		t.idle()
		return nil
	})
}

// kill ends a process and waits until the kernel has said so of every task.
func (t *Target) kill(p *process) {
	if p.traced {
		t.last = nil
	}
	for _, k := range p.order {
		if k.has(owesStop) {
			t.unreportedChild(k, func(child int) { sys.Kill(child, sys.SIGKILL) })
		}
		if k.tgid != p.pid {
			sys.Kill(k.tgid, sys.SIGKILL)
		}
	}
	sys.Kill(p.pid, sys.SIGKILL)
	for t.handleEnds(); slices.Contains(t.procs, p); t.handleEnds() {
		k, _ := t.waitEvent()
		if k != nil && k.role == member && k.proc == p && k.state == stopped { // on the way out
			t.takeStop(k.tid)
			sys.Cont(k.tid, 0)
			k.state = running
		}
	}
	for _, child := range t.dropEvents(p.pid) {
		t.kill(child)
	}
}

// dropEvents withdraws what was to be told of a process that the session has got rid of. It returns the children that the
// session will never hear of.
func (t *Target) dropEvents(pid int) (unknown []*process) {
	of := func(e target.Event) bool { return e.Thread.PID == pid }
	t.backlog = slices.DeleteFunc(t.backlog, of)
	t.telling = t.telling && !of(t.event)
	for _, e := range t.events.drop(of) {
		if child := t.process(e.Child.PID); child != nil {
			unknown = append(unknown, child)
		}
	}
	return unknown
}

// idle ends the pending Resume of all-stop mode when nothing is left to run.
func (t *Target) idle() {
	if len(t.procs) == 0 && !t.nonStop {
		t.active, t.telling = false, false
	}
}

// unreportedChild deals with the child or the thread, if the beginning of one is what a task stopped with, that the session has not
// been told of and that is no task yet. It waits at its first stop, where it would stay for good.
func (t *Target) unreportedChild(k *task, do func(child int)) {
	switch k.stop.event {
	case sys.EventFork, sys.EventVfork, sys.EventClone:
		if t.tasks[k.child] == nil && t.firstStop(k.child) {
			do(k.child)
		}
	}
}

// Detach implements target.Runner.
func (t *Target) Detach(pid int) error {
	return t.onProcess(pid, func(p *process) error {
		t.stopAll(stopSet{in: p.addrSpace}) // in non-stop mode there may be others in its memory, which go on
		t.handleEnds()
		if slices.Contains(t.procs, p) {
			t.detach(p)
		}
		t.idle()
		return nil
	})
}

// Untold returns, once, the ends of processes that no event has told of: that of one which ended while it was stopped to be
// detached.
func (t *Target) Untold() (ends []target.Event) {
	t.do(func() {
		t.backlog = slices.DeleteFunc(t.backlog, func(e target.Event) bool {
			end := e.Kind == target.Exited || e.Kind == target.Terminated
			if end {
				ends = append(ends, e)
			}
			return end
		})
	})
	return ends
}

// detach leaves a stopped process as if it had never been traced. Its tracepoints go on in the child whose fork was its last
// act, if the session keeps that.
func (t *Target) detach(p *process) {
	for _, k := range p.order {
		if k.has(owesStop) {
			t.unreportedChild(k, func(child int) { t.dropChild(k, child) })
		}
	}
	if child := t.successor(p); p.traced && child != nil && !child.traced {
		t.moveSites(p, child)
	}
	if rest := t.sharer(p); rest != nil {
		t.detachSharer(p, rest)
	} else {
		t.detachOwner(p)
	}
	for _, child := range t.dropEvents(p.pid) {
		t.detach(child)
	}
}

// detachOwner lets a process go that has its memory for itself, which is put back as it was.
func (t *Target) detachOwner(p *process) {
	children := t.stopChildren(p)
	t.endSites(p)
	p.removeInserted()
	t.leaveCalls(p)
	p.warn(t.unmapArenas(p))
	t.unmapScratch(p)
	t.detachTasks(p)
	t.detachChildren(children)
}

// successor is the child that a process leaves its tracepoints to.
func (t *Target) successor(p *process) *process {
	for _, child := range t.procs {
		if child.parent == p && child.addrSpace != p.addrSpace {
			return child
		}
	}
	return nil
}

// detachTasks detaches all tasks of a process whose memory is as it was.
func (t *Target) detachTasks(p *process) {
	var dying []*task
	for _, k := range p.order {
		if !t.detachTask(k) && k.state != zombie {
			dying = append(dying, k)
		}
	}
	for _, k := range slices.Backward(dying) {
		k.awaitEnd()
	}
	t.removeProcess(p)
}

// awaitEnd takes note of the end of a task that dies of an exit or an exec of one that has just been let go, for it does not go
// away and nobody else hears of the process before its tracer has. The leader comes last. It is not waited for as for another
// event: after an exec the id may be that of a task which goes on.
func (k *task) awaitEnd() {
	const patience, pause = time.Second, 200 * time.Microsecond
	for range patience / pause {
		tid, s, err := sys.Poll(k.tid)
		if err != nil || tid == k.tid && s.Ended() {
			return
		}
		time.Sleep(pause)
	}
}

// PassSignals implements target.Signals.
func (t *Target) PassSignals(signals []target.Signal) {
	set := kernelSet(signals)
	t.do(func() { t.passing = set })
}

// ProgramSignals implements target.Signals.
func (t *Target) ProgramSignals(signals []target.Signal) {
	set := kernelSet(signals)
	t.do(func() {
		t.parting = &set
		if signals == nil {
			t.parting = nil
		}
	})
}

func kernelSet(signals []target.Signal) (set [numSignals]bool) {
	for _, s := range signals {
		set[kernelSignal(s)] = true
	}
	return set
}
