//go:build linux

package linux

import (
	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/tracepoint"
)

// wait waits for one tracee and acts on what it says.
func (t *Target) wait() {
	if t.onlyLeaders() {
		if t.findZombies() {
			return
		}
		t.alarm.start()
		defer t.alarm.stop()
	}
	t.queue.deaf.Store(true)
	if t.queue.length.Load() > 0 { // who has put it there may not know that it takes the bell
		t.queue.deaf.Store(false)
		return
	}
	tid, s, err := t.next()
	t.queue.deaf.Store(false)
	if k, s, _ := t.heed(tid, s, err); k != nil { // interrupted, there is a request, or was
		t.take(k, s)
	}
}

// arrive notes a wait status and returns it with its task, nil for one not known yet, whose parent's event is still to
// come.
func (t *Target) arrive(tid int, s sys.Status) (*task, sys.Status) {
	k := t.tasks[tid]
	if k != nil && s.Event() == sys.EventStop {
		s = t.drain(k, s)
	}
	sig, isStop := s.Stopped()
	switch {
	case k == nil && isStop:
		t.early[tid] = true
	case k != nil && isStop:
		k.forget()
		k.state, k.vforked = stopped, 0
		k.entered = sig == sys.SyscallTrap && sys.EntersSyscall(tid)
		k.atSignal = s.Event() == 0 && sig != sys.SyscallTrap
		k.noteEvent(s.Event())
		t.settle(k)
	}
	return k, s
}

// noteEvent keeps what is only to be had at the event itself.
func (k *task) noteEvent(event int) {
	switch k.event = event; event {
	case sys.EventStop:
		k.event = 0
	case sys.EventFork, sys.EventVfork, sys.EventClone:
		k.child, _ = sys.EventMessage(k.tid)
	}
}

// drain deals with a task that was interrupted just when it ran into a trap or finished a step. The kernel reports the
// interruption first, although the SIGTRAP is queued already, to come when nobody expects it any more, or to kill a program
// that is let go. Such a task takes its signal before it returns to the program, so it is resumed just for that. It may report
// an interruption once more before: a request that comes while a task is stopped already, and wait has not reported that
// stop yet, outlasts it.
func (t *Target) drain(k *task, s sys.Status) sys.Status {
	for s.Event() == sys.EventStop && sys.PendingSiginfo(k.tid, isTrap) && sys.Cont(k.tid, 0) == nil {
		drained, ok := t.waitFor(k)
		if !ok {
			break
		}
		s = drained
	}
	return s
}

// advance acts on one thing that happened while others were dealt with, and reports whether there was one.
func (t *Target) advance() bool {
	if t.active && len(t.backlog) > 0 {
		t.tellBacklog()
		return true
	}
	if t.parked == 0 || !t.active {
		return false
	}
	for k := range t.all() {
		if k.waiting && k.resumed {
			t.parked--
			k.waiting = false
			t.act(k, k.status)
			return true
		}
	}
	return false
}

// act deals with a wait status of a task while the program runs, up to letting the task go on or ending the Resume.
func (t *Target) act(k *task, s sys.Status) {
	if k.leaving {
		t.seeOff(k, s)
		return
	}
	if t.ended(k, s) {
		return
	}
	sig, _ := s.Stopped()
	switch event := s.Event(); {
	case event == sys.EventStop:
		k.group, k.groupSignal = sig != sys.SIGTRAP, sig
		t.interrupted(k)
	case event == sys.EventExec:
		t.execed(k)
	case event != 0:
		if e, tell := t.born(k, event); tell {
			t.endCall(k)
			t.happened(k, e)
		} else {
			t.proceed(k, 0)
		}
	case sig == sys.SyscallTrap:
		t.atSyscall(k)
	case sig == sys.SIGTRAP:
		t.trapped(k)
	default:
		t.signalled(k, sig)
	}
}

// interrupted deals with a task that has stopped for nothing but that it was asked to.
func (t *Target) interrupted(k *task) {
	if !k.stopping {
		t.proceed(k, 0)
		return
	}
	t.report(target.Event{Kind: target.Stopped, Thread: k.id(), Signal: k.stopSignal})
}

// happened tells what a task of which nobody asked anything brought about. In non-stop mode the new thread of a ThreadCreated
// alone is stopped by it, not its creator.
func (t *Target) happened(k *task, e target.Event) {
	t.report(e)
	if t.nonStop && e.Kind == target.ThreadCreated {
		t.proceed(k, 0)
	}
}

// trapped deals with SIGTRAP: a trap of ours, a debug register, a finished step, or the program's own breakpoint.
func (t *Target) trapped(k *task) {
	if k.fetch() != nil {
		return
	}
	at := k.trapPC()
	tr := k.proc.traps[at]
	if tr != nil && !tr.ambiguous && !k.stepping {
		k.putBack(at)
		t.hit(k, tr)
		return
	}
	cause, err := k.cause()
	switch {
	case err != nil:
		// It has died since, by an exec of another thread or a SIGKILL; its end is reported.
	case cause == host.breakpointCode() && tr != nil:
		k.putBack(at)
		t.hit(k, tr)
	case cause == host.breakpointCode() && k.proc.stale(at):
		k.setPC(at)
		t.proceed(k, 0)
	case cause == host.breakpointCode() || cause <= 0:
		t.signalled(k, sys.SIGTRAP)
	case t.watched(k):
	case !k.stepping:
		t.signalled(k, sys.SIGTRAP)
	case !k.wantsStep() || t.afterStep(k):
		t.proceed(k, 0)
	}
}

// cause is the si_code of the signal that k is stopped with: the code of a breakpoint instruction for an int3, another positive number for a step or a debug
// register, 0 or less for what a program sent. A step that ends behind a one-byte instruction with a trap on it looks like
// the trap otherwise.
func (k *task) cause() (int32, error) {
	var info [sys.SiginfoSize]byte
	err := sys.GetSiginfo(k.tid, &info)
	return siCode(&info), err
}

// byBreakpoint reports whether an int3 stopped k.
func (k *task) byBreakpoint() bool {
	cause, err := k.cause()
	return err == nil && cause == host.breakpointCode()
}

// hit deals with a task that ran into a trap; its pc is back on it.
func (t *Target) hit(k *task, tr *trap) {
	first := k.passed != tr.addr
	k.passed = tr.addr
	if k.guest {
		t.proceed(k, 0)
		return
	}
	site := t.siteFor(k, tr)
	if first && (site != nil || tr.check != nil) {
		t.follow.sample(k)
	}
	if first && site != nil && !k.again(tr.addr) {
		t.judge(k, site.Hit(t.snapshot(k)))
	}
	if tr.users > 0 && tr.check.stops(t.snapshot(k)) {
		t.report(target.Event{Kind: target.Stopped, Thread: k.id(), Signal: target.SignalTrap, Reason: target.ReasonSwBreak})
		return
	}
	t.proceed(k, 0)
}

// siteFor is the tracepoint of a trap for a task: none for a vfork child that runs in the memory of the process which has them,
// unless it was given them too.
func (t *Target) siteFor(k *task, tr *trap) *tracepoint.Site {
	if !k.proc.traced {
		return nil
	}
	return tr.site
}

// judge carries out the verdict on a hit.
func (t *Target) judge(k *task, v tracepoint.Verdict) {
	if v&tracepoint.Step != 0 {
		k.collecting = true
	}
	if v&tracepoint.Halt != 0 {
		t.removeSites()
	}
}

// afterStep does what is due when a task that wants steps has made one, and reports whether it is to go on; otherwise the
// Resume has ended. Arriving at a tracepoint by a step is a hit, as in gdbserver.
func (t *Target) afterStep(k *task) bool {
	if k.collecting {
		k.collecting = false
		t.judge(k, t.engine.Stepped(t.snapshot(k)))
	}
	tr := k.proc.traps[k.pc()]
	if tr != nil && t.siteFor(k, tr) != nil {
		k.passed = tr.addr
		if !k.again(tr.addr) {
			t.judge(k, tr.site.Hit(t.snapshot(k)))
		}
	}
	reason := target.ReasonNone
	if tr != nil && tr.users > 0 {
		k.passed = tr.addr
		if tr.check.stops(t.snapshot(k)) {
			reason = target.ReasonSwBreak
		}
	}
	inRange := k.verb == target.StepRange && k.rangeStart <= k.pc() && k.pc() < k.rangeEnd
	if reason == target.ReasonNone && (k.verb == target.Go || inRange) {
		return true
	}
	k.passed = k.pc()
	t.report(target.Event{Kind: target.Stopped, Thread: k.id(), Signal: target.SignalTrap, Reason: reason})
	return false
}

// signalled deals with a signal on its way to a task. One that a session does not want to hear of is told all the same while
// the session steps the task: what the step is to do about the handler is its business, as with gdbserver. So is a fault of
// the instruction under one of its breakpoints, which may stand for the hit: GDB has one on the stack, where nothing can be
// executed, for the functions that it calls to return to.
func (t *Target) signalled(k *task, sig int) {
	if k.sent.take(sig) || k.guest {
		t.proceed(k, sig)
		return
	}
	faulted := k.faulted(sig)
	if faulted {
		k.passed = 0
	}
	if t.passing[sig] && k.verb == target.Go && !(faulted && k.atBreakpoint()) {
		t.proceed(k, sig)
		return
	}
	k.signal = sig
	t.report(target.Event{Kind: target.Stopped, Thread: k.id(), Signal: gdbSignal(sig)})
}

// proceed lets a stopped task go on as the session and the engine want it, with a kernel signal or 0. First the instruction
// whose hit it has behind it must happen.
func (t *Target) proceed(k *task, signal int) {
	k.remake()
	for k.passed != 0 {
		tr := k.proc.traps[k.passed]
		if tr == nil || k.fetch() != nil || k.passed != k.pc() {
			k.passed = 0
			break
		}
		if signal != 0 && tr.isSyscall() && k.atSignal {
			k.meetAgain()
			break
		}
		if signal != 0 {
			k.deferSignal(signal)
			signal = 0
		}
		if t.pass(k, tr) != done {
			return
		}
		if k.wantsStep() && !t.afterStep(k) {
			return
		}
	}
	t.resume(k, signal)
}

// resume hands a task back to the kernel.
func (t *Target) resume(k *task, signal int) {
	var err error
	step := k.wantsStep()
	k.proc.debug.load(k) // what the kernel refuses of this stays as it was: a task that did not run could not be stopped either
	k.flush()
	signal = k.deliverable(signal)
	listen := k.group && signal == 0 && !step
	if listen {
		err = sys.Listen(k.tid)
	} else {
		err = k.run(step, signal)
	}
	k.state = running
	if listen {
		k.state = listening
		t.noteGroupStop(k)
	} else if !k.guest {
		k.proc.groupStop = false
	}
	if sys.Gone(err) && k.tid == k.proc.pid && len(k.proc.order) > 1 {
		k.state = zombie
	}
	k.stepping = step
	k.forget()
}

// run makes the kernel let a task go on, to be stopped again if somebody has asked for that: the request before was used up by
// the stop that the task has just made.
func (k *task) run(step bool, signal int) (err error) {
	k.rewound = false
	switch {
	case step:
		err = sys.Step(k.tid, signal)
	case k.proc.catch.on:
		err = sys.ContToSyscall(k.tid, signal)
	default:
		err = sys.Cont(k.tid, signal)
	}
	if k.stopping && err == nil {
		sys.Interrupt(k.tid)
	}
	return err
}

// report tells an event. In all-stop mode it ends the pending Resume: first everything is stopped.
func (t *Target) report(e target.Event) {
	if t.nonStop {
		if k := t.tasks[e.Thread.TID]; k != nil && e.Kind != target.ThreadCreated {
			k.resumed, k.stopping = false, false
		}
		t.events.add(e)
		return
	}
	t.follow.rest()
	held := t.hold(whom{blocked: true})
	if t.tasks[e.Thread.TID] == nil && e.Kind != target.NoneResumed {
		t.reportLate(e, held)
		return
	}
	t.active = false
	t.events.add(e)
}

// reportLate deals with an event whose thread has ended while everything was being stopped to tell it, as all threads but one do
// at an exec. An interrupt can be told of another thread. Anything else has happened to nobody, and the program goes on.
func (t *Target) reportLate(e target.Event, held []*task) {
	other := t.interruptible()
	switch {
	case len(t.backlog) > 0:
		t.tellBacklog()
	case e.Signal == target.SignalInt && other != nil:
		e.Thread = other.id()
		t.report(e)
	default:
		t.release(held)
		t.noneLeft()
	}
}

// tellLater tells an event that stops nothing, as soon as everything is stopped in all-stop mode.
func (t *Target) tellLater(e target.Event) {
	if t.nonStop {
		t.events.add(e)
		return
	}
	t.backlog = append(t.backlog, e)
}

// tellBacklog ends the pending Resume with the oldest event that was not to be told when it happened.
func (t *Target) tellBacklog() {
	t.follow.rest()
	t.hold(whom{blocked: true})
	e := t.backlog[0]
	t.backlog = t.backlog[1:]
	t.active = false
	t.events.add(e)
}

// settle gives a task that stopped inside a displaced-stepping buffer the pc that it has in the program.
func (t *Target) settle(k *task) {
	b := k.buffer
	k.buffer = nil
	if b == nil || k.fetch() != nil {
		return
	}
	at, ok := b.Original(k.pc())
	if !ok {
		return // it has left
	}
	k.setPC(at)
	if start, _ := b.Original(b.Addr()); at == start {
		k.passed = at
		k.moveFault(b)
	}
}
