//go:build linux

package linux

import (
	"errors"
	"strconv"

	"tracewell/arch"
	"tracewell/internal/sys"
)

// A pad that reads memory which is not there raises a signal. The tracer has it first, and the program never sees it. But where
// the thread has blocked the signal, or the program ignores it, the kernel sets the program's action back to the default before it
// tells the tracer. So the action is kept when the arena is made, and put back if it is found to be gone after such a fault. That
// the thread has the signal blocked no more cannot be told from a program that has unblocked it, and is left as it is.

// faultActions are the program's actions for the signals of a pad's faults, as the kernel has them.
type faultActions struct {
	at   arch.Addr    // of the copies in the program's memory, one behind the other
	kept map[int]bool // by signal: the action is not the default
}

// The kernel's struct sigaction has four words: handler, flags, restorer, mask. In the control area no other has this place.
const (
	actionsAt  = 0x200
	actionSize = 32
)

// padSignals are the signals of a pad's faults.
var padSignals = [...]int{sys.SIGSEGV, sys.SIGBUS}

// keepActions has the program write its actions into the control area, which a tracer reads there.
func (a *arena) keepActions(c *calls) error {
	a.actions = faultActions{at: a.shape.Control + actionsAt, kept: make(map[int]bool)}
	for i, signal := range padSignals {
		at := uint64(a.actions.at) + uint64(i*actionSize)
		if _, err := c.make(sys.CallSigaction, uint64(signal), 0, at, signalMaskSize); err != nil {
			return err
		}
	}
	return nil
}

// signalMaskSize is the length of a set of signals in bytes.
const signalMaskSize = 8

// noteActions notes which actions are not the default.
func (a *arena) noteActions() {
	for i, signal := range padSignals {
		a.actions.kept[signal] = a.owned.Words[(actionsAt+i*actionSize)/8] != 0
	}
}

// mendAction puts the program's action for a signal back if the fault that a task has just had in a pad has taken it away. The task
// makes the call before it goes on, or it might look. It is stopped with the signal, which it does not need any more.
func (t *Target) mendAction(k *task, a *arena, signal int) {
	p := k.proc
	actions := &a.actions
	if !actions.kept[signal] || acts(k.tid, signal) {
		return
	}
	at := uint64(actions.at)
	if signal == sys.SIGBUS {
		at += actionSize
	}
	blocked, err1 := sys.SignalMask(k.tid)
	stub, err2 := p.callStub()
	if err := errors.Join(err1, err2); err != nil {
		p.warn(err)
		return
	}
	// If the tracer is killed from here on the stub puts the task back, as for any other call of ours.
	saved := k.regs
	p.mem.WriteAt(host.callStub(&saved, blocked, stub), int64(stub))
	host.setCall(&k.regs, stub, sys.CallSigaction, []uint64{uint64(signal), at, 0, signalMaskSize})
	k.dirty = dirtyAll
	k.flush()
	sys.SetSignalMask(k.tid, ^uint64(faultSignals))
	for stop, ok := t.stepRaw(k); ok && stop.event == sys.EventStop; {
		stop, ok = t.stepRaw(k)
	}
	sys.SetSignalMask(k.tid, blocked)
	k.regs, k.haveRegs, k.dirty = saved, true, dirtyAll
	p.clearStub(stub)
}

// stepRaw has a stopped task make one step, and waits for the next stop, which is not noted. It reports false when the task is
// gone.
func (t *Target) stepRaw(k *task) (ptraceStop, bool) {
	k.step(0)
	return t.awaitRaw(k)
}

// acts reports whether a program catches or ignores a signal. It is true where the kernel does not tell.
func acts(tid, signal int) bool {
	for _, field := range []string{"SigCgt", "SigIgn"} {
		text, err := sys.StatusField(tid, field)
		set, bad := strconv.ParseUint(text, 16, 64)
		if err != nil || bad != nil || signalSet(set).has(signal) {
			return true
		}
	}
	return false
}
