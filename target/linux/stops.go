//go:build linux

package linux

import (
	"fmt"
	"slices"

	"tracewell/internal/sys"
)

// Stops come from wait, are entered into the state of their task at once, and wait in one queue until the loop handles them.
// Whoever waits for something in particular, as stopThreads does, only adds to the queue.
//
// The kernel tells of the task first that came under trace last, so where the newest threads alone keep the tracer busy, the
// older ones would stand still. So every now and then all that there is to tell is queued, and handled before anything newer.
// Doing so each time would cost a second wait4 a hit, and no thread waits long for a few hits of others.

// stop is a stop that has not been handled. A task has at most one, and owesStop while it has; task.stop says what it is.
type stop struct {
	tid   int
	task  *task // nil for a new tracee whose parent's event is still to come
	stood bool  // prepareStop has been at it
}

// ptraceStop is a wait status of a stop, decoded.
type ptraceStop struct {
	signal int // sys.SyscallTrap at a system call
	event  int // the ptrace event, 0 for none; sys.EventStop for an interruption or, by its signal, a group-stop
}

// stopOf decodes the wait status of a stop.
func stopOf(s sys.Status) ptraceStop {
	signal, _ := s.Stopped()
	return ptraceStop{signal, s.Event()}
}

func (s ptraceStop) String() string {
	return fmt.Sprintf("stopped by signal %#x, event %d", s.signal, s.event)
}

// end is the end of a task, which is known no more, to be told the engine and the session.
type end struct {
	task   *task
	code   int  // exit status, -1 if a signal killed it
	signal int  // that killed it, the kernel's number; 0 for none
	last   bool // of its process
}

// lookEvery is how many waits there are to one look at everything.
const lookEvery = 8

// waitEvent waits for any tracee and queues what it says, with all that others have said by then if it is time for that. It
// returns the task, nil for one that is not known, or when the wait was interrupted, or there is nothing left to wait for (lost).
func (t *Target) waitEvent() (k *task, interrupted bool) {
	tid, s, err := t.reap(true)
	switch {
	case err == sys.ErrInterrupted:
		return nil, true
	case err != nil:
		t.lost = true
		return nil, false
	}
	k = t.note(tid, s)
	if t.waits++; t.waits < lookEvery || len(t.tasks) == 1 {
		return k, false
	}
	t.waits = 0
	for {
		tid, s, err := t.reap(false)
		if err != nil || tid == 0 {
			return k, false
		}
		t.note(tid, s)
	}
}

// note enters a wait status into the state of its task and queues it. It returns the task, nil for one that is not known.
func (t *Target) note(tid int, s sys.Status) *task {
	k := t.tasks[tid]
	_, isStop := s.Stopped()
	switch {
	case k == nil && isStop:
		t.stops = append(t.stops, stop{tid: tid})
	case k == nil:
		t.takeStop(tid)
	case isStop && t.absorb(k, stopOf(s)):
	case t.noteStop(k, s):
		t.queueStop(k)
	}
	return k
}

// noteStop enters a wait status into the state of its task. It reports false if the task has ended: it is a zombie, or is known no
// more.
func (t *Target) noteStop(k *task, s sys.Status) bool {
	if s.Event() == sys.EventStop {
		s = t.drainFault(k, t.drainTrap(k, s))
	}
	if s.Ended() {
		t.noteEnd(k, s)
		return false
	}
	k.forget()
	k.state, k.vforked, k.event = stopped, 0, 0
	k.stop = stopOf(s)
	switch signal, event := k.stop.signal, k.stop.event; {
	case event == sys.EventStop && signal == sys.SIGTRAP:
		k.why = atInterrupt
	case event == sys.EventStop:
		k.why, k.groupSignal = atGroupStop, signal
	case event != 0:
		k.why, k.event = atEvent, event
	case signal != sys.SyscallTrap:
		k.why = atSignal
	case sys.EntersSyscall(k.tid):
		k.why = atEntry
	default:
		k.why = atReturn
	}
	switch k.event { // what is only to be had at the event itself
	case sys.EventFork, sys.EventVfork, sys.EventClone:
		k.child, _ = sys.EventMessage(k.tid)
	case sys.EventExec:
		t.forgetSiblings(k)
	}
	soft := k.soft
	k.soft = noSoftStep
	k.finishStep(soft, k.leaveBuffer())
	t.leavePad(k)
	return t.tasks[k.tid] == k && k.state == stopped // otherwise it was killed meanwhile
}

// awaitStop waits for the next stop of one task and notes it. It reports false if none will come: the task is gone, or a zombie.
func (t *Target) awaitStop(k *task) bool {
	s, ok := t.waitFor(k)
	for ok && !s.Ended() && t.absorb(k, stopOf(s)) {
		s, ok = t.waitFor(k)
	}
	return ok && t.noteStop(k, s)
}

// awaitRaw waits for the next stop of one task, which is not noted. It reports false if none will come; an end is noted.
func (t *Target) awaitRaw(k *task) (ptraceStop, bool) {
	s, ok := t.waitFor(k)
	if ok && s.Ended() {
		t.noteEnd(k, s)
		ok = false
	}
	return stopOf(s), ok
}

// noteWaiting notes one stop that can be waited for already, of any tracee, and reports whether there was one.
func (t *Target) noteWaiting() bool {
	tid, s, err := t.reap(false)
	if err != nil || tid == 0 {
		return false
	}
	t.note(tid, s)
	return true
}

// noteEnd forgets a task that has ended, with the threads of a process of which nothing more will be heard. What the engine and
// the session are to know of it is for the loop (handleEnd).
func (t *Target) noteEnd(k *task, s sys.Status) {
	if k.role != member {
		k.close()
		t.forgetChild(k)
		return
	}
	p := k.proc
	whole := k.tid == k.tgid
	t.removeTasks(p, func(o *task) bool { return o == k || whole && o.tgid == k.tgid })
	e := end{task: k, last: len(p.order) == 0}
	e.code, _ = s.Exited()
	if signal, killed := s.Killed(); killed {
		e.signal = signal
	}
	t.ends = append(t.ends, e)
}

// forgetSiblings forgets the threads of a task that has executed another program: they are gone, some without a word. Clones live
// on in the memory that was the process's.
func (t *Target) forgetSiblings(k *task) {
	if k.role == member && k.tgid == k.proc.pid {
		t.removeTasks(k.proc, func(o *task) bool { return o != k && o.tgid == k.tgid })
	}
}

// drainTrap deals with a task that was interrupted just when it ran into an inserted breakpoint or finished a step. The kernel
// reports the interruption first, although the SIGTRAP is queued already, to come when nobody expects it any more, or to kill a
// program that is let go. Such a task takes its signal before it returns to the program, so it is resumed just for that. It may
// report an interruption once more before: a request that comes while a task is stopped already, and wait has not reported that
// stop yet, outlasts it.
func (t *Target) drainTrap(k *task, s sys.Status) sys.Status {
	for s.Event() == sys.EventStop && sys.PendingSiginfo(k.tid, isTrap) && sys.Cont(k.tid, 0) == nil {
		drained, ok := t.waitFor(k)
		if !ok {
			break
		}
		s = drained
	}
	return s
}

// drainFault is drainTrap for the signals of faults in pads and of guards. When one arrives later the pad may have been left, or
// the jump be gone, so that nobody knows what it was about.
func (t *Target) drainFault(k *task, s sys.Status) sys.Status {
	for s.Event() == sys.EventStop && stopOf(s).signal == sys.SIGTRAP && k.amidPads() && sys.PendingSiginfo(k.tid, isFault) &&
		sys.Cont(k.tid, 0) == nil {
		drained, ok := t.waitFor(k)
		if !ok {
			break
		}
		if !drained.Ended() && t.mendStop(k, stopOf(drained)) {
			k.flush()
			break // as interrupted: whoever lets the task go on does so without the signal
		}
		s = drained
	}
	return s
}

// queueStop appends the stop that a task is in to those to be handled.
func (t *Target) queueStop(k *task) {
	t.takeStop(k.tid) // of a leader that was stopped when another thread has executed a program
	k.owes |= owesStop
	t.stops = append(t.stops, stop{tid: k.tid, task: k})
}

// takeStop takes the stop of a tracee out of the queue, and reports whether there was one.
func (t *Target) takeStop(tid int) bool {
	i := slices.IndexFunc(t.stops, func(s stop) bool { return s.tid == tid })
	if i < 0 {
		return false
	}
	s := t.stops[i]
	t.stops = slices.Delete(t.stops, i, i+1)
	if s.task != nil {
		s.task.owes &^= owesStop
	}
	return true
}

// firstStop waits for the stop that a new task begins with, which may have come before its parent's event. It reports false
// for one that has been killed.
func (t *Target) firstStop(tid int) bool {
	if t.takeStop(tid) {
		return true
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

// due returns the index of the first stop in the queue that can be handled, -1 if there is none. It is one of a vfork child,
// or, while a Resume is pending, one of a resumed task. A task that the Resume has left out may stop all the same: the parent
// of a vfork when its child has gone, and a leader when a resumed thread has executed a program under its id. That is handled,
// too, unless the task was to stand still meanwhile.
func (t *Target) due() int {
	for i := range t.stops {
		s := &t.stops[i]
		if k := s.task; k != nil && k.has(owesStop) && (k.role != member || t.active && (k.resumed() || !s.stood)) {
			return i
		}
	}
	return -1
}

// handleNext handles the first stop that can be handled, and reports whether there was one.
func (t *Target) handleNext() bool {
	i := t.due()
	if i < 0 {
		return false
	}
	k := t.stops[i].task
	if k.state != stopped {
		t.surprise("a stop in the queue of a thread that runs", k)
	}
	t.stops = slices.Delete(t.stops, i, i+1)
	k.owes &^= owesStop
	t.handleStop(k)
	return true
}

// resumeLater has the loop resume a task when what is being done is done: one that was stopped for another's sake, or is new.
func (t *Target) resumeLater(k *task) {
	if !k.has(owesResume) {
		k.owes |= owesResume
		t.ready = append(t.ready, k)
	}
}

// resumeNext resumes the first of the tasks that are ready, if it is still to be resumed, and reports whether there was one. Only
// vfork children are if nobody else may run.
func (t *Target) resumeNext(children bool) bool {
	i := slices.IndexFunc(t.ready, func(k *task) bool { return !children || k.role != member })
	if i < 0 {
		return false
	}
	k := t.ready[i]
	t.ready = slices.Delete(t.ready, i, i+1)
	k.owes &^= owesResume
	if t.tasks[k.tid] == k && k.state == stopped && !k.has(owesStop) && (k.role != member || t.active && k.resumed()) {
		t.proceed(k, 0)
	}
	return true
}
