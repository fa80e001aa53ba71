//go:build linux

package linux

import (
	"tracewell/internal/sys"
	"tracewell/target"
)

// stopKind says of a stopped task what PTRACE_DETACH may do with the signal of its stop.
type stopKind uint8

const (
	// noSignal: a ptrace event, a group-stop, an interruption, or a system call. The kernel ignores a signal here, or, at a
	// system call, would send it anew.
	noSignal stopKind = iota
	// tracerTrap: a SIGTRAP that the tracer brought about by a step, a breakpoint or a debug register. It kills a program
	// that is not traced any more.
	tracerTrap
	// programTrap: a SIGTRAP that the program raised itself, or was sent.
	programTrap
	// programSignal: any other signal on its way to the program.
	programSignal
)

// The si_codes of a SIGTRAP (asm-generic/siginfo.h). An int3 has the code of a breakpoint instruction, and one that was sent 0
// or less.
const (
	trapBreakpoint = 1 // the end of a system call that was stepped
	trapTrace      = 2 // a step, ours or by a program that has set its trap flag
	trapHardware   = 4 // a debug register
)

// kindOfStop tells what a task is stopped by from its ptrace-stop, the si_code of a SIGTRAP, and whether it was resumed by a single
// step. An inserted breakpoint of ours is not among what it is asked about: a task that ran into one has been put back before it.
func kindOfStop(s ptraceStop, code int32, stepped bool) stopKind {
	switch {
	case s.event != 0, s.signal == sys.SyscallTrap, s.signal <= 0, s.signal >= numSignals:
		return noSignal
	case s.signal != sys.SIGTRAP:
		return programSignal
	case code == host.breakpointCode(): // before the next, which breakpoint instructions have on most processors
		return programTrap
	case code == trapBreakpoint, code == trapHardware, code == trapTrace && stepped:
		return tracerTrap
	}
	return programTrap
}

// passesOn reports whether a task that is detached takes along the signal of its stop. chosen is what the session lets programs
// have; nil for the usual, which leaves out what is most likely meant for the debugger.
func (kind stopKind) passesOn(signal int, chosen *[numSignals]bool) bool {
	switch {
	case kind == noSignal, kind == tracerTrap:
		return false
	case chosen != nil:
		return chosen[signal]
	}
	return kind == programSignal && signal != sys.SIGINT
}

// everySignal is what vfork children take along, in which the session has no say.
var everySignal = func() (all [numSignals]bool) {
	for i := range all {
		all[i] = true
	}
	return all
}()

// partingSignal is the signal that a task takes along when it is detached: that of a stop which the session has not been told
// of, or the one that it was told of last.
func (t *Target) partingSignal(k *task) int {
	stop, chosen := ptraceStop{signal: k.signal}, t.parting
	if k.has(owesStop) {
		stop = k.stop
	}
	if k.role != member {
		chosen = &everySignal
	}
	code := int32(trapBreakpoint)
	if stop.signal == sys.SIGTRAP && stop.event == 0 {
		if cause, err := k.cause(); err == nil {
			code = cause
		}
	}
	if !kindOfStop(stop, code, k.stepping).passesOn(stop.signal, chosen) {
		return 0
	}
	return stop.signal
}

// detachTask detaches a stopped task, and reports false for one that has died. It is the only way in which a task is let go,
// since PTRACE_DETACH delivers a signal if it is given one, and leaves the task whatever is pending. A SIGTRAP of the tracer's
// is not: drainTrap takes it wherever it can be behind another stop. Signals that waited for an instruction need not wait any
// more.
func (t *Target) detachTask(k *task) bool {
	k.disarm()
	k.flush()
	signal := k.deliverable(t.partingSignal(k))
	return !sys.Gone(sys.Detach(k.tid, signal))
}

// GroupStops brings one when all threads of a process that were to run have stopped. One that nobody receives is lost.
func (t *Target) GroupStops() <-chan target.GroupStop { return t.groups }

// noteGroupStop tells that a process is in a group-stop when the last of its tasks is, which is k.
func (t *Target) noteGroupStop(k *task) {
	for _, o := range k.proc.order {
		if o.state != listening && o.state != zombie {
			return
		}
	}
	if k.role != member || k.proc.groupStop {
		return
	}
	k.proc.groupStop = true
	// The tracer must not wait for a session that does not look. It has one group-stop at a time to hear of: only SIGCONT ends that,
	// and by then it is the next one that counts.
	select {
	case t.groups <- target.GroupStop{PID: k.proc.pid, Signal: k.groupSignal}:
	default:
	}
}

// leaveCalls has a task of p that is about to make a system call be in front of the instruction that makes it, if no other task can
// make one for the tracer. It makes it after the detach.
func (t *Target) leaveCalls(p *process) {
	if p.injectable() != nil {
		return
	}
	for _, k := range p.order {
		if k.state != stopped || k.why != atEntry || k.fetch() != nil {
			continue
		}
		t.takeStop(k.tid) // the entry has not been told of, and never will be
		before := k.regs
		host.cancelCall(&k.regs)
		k.dirty = dirtyAll
		k.flush()
		sys.ContToSyscall(k.tid, 0)
		k.state = running
		switch {
		case t.awaitStop(k) && k.fetch() == nil:
		case t.tasks[k.tid] == k && k.state != stopped: // it is gone, or a zombie
			continue
		default:
			return // p.order has changed
		}
		k.regs, k.dirty = before, dirtyAll
		host.rewindCall(&k.regs)
		host.cancelCall(&k.regs)
		return
	}
}
