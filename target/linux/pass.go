//go:build linux

package linux

import (
	"encoding/binary"

	"tracewell/arch"
	"tracewell/internal/sys"
)

// passage says what became of a displaced instruction.
type passage uint8

const (
	done passage = iota // it has happened; the task is stopped behind it
	sent                // the task runs in the slot
	lost                // the task stopped otherwise, or died; that is dealt with
)

// pass makes the instruction under an inserted breakpoint happen for a task stopped on it. While memory is watched the
// processor itself has to execute it.
func (t *Target) pass(k *task, bp *insertedBreakpoint) passage {
	k.proc.stack.tid = k.tid
	switch {
	case bp.emulate && !k.proc.debug.inUse() && bp.insn.emulate(&k.regs, &k.proc.stack):
		k.passed = 0
		k.dirty = dirtyAll
		return done
	case !canStep && !bp.isSyscall() && k.wantsStep() && len(k.deferred) == 0:
		k.passed = 0
		k.run(true, 0)
		k.state, k.stepping = running, true
		k.forget()
		return sent
	case !canStep && !bp.isSyscall() && (bp.displaced(k) == 0 || len(k.deferred) > 0):
		return t.stepThroughBuffer(k, bp)
	case bp.displaced(k) != 0 && len(k.deferred) > 0:
		return t.stepThroughBuffer(k, bp)
	case bp.displaced(k) != 0:
		t.enterBuffer(k, bp)
		return sent
	}
	return t.stepInPlace(k, bp)
}

// enterBuffer sends a task into its buffer. It is stepped through when something must happen right behind the instruction.
func (t *Target) enterBuffer(k *task, bp *insertedBreakpoint) {
	k.passed = 0
	k.setPC(bp.displaced(k))
	k.buffer = bp.buffer
	err := k.flush()
	if err == nil {
		err = k.proc.debug.load(k)
	}
	step := k.wantsStep()
	if err == nil {
		k.run(step, 0)
	}
	k.state, k.stepping = running, step
	k.forget()
}

// stepThroughBuffer has a task make one step in its buffer, behind which the signal that has been deferred is delivered. No
// other may come meanwhile: the kernel would tell of it ahead of the step, and of those queued behind it, and they can be
// delivered in their order only one at a time.
func (t *Target) stepThroughBuffer(k *task, bp *insertedBreakpoint) passage {
	blocked, _ := sys.SignalMask(k.tid)
	sys.SetSignalMask(k.tid, ^uint64(faultSignals))
	for {
		k.passed = 0
		if canStep {
			k.buffer = bp.buffer
			k.setPC(bp.displaced(k))
		}
		if k.proc.debug.load(k) != nil || k.flush() != nil {
			return lost
		}
		switch {
		case !t.stepAgain(k):
			return lost
		case k.stop.event == sys.EventStop && k.passed == bp.addr: // leaveBuffer has put it back
			continue
		case k.stop.event == sys.EventStop, k.stop.signal == sys.SIGTRAP && !k.proc.debug.inUse():
			sys.SetSignalMask(k.tid, blocked)
			return done
		}
		sys.SetSignalMask(k.tid, blocked)
		t.queueStop(k)
		return lost
	}
}

// stepAgain makes one step of a task, unless it is interrupted, and waits for it. It reports false when the task is gone.
func (t *Target) stepAgain(k *task) bool {
	k.step(0)
	k.state, k.stepping = running, true
	k.forget()
	return t.awaitStop(k) && k.fetch() == nil
}

// stepInPlace lifts the breakpoint, has the task execute the instruction, and puts the breakpoint back. No other task may run
// meanwhile, or it would pass the place unseen. A system call may block for ever, so it is only followed to its entry.
func (t *Target) stepInPlace(k *task, bp *insertedBreakpoint) passage {
	t.stopThreads(stopSet{except: k, in: k.proc.addrSpace})
	if t.tasks[k.tid] != k {
		return lost
	}
	if bp.lift(k.proc.addrSpace) != nil || k.flush() != nil {
		bp.place(k.proc.addrSpace)
		return lost
	}
	blocked, _ := sys.SignalMask(k.tid)
	sys.SetSignalMask(k.tid, ^uint64(faultSignals))
	ok := t.stepOnce(k, bp.insn != nil && bp.insn.isSyscall())
	k.passed = 0
	bp.place(k.proc.addrSpace)
	if !ok {
		return lost
	}
	sys.SetSignalMask(k.tid, blocked)
	switch {
	case k.stop.signal == sys.SyscallTrap:
		// It must not be shown like this: the call has begun, and whatever is done to the task would be done to the call.
		t.resume(k, 0)
		return sent
	case k.stop.signal == sys.SIGTRAP && !k.proc.debug.inUse():
		return done
	}
	t.queueStop(k)
	return lost
}

// stepOnce makes one step of a task and waits for it. It reports false when the task is gone.
func (t *Target) stepOnce(k *task, intoSyscall bool) bool {
	for {
		// A task that is gone says so in its status rather than here.
		if intoSyscall {
			sys.ContToSyscall(k.tid, 0)
		} else {
			k.step(0)
		}
		k.state, k.stepping = running, !intoSyscall
		k.forget()
		if !t.awaitStop(k) {
			return false
		}
		if k.stop.event != sys.EventStop {
			return k.fetch() == nil
		}
	}
}

// stack is the memory that emulated instructions push to and pop from. It obeys the page protections: an instruction that
// would fault is not emulated, and then faults by itself.
type stack struct {
	tid    int // of a live thread; the leader may be a zombie, which has no memory
	vector sys.Vector
	word   [8]byte // what the vector reads, here lest each read allocate it
}

// ReadUint64 reads what an instruction pops.
func (m *stack) ReadUint64(addr arch.Addr) (uint64, bool) {
	ok := m.fill(m.tid, uint64(addr), m.word[:])
	return binary.LittleEndian.Uint64(m.word[:]), ok
}

// Read fills b, of any length.
func (m *stack) Read(addr arch.Addr, b []byte) bool { return m.fill(m.tid, uint64(addr), b) }

// fill reads all of b, which is allocated if it is no part of word.
func (m *stack) fill(tid int, addr uint64, b []byte) bool {
	m.vector.Reset()
	m.vector.Add(addr, b)
	n, err := m.vector.Read(tid)
	return err == nil && n == len(b)
}

// WriteUint64 writes what an instruction pushes.
func (m *stack) WriteUint64(addr arch.Addr, v uint64) bool {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	return m.Write(addr, b[:])
}

// Write writes all of b.
func (m *stack) Write(addr arch.Addr, b []byte) bool {
	n, err := sys.WriteVM(m.tid, uint64(addr), b)
	return err == nil && n == len(b)
}
