//go:build linux

package linux

import (
	"encoding/binary"

	"tracewell/internal/routine"
	"tracewell/internal/sys"
	"tracewell/target"
)

// trace is the tracer goroutine, which has a thread to itself. What is due comes before the next request, a request before the next
// stop, and all that is queued before another wait.
func (t *Target) trace(started chan<- error) {
	defer close(t.done)
	defer close(t.warnings)
	defer routine.Catch(t.escape)
	var err error
	if t.bell, err = sys.NewBell(); err != nil {
		started <- err
		return
	}
	t.alarm = newAlarm(t.bell)
	sys.ShortenSlices() // a thread that waits for the tracer in a hit is lost if the tracer is killed
	started <- nil
	defer t.follow.close()
	for !t.ending {
		switch {
		case t.settleDue(), t.serve(), t.handleNext(), !t.active && t.standAside():
		case len(t.tasks) == 0, !t.active && t.children == 0:
			<-t.queue.wake
		default:
			t.wait()
		}
	}
}

// settleDue does one thing that what was done before has left to do, and reports whether there was one. Everything that stops all
// threads, or resumes others than the one whose stop is being handled, is left to do here, so that no handler is entered from
// within another.
func (t *Target) settleDue() bool {
	switch {
	case t.lost || len(t.ends) > 0:
		t.handleEnds()
	case t.active && (t.telling || len(t.backlog) > 0):
		t.tell()
	case t.settleRun(), t.demoteUnfit(), t.padWorthy(), t.settlePrinters(), t.resumeNext(false):
	case t.fewer:
		t.fewer = false
		t.noneLeft()
	default:
		return false
	}
	return true
}

// wait waits for a tracee, or for a request, which rings it out.
func (t *Target) wait() {
	if t.onlyLeaders() {
		if t.findZombies() {
			return
		}
		t.alarm.start()
		defer t.alarm.stop()
	}
	t.queue.deaf.Store(true)
	if t.queue.length.Load() == 0 { // who has put one there may not know that it takes the bell
		t.waitEvent()
	}
	t.queue.deaf.Store(false)
}

// handleStop handles a stop of a task while the program runs, up to letting the task go on or leaving an event to be told. The
// package comment has the table.
func (t *Target) handleStop(k *task) {
	if k.role == partingChild {
		t.detachWhenStopped(k)
		return
	}
	switch signal, event := k.stop.signal, k.stop.event; {
	case event == sys.EventStop:
		t.interrupted(k)
	case event == sys.EventExec:
		t.execed(k)
	case event != 0:
		if e, tell := t.born(k, event); tell {
			t.finishCall(k)
			t.happened(k, e)
		} else {
			t.proceed(k, 0)
		}
	case signal == sys.SyscallTrap:
		t.atSyscall(k)
	case signal == sys.SIGTRAP:
		t.trapped(k)
	default:
		t.signalled(k, signal)
	}
}

// interrupted deals with a task that has stopped for nothing but that it was asked to.
func (t *Target) interrupted(k *task) {
	if k.wants != toHalt {
		t.proceed(k, 0)
		return
	}
	t.report(target.Event{Kind: target.Stopped, Thread: k.id(), Signal: k.stopSignal})
}

// happened tells what a task of which nobody asked anything brought about. In non-stop mode the new thread of a ThreadCreated
// alone is stopped by it, not its creator.
func (t *Target) happened(k *task, e target.Event) {
	t.report(e)
	if t.nonStop && e.Kind == target.ThreadCreated && !k.has(owesStop) {
		t.proceed(k, 0)
	}
}

// trapped deals with SIGTRAP: an inserted breakpoint, a debug register, a finished step, or the program's own breakpoint.
func (t *Target) trapped(k *task) {
	if k.fetch() != nil {
		return
	}
	if k.ended && !k.stepping { // behind the copy of a displaced instruction
		t.proceed(k, 0)
		return
	}
	at := k.trapPC()
	bp := k.proc.inserted[at]
	if bp != nil && !bp.ambiguous && !k.stepping {
		k.putBack(at)
		t.hit(k, bp)
		return
	}
	cause, err := k.cause()
	switch {
	case err != nil:
		// It has died since, by an exec of another thread or a SIGKILL; its end is reported.
	case cause == host.breakpointCode() && bp != nil:
		k.putBack(at)
		t.hit(k, bp)
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

// cause is the si_code of the signal that k is stopped with: the code of a breakpoint instruction for one, another positive
// number for a step or a debug register, 0 or less for what a program sent. A step that ends behind a one-byte instruction with
// an inserted breakpoint on it looks like the breakpoint otherwise. On some processors a step over a system call ends with a signal
// that nobody has sent (user_single_step_report in linux/ptrace.h).
func (k *task) cause() (int32, error) {
	if k.ended {
		return trapTrace, nil
	}
	var info [sys.SiginfoSize]byte
	err := sys.GetSiginfo(k.tid, &info)
	code := siCode(&info)
	const sender = 16 // offset of si_pid
	if code == 0 && k.stepping && binary.LittleEndian.Uint32(info[sender:]) == 0 {
		code = trapTrace
	}
	return code, err
}

// byBreakpoint reports whether an int3 stopped k.
func (k *task) byBreakpoint() bool {
	cause, err := k.cause()
	return err == nil && cause == host.breakpointCode()
}

// hit deals with a task that ran into an inserted breakpoint; its pc is back on it.
func (t *Target) hit(k *task, bp *insertedBreakpoint) {
	first := k.passed != bp.addr
	k.passed = bp.addr
	if k.role != member {
		t.proceed(k, 0)
		return
	}
	location := t.locationFor(k, bp)
	if first && (location != nil || bp.check != nil) {
		t.follow.sample(k)
	}
	if first && location != nil && !k.again(bp.addr) {
		t.judge(k, t.hitHandler(k, bp.addr))
	}
	if t.stopsAt(k, bp) {
		t.report(target.Event{Kind: target.Stopped, Thread: k.id(), Signal: target.SignalTrap, Reason: target.ReasonSwBreak})
		return
	}
	t.noteVain(k, bp)
	t.proceed(k, 0)
}

// stopsAt asks the session's breakpoint whether a task is to stop there, behind what others have printed so far.
func (t *Target) stopsAt(k *task, bp *insertedBreakpoint) bool {
	if bp.users == 0 {
		return false
	}
	if bp.check != nil {
		t.printAll()
		k.fetch()
	}
	return bp.check.stops(t.snapshot(k))
}

// locationFor is the tracepoint of an inserted breakpoint for a task: none for a vfork child that runs in the memory of the
// process which has them, unless it was given them too.
func (t *Target) locationFor(k *task, bp *insertedBreakpoint) *location {
	if !k.proc.traced {
		return nil
	}
	return bp.location
}

// judge carries out the verdict on a hit.
func (t *Target) judge(k *task, v target.Verdict) {
	if v&target.Step != 0 {
		k.owes |= owesStep
	}
	if v&target.Halt != 0 {
		t.removeLocations()
	}
}

// afterStep does what is due when a task that wants steps has made one, and reports whether it is to go on; otherwise the
// Resume has ended. Arriving at a tracepoint by a step is a hit, as in gdbserver.
func (t *Target) afterStep(k *task) bool {
	if k.has(owesStep) {
		k.owes &^= owesStep
		t.depositAll()
		k.fetch()
		t.judge(k, t.handler.Stepped(t.snapshot(k)))
	}
	bp := k.proc.inserted[k.pc()]
	if bp != nil && t.locationFor(k, bp) != nil {
		k.passed = bp.addr
		if !k.again(bp.addr) {
			t.judge(k, t.hitHandler(k, bp.addr))
		}
	}
	reason := target.ReasonNone
	if bp != nil && bp.users > 0 {
		k.passed = bp.addr
		if t.stopsAt(k, bp) {
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
	if k.sent.take(sig) || k.role != member {
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
	t.prepareRoom(k)
	if t.hitBeforeStep(k, signal) {
		return
	}
	for k.passed != 0 {
		bp := k.proc.inserted[k.passed]
		if bp == nil || k.fetch() != nil || k.passed != k.pc() {
			k.passed = 0
			break
		}
		if signal != 0 && bp.isSyscall() && k.why == atSignal {
			k.meetAgain()
			break
		}
		if signal != 0 {
			k.deferSignal(signal)
			signal = 0
		}
		if t.pass(k, bp) != done {
			return
		}
		if k.wantsStep() && !t.afterStep(k) {
			return
		}
	}
	if k.watchedAt != 0 && signal == 0 && k.fetch() == nil && k.watchedAt == k.pc() {
		switch t.stepUnwatched(k) {
		case lost:
			return
		case done:
			if k.wantsStep() && !t.afterStep(k) {
				return
			}
		}
	}
	k.watchedAt = 0
	t.resume(k, signal)
}

// resume hands a task back to the kernel.
func (t *Target) resume(k *task, signal int) {
	var err error
	step := k.wantsStep()
	if signal == 0 && len(k.deferred) == 0 { // else a handler would return to the pad, maybe when that is gone; there is a guard
		k.redirect()
	}
	k.proc.debug.load(k) // what the kernel refuses of this stays as it was: a task that did not run could not be stopped either
	k.flush()
	signal = k.deliverable(signal)
	listen := k.why == atGroupStop && signal == 0 && !step
	if listen {
		err = sys.Listen(k.tid)
	} else {
		err = k.run(step, signal)
	}
	k.state = running
	if listen {
		k.state = listening
		t.noteGroupStop(k)
	} else if k.role == member {
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
		err = k.step(signal)
	case k.proc.seesCalls():
		err = sys.ContToSyscall(k.tid, signal)
	default:
		err = sys.Cont(k.tid, signal)
	}
	if k.wants == toHalt && err == nil {
		sys.Interrupt(k.tid)
	}
	return err
}

// report tells an event, in all-stop mode as soon as the handler that calls it is done: it ends the pending Resume (tell).
func (t *Target) report(e target.Event) {
	switch {
	case !t.nonStop:
		if !t.telling { // else another has ended it already
			t.telling, t.event = true, e
		}
		return
	case e.Kind != target.ThreadCreated:
		if k := t.tasks[e.Thread.TID]; k != nil {
			k.wants = toStay
		}
	}
	t.send(e)
}

// tellLater tells an event that stops nothing, as soon as everything is stopped in all-stop mode.
func (t *Target) tellLater(e target.Event) {
	if t.nonStop {
		t.send(e)
		return
	}
	t.backlog = append(t.backlog, e)
}

// tell stops everything and ends the pending Resume of all-stop mode: with the event that has been reported, or the oldest that was
// not to be told when it happened. In non-stop mode, which may have begun with one of those left, it stops nothing.
func (t *Target) tell() {
	if t.nonStop {
		t.send(t.backlog[0])
		t.backlog = t.backlog[1:]
		return
	}
	t.follow.rest()
	t.stopAll(stopSet{})
	e, reported := t.event, t.telling
	t.telling = false
	if reported && t.tasks[e.Thread.TID] == nil && e.Kind != target.NoneResumed {
		t.handleEnds()
		var found bool
		if e, found = t.instead(e); !found {
			t.fewer = true
			return
		}
		reported = len(t.backlog) == 0
	}
	if !reported {
		e = t.backlog[0]
		t.backlog = t.backlog[1:]
	}
	t.active = false
	t.send(e)
}

// instead finds what to tell in place of an event whose thread has ended while everything was being stopped to tell it, as all
// threads but one do at an exec: what else has happened, or, of an interrupt, another thread. Anything else has happened to nobody,
// and the program goes on.
func (t *Target) instead(e target.Event) (target.Event, bool) {
	other := t.interruptible()
	switch {
	case len(t.backlog) > 0:
		return e, true
	case e.Signal == target.SignalInt && other != nil:
		e.Thread = other.id()
		return e, true
	}
	return e, false
}

// leaveBuffer gives a task that stopped inside a displaced-stepping buffer the pc that it has in the program. It reports whether
// the task has come to a breakpoint instruction there.
func (k *task) leaveBuffer() (atEnd bool) {
	b := k.buffer
	k.buffer = nil
	defer k.leaveRoom()
	if b == nil || k.fetch() != nil {
		return false
	}
	at, ok := b.Original(k.pc())
	if !ok {
		return false // it has left
	}
	if breaksAt(b, k.pc()) {
		k.setPC(at)
		return true
	}
	k.setPC(at)
	if start, _ := b.Original(b.Addr()); at == start {
		k.passed = at
		k.moveFault(b)
	}
	return false
}
