//go:build linux

package linux

import (
	"tracewell/target"
)

// syscallCatch says at which system calls the threads of a process stop.
type syscallCatch struct {
	on      bool
	numbers map[int]bool // nil for all
}

// CatchSyscalls implements target.Syscalls. A thread that runs hears of it when it is next stopped; so all are.
func (t *Target) CatchSyscalls(pid int, on bool, numbers []int) error {
	return t.onProcess(pid, func(p *process) error {
		// Servers say so each time that a client leaves, and the program need not stand still for it.
		if !on && !p.catch.on {
			return nil
		}
		var set map[int]bool
		if len(numbers) > 0 {
			set = make(map[int]bool)
			for _, n := range numbers {
				set[n] = true
			}
		}
		return t.whileHeld(p, func() error { p.catch = syscallCatch{on, set}; return nil })
	})
}

// atSyscall deals with a task at the entry into or the exit from a system call.
func (t *Target) atSyscall(k *task) {
	number, caught := k.caught()
	shown := k.has(owesEntry)
	k.owes &^= owesEntry
	if !shown || k.why != atEntry {
		t.hitCall(k)
	}
	if !caught || shown && k.why == atEntry {
		t.proceed(k, 0)
		return
	}
	e := target.Event{Kind: target.SyscallReturn, Thread: k.id(), Signal: target.SignalTrap, Syscall: number}
	if k.why == atEntry {
		e.Kind = target.SyscallEntry
	}
	t.report(e)
}

// A session that has a task call a function where it is about to make a system call, as GDB can at a catchpoint, makes the kernel
// forget the system call, and puts the registers back as if that did no harm; natively GDB's user then has a program whose call
// has failed with ENOSYS. Here the call is made after all.

// divert notes that the session changes the registers of k, which is about to make a system call if it is not sent elsewhere.
func (k *task) divert() {
	if k.why == atEntry && k.diverted == nil && k.fetch() == nil {
		was := k.regs
		k.diverted = &was
	}
}

// remake has a task that is as it was before it was sent elsewhere go back to the instruction that makes the call. The session has
// been shown the entry.
func (k *task) remake() {
	if k.diverted == nil || k.fetch() != nil || k.regs != *k.diverted {
		return
	}
	if k.why == atEntry { // it has not been anywhere
		k.diverted = nil
		return
	}
	k.diverted = nil
	host.rewindCall(&k.regs)
	k.dirty = dirtyAll
	k.passed = k.pc()
	if k.owes &^= owesEntry; k.proc.seesCalls() && !k.wantsStep() {
		k.owes |= owesEntry
	}
}

// noSyscall is the number of a system call that is not to be made, as a debugger sets it that has a thread do something else.
const noSyscall = -1

// atReturn deals with a task that is to go on from the return from a system call, to which it was led unseen. GDB catches no
// system calls while it waits for the end of a vfork, and does again for the return from that; and a step begun in a call ends
// at its return.
func (t *Target) atReturn(k *task) {
	_, caught := k.caught()
	k.why = atReturn
	switch {
	case caught, len(k.proc.calls) > 0:
		t.atSyscall(k)
	case !k.wantsStep() || k.fetch() != nil || t.afterStep(k):
		t.proceed(k, 0)
	}
}

// caught returns the number of the system call that k is stopped at, and whether the session wants to see it.
func (k *task) caught() (number int, ok bool) {
	c := k.proc.catch
	if k.role != member || !c.on || k.fetch() != nil {
		return 0, false
	}
	number = host.callNumber(k.tid, &k.regs)
	if number == noSyscall && k.why != atEntry {
		return 0, false
	}
	return number, c.numbers == nil || c.numbers[number]
}
