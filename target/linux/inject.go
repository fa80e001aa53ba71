//go:build linux

package linux

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/internal/sys"
)

// inject has a stopped task of a program make one system call, and leaves the task as it was. Two bytes at the program's
// entry point serve as the place to make it from; every task in its memory is stopped meanwhile. A call that the task was
// stopped in is restarted by the kernel afterwards, since its registers, orig_rax included, are put back.
func (t *Target) inject(p *process, number uint64, args ...uint64) (uint64, error) {
	if t.active {
		t.stopThreads(stopSet{in: p.addrSpace})
	}
	k := p.injectable()
	if k == nil {
		return 0, errors.New("no thread is free to make a system call")
	}
	entry, err := p.entry()
	if err != nil {
		return 0, err
	}
	s := p.addrSpace
	giveBack, err := s.code.Borrow(entry, host.syscallCode())
	if err != nil {
		return 0, fmt.Errorf("the program's entry point: %w", err)
	}
	defer func() { s.warn(giveBack()) }()
	return t.call(k, entry, number, args)
}

// injectable finds a task that a system call can be made on, rather one that has stopped for nothing.
func (p *process) injectable() *task {
	var second *task
	for _, k := range p.order {
		if k.state != stopped || k.why == atGroupStop || k.why == atEntry || k.why == atEvent || k.fetch() != nil {
			continue
		}
		if !k.has(owesStop) {
			return k
		}
		second = k
	}
	return second
}

// call makes the system call on a task from the syscall instruction at a given address.
func (t *Target) call(k *task, from arch.Addr, number uint64, args []uint64) (uint64, error) {
	saved := *k
	var info [sys.SiginfoSize]byte
	hadInfo := k.why == atSignal && sys.GetSiginfo(k.tid, &info) == nil
	blocked, err := sys.SignalMask(k.tid)
	if err != nil {
		return 0, err
	}
	sys.SetSignalMask(k.tid, ^uint64(faultSignals))

	host.setCall(&k.regs, from, number, args)
	k.dirty = dirtyAll
	if err := k.flush(); err != nil {
		return 0, err
	}
	if !t.stepOnce(k, false) {
		return 0, errors.New("the thread ended during the system call")
	}
	result, behind := host.callResult(&k.regs), k.pc() == from+arch.Addr(len(host.syscallCode()))
	sys.SetSignalMask(k.tid, blocked)
	k.regs, k.dirty, k.stepping = saved.regs, dirtyAll, saved.stepping
	k.owes, k.stop, k.signal, k.triggersKnown = saved.owes, saved.stop, saved.signal, saved.triggersKnown
	if hadInfo {
		// The stop after the step is a signal-delivery stop again, where the signal can still be passed on.
		sys.SetSiginfo(k.tid, &info)
	}
	if !behind {
		return 0, errors.New("the thread did not make the system call")
	}
	if errno := -int64(result); errno > 0 && errno < 4096 {
		return 0, fmt.Errorf("system call %d in the program failed with error %d", number, errno)
	}
	return result, nil
}
