//go:build amd64

package linux

import (
	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/linux"
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
	tid, s, err := t.next()
	switch err {
	case nil:
		if k, s := t.arrive(tid, s); k != nil {
			t.act(k, s)
		}
	case linux.ErrInterrupted:
		// A request is waiting, or was.
	default:
		t.vanish()
	}
}

// arrive notes a wait status and returns it with its task, nil for one not known yet, whose parent's event is still to
// come.
func (t *Target) arrive(tid int, s linux.Status) (*task, linux.Status) {
	k := t.tasks[tid]
	if k != nil && s.Event() == linux.EventStop {
		s = t.drain(k, s)
	}
	sig, isStop := s.Stopped()
	switch {
	case k == nil && isStop:
		t.early[tid] = true
	case k != nil && isStop:
		k.forget()
		k.state, k.vforked = stopped, 0
		k.entered = sig == linux.SyscallTrap && linux.EntersSyscall(tid)
		k.atSignal = s.Event() == 0 && sig != linux.SyscallTrap
		k.noteEvent(s.Event())
		t.settle(k)
	}
	return k, s
}

// noteEvent keeps what is only to be had at the event itself.
func (k *task) noteEvent(event int) {
	switch k.event = event; event {
	case linux.EventStop:
		k.event = 0
	case linux.EventFork, linux.EventVfork, linux.EventClone:
		k.child, _ = linux.EventMessage(k.tid)
	}
}

// drain deals with a task that was interrupted just when it ran into a trap or finished a step. The kernel reports the
// interruption first, although the SIGTRAP is queued already, to come when nobody expects it any more, or to kill a program
// that is let go. Such a task takes its signal before it returns to the program, so it is let go on just for that.
func (t *Target) drain(k *task, s linux.Status) linux.Status {
	if !linux.PendingSiginfo(k.tid, isTrap) || linux.Cont(k.tid, 0) != nil {
		return s
	}
	if drained, ok := t.waitFor(k); ok {
		return drained
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
func (t *Target) act(k *task, s linux.Status) {
	if t.ended(k, s) {
		return
	}
	sig, _ := s.Stopped()
	switch event := s.Event(); {
	case event == linux.EventStop:
		k.group = sig != linux.SIGTRAP
		t.interrupted(k)
	case event == linux.EventExec:
		t.execed(k)
	case event != 0:
		if e, tell := t.born(k, event); tell {
			t.endCall(k)
			t.happened(k, e)
		} else {
			t.proceed(k, 0)
		}
	case sig == linux.SyscallTrap:
		t.atSyscall(k)
	case sig == linux.SIGTRAP:
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
	at := k.pc() - 1
	tr := k.proc.traps[at]
	if tr != nil && !tr.ambiguous && !k.stepping {
		k.setPC(at)
		t.hit(k, tr)
		return
	}
	cause, err := k.cause()
	switch {
	case err != nil:
		// It has died since, by an exec of another thread or a SIGKILL; its end is reported.
	case cause == siKernel && tr != nil:
		k.setPC(at)
		t.hit(k, tr)
	case cause == siKernel && k.proc.stale(at):
		k.setPC(at)
		t.proceed(k, 0)
	case cause == siKernel || cause <= 0:
		t.signalled(k, linux.SIGTRAP)
	case t.watched(k):
	case !k.stepping:
		t.signalled(k, linux.SIGTRAP)
	case !k.wantsStep() || t.afterStep(k):
		t.proceed(k, 0)
	}
}

// cause is the si_code of the signal that k is stopped with: siKernel for an int3, another positive number for a step or a debug
// register, 0 or less for what a program sent. A step that ends behind a one-byte instruction with a trap on it looks like
// the trap otherwise.
func (k *task) cause() (int32, error) {
	var info [linux.SiginfoSize]byte
	err := linux.GetSiginfo(k.tid, &info)
	return siCode(&info), err
}

// byBreakpoint reports whether an int3 stopped k.
func (k *task) byBreakpoint() bool {
	cause, err := k.cause()
	return err == nil && cause == siKernel
}

// hit deals with a task that ran into a trap; its pc is back on it.
func (t *Target) hit(k *task, tr *trap) {
	first := k.passed != tr.addr
	k.passed = tr.addr
	if k.guest {
		t.proceed(k, 0)
		return
	}
	if first && (tr.site != nil || tr.check != nil) {
		t.follow.sample(k)
	}
	if first && tr.site != nil {
		t.judge(k, tr.site.Hit(t.snapshot(k)))
	}
	if tr.users > 0 && tr.check.stops(t.snapshot(k)) {
		t.report(target.Event{Kind: target.Stopped, Thread: k.id(), Signal: target.SignalTrap, Reason: target.ReasonSwBreak})
		return
	}
	t.proceed(k, 0)
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
	if tr != nil && tr.site != nil {
		k.passed = tr.addr
		t.judge(k, tr.site.Hit(t.snapshot(k)))
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
// the session steps the task: what the step is to do about the handler is its business, as with gdbserver.
func (t *Target) signalled(k *task, sig int) {
	if k.sent.take(sig) || k.guest {
		t.proceed(k, sig)
		return
	}
	if k.faulted(sig) {
		k.passed = 0
	}
	if t.passing[sig] && k.verb == target.Go {
		t.proceed(k, sig)
		return
	}
	k.signal = sig
	t.report(target.Event{Kind: target.Stopped, Thread: k.id(), Signal: gdbSignal(sig)})
}

// proceed lets a stopped task go on as the session and the engine want it, with a kernel signal or 0. First the instruction
// whose hit it has behind it must happen.
func (t *Target) proceed(k *task, signal int) {
	for k.passed != 0 {
		tr := k.proc.traps[k.passed]
		if tr == nil || k.fetch() != nil || k.passed != k.pc() {
			k.passed = 0
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
	if err = k.proc.debug.load(k); err == nil {
		err = k.flush()
	}
	if err == nil {
		signal = k.deliverable(signal)
	}
	listen := k.group && signal == 0 && !step
	switch {
	case err != nil:
	case listen:
		err = linux.Listen(k.tid)
	default:
		err = k.run(step, signal)
	}
	k.state = running
	if listen {
		k.state = listening
	}
	if linux.Gone(err) && k.tid == k.proc.pid && len(k.proc.order) > 1 {
		k.state = zombie
	}
	k.stepping = step
	k.forget()
}

// run makes the kernel let a task go on, to be stopped again if somebody has asked for that: the request before was used up by
// the stop that the task has just made.
func (k *task) run(step bool, signal int) (err error) {
	switch {
	case step:
		err = linux.Step(k.tid, signal)
	case k.proc.catch.on:
		err = linux.ContToSyscall(k.tid, signal)
	default:
		err = linux.Cont(k.tid, signal)
	}
	if k.stopping && err == nil {
		linux.Interrupt(k.tid)
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
	t.hold(whom{blocked: true})
	if t.tasks[e.Thread.TID] == nil && len(t.backlog) > 0 { // it ended while it was being stopped
		t.tellBacklog()
		return
	}
	t.active = false
	t.events.add(e)
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
		if err := linux.Interrupt(k.tid); linux.Gone(err) && k.tid == k.proc.pid {
			k.state = zombie
			continue
		}
		k.held = true
		held = append(held, k)
	}
	for _, other := range t.await(w) {
		t.act(other.task, other.status)
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
	if k.event == 0 || k.event == linux.EventVfork || k.state != stopped || k.proc.catch.on {
		return
	}
	waiting, status := k.waiting, k.status // an event, still to be acted on
	if k.stepping {
		linux.Step(k.tid, 0) // the stop is then that of a finished step
	} else {
		linux.ContToSyscall(k.tid, 0)
	}
	k.state = running
	k.forget()
	s, ok := t.waitFor(k)
	if !ok {
		return
	}
	_, s = t.arrive(k.tid, s)
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
	status linux.Status
}

// await parks held tasks until all that w covers have stopped or ended, and returns the stops of others, which were to run on.
// Guests are led on meanwhile, since a task may wait for one.
func (t *Target) await(w whom) (others []stop) {
	for first := true; t.awaited(w); first = false {
		if first && t.awaitsLeader() {
			t.alarm.start()
			defer t.alarm.stop()
		}
		tid, s, err := t.next()
		if err == linux.ErrInterrupted {
			t.findZombies()
			continue
		}
		if err != nil {
			t.vanish()
			return others
		}
		k, s := t.arrive(tid, s)
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
		if k != nil && k.tgid == k.proc.pid && !k.guest && s.Event() == linux.EventExec {
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
func (t *Target) park(k *task, s linux.Status) {
	if t.ended(k, s) {
		return
	}
	sig, _ := s.Stopped()
	switch event := s.Event(); {
	case event == linux.EventStop:
		k.group = sig != linux.SIGTRAP
		return
	case event != 0 && event != linux.EventExec && !t.tells(k, event):
		t.born(k, event)
		return
	case event == 0 && sig == linux.SyscallTrap && !k.proc.catch.on:
		return
	case event == 0 && sig == linux.SIGTRAP && k.fetch() == nil:
		if at := k.pc() - 1; k.byBreakpoint() && (k.proc.traps[at] != nil || k.proc.stale(at)) {
			k.setPC(at)
			return
		}
		k.noteTriggers()
	}
	k.waiting, k.status = true, s
	t.parked++
}

// tells reports whether an event of a task may be one for the session, and so waits until it can be told.
func (t *Target) tells(k *task, event int) bool {
	if event != linux.EventClone || t.reports.Threads {
		return t.reports != (target.Reports{})
	}
	group, err := linux.ThreadGroup(k.child)
	return err == nil && !k.threadOf(k.child, group, event)
}

// settle gives a task that stopped inside a slot the pc that the slot stands for.
func (t *Target) settle(k *task) {
	tr := k.slot
	k.slot = nil
	if tr == nil || k.fetch() != nil {
		return
	}
	switch offset := k.pc() - tr.slot; {
	case offset >= amd64.SlotSize:
		// It has left.
	case offset < arch.Addr(tr.resume):
		k.setPC(tr.addr)
		k.passed = tr.addr
		k.moveFault(tr)
	default:
		k.setPC(tr.addr + arch.Addr(tr.insn.Len()))
	}
}
