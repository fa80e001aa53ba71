//go:build linux && amd64

package linux

import (
	"encoding/binary"
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/sys"
)

// The kernel's numbers of the system calls made in the program.
const (
	sysMmap   = 9
	sysMunmap = 11
)

// syscallCode is the instruction that inject has a task execute.
var syscallCode = []byte{0x0f, 0x05}

// inject has a stopped task of a program make one system call, and leaves the task as it was. Two bytes at the program's
// entry point serve as the place to make it from; every task in its memory is stopped meanwhile. A call that the task was
// stopped in is restarted by the kernel afterwards, since its registers, orig_rax included, are put back.
func (t *Target) inject(p *process, number uint64, args ...uint64) (uint64, error) {
	if t.active {
		held := t.hold(whom{in: p.space})
		defer t.noneLeft()
		defer t.release(held)
	}
	k := p.injectable()
	if k == nil {
		return 0, errors.New("no thread is free to make a system call")
	}
	entry, err := p.entry()
	if err != nil {
		return 0, err
	}
	saved := make([]byte, len(syscallCode))
	if _, err := p.mem.ReadAt(saved, int64(entry)); err != nil {
		return 0, fmt.Errorf("reading the program's entry point: %w", err)
	}
	if _, err := p.mem.WriteAt(syscallCode, int64(entry)); err != nil {
		return 0, fmt.Errorf("writing the program's entry point: %w", err)
	}
	defer p.mem.WriteAt(saved, int64(entry))
	return t.call(k, entry, number, args)
}

// injectable finds a task that a system call can be made on, rather one that has stopped for nothing.
func (p *process) injectable() *task {
	var second *task
	for _, k := range p.order {
		if k.state != stopped || k.group || k.entered || k.event != 0 || k.fetch() != nil {
			continue
		}
		if !k.waiting {
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
	hadInfo := k.atSignal && sys.GetSiginfo(k.tid, &info) == nil
	blocked, err := sys.SignalMask(k.tid)
	if err != nil {
		return 0, err
	}
	sys.SetSignalMask(k.tid, ^uint64(faultSignals))

	k.regs[amd64.RAX] = number
	k.regs[amd64.OrigRAX] = ^uint64(0)
	k.setPC(from)
	order := [...]int{amd64.RDI, amd64.RSI, amd64.RDX, amd64.R10, amd64.R8, amd64.R9}
	for i, arg := range args {
		k.regs[order[i]] = arg
	}
	k.dirty = dirtyAll
	if err := k.flush(); err != nil {
		return 0, err
	}
	if _, ok := t.stepOnce(k, false); !ok {
		return 0, errors.New("the thread ended during the system call")
	}
	result, behind := k.regs[amd64.RAX], k.pc() == from+arch.Addr(len(syscallCode))
	sys.SetSignalMask(k.tid, blocked)
	k.regs, k.dirty, k.stepping = saved.regs, dirtyAll, saved.stepping
	k.waiting, k.status, k.signal, k.triggersKnown = saved.waiting, saved.status, saved.signal, saved.triggersKnown
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

// entry is the address where the program started, from its auxiliary vector.
func (p *process) entry() (arch.Addr, error) {
	const atEntry = 9
	v, ok := p.auxv(atEntry)
	if !ok {
		return 0, errors.New("the program's auxiliary vector has no entry point")
	}
	return arch.Addr(v), nil
}

// auxv finds one value of the auxiliary vector.
func (p *process) auxv(key uint64) (uint64, bool) {
	b, err := sys.Auxv(p.alive())
	if err != nil {
		return 0, false
	}
	for ; len(b) >= 16; b = b[16:] {
		if binary.LittleEndian.Uint64(b) == key {
			return binary.LittleEndian.Uint64(b[8:]), true
		}
	}
	return 0, false
}
