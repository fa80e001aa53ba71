//go:build amd64

package linux

import (
	"tracewell/arch/amd64"
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
	if !caught {
		t.proceed(k, 0)
		return
	}
	e := target.Event{Kind: target.SyscallReturn, Thread: k.id(), Signal: target.SignalTrap, Syscall: number}
	if k.entered {
		e.Kind = target.SyscallEntry
	}
	t.report(e)
}

// noSyscall is the number of a system call that is not to be made, as a debugger sets it that has a thread do something else.
const noSyscall = -1

// atReturn deals with a task that is to go on from the return from a system call, to which it was led unseen. GDB catches no
// system calls while it waits for the end of a vfork, and does again for the return from that; and a step begun in a call ends
// at its return.
func (t *Target) atReturn(k *task) {
	_, caught := k.caught()
	k.returned = false
	switch {
	case caught:
		t.atSyscall(k)
	case !k.wantsStep() || k.fetch() != nil || t.afterStep(k):
		t.proceed(k, 0)
	}
}

// caught returns the number of the system call that k is stopped at, and whether the session wants to see it.
func (k *task) caught() (number int, ok bool) {
	c := k.proc.catch
	if k.guest || !c.on || k.fetch() != nil {
		return 0, false
	}
	number = int(int32(k.regs[amd64.OrigRAX]))
	if number == noSyscall && !k.entered {
		return 0, false
	}
	return number, c.numbers == nil || c.numbers[number]
}
