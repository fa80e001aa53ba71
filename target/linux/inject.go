//go:build linux

package linux

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/internal/sys"
)

// System calls in a program, made by one of its threads for the tracer.
//
// The instruction comes from a stub that is written where the last page of the vdso has nothing but zeros: executable memory of
// every program that none of its threads ever runs or reads, so nobody has to be stopped for it. Behind the instruction the stub
// puts the thread back, signal mask and registers, to the instruction that it was stopped at. The tracer does that itself; the rest
// of the stub is for a thread whose tracer is killed meanwhile. So the thread is given the registers of the call first and its
// signals are blocked then, and they go back in the opposite order: whenever the tracer dies, what follows leaves the thread right.
//
// A call that the thread was stopped in is restarted by the kernel, or by the stub, for both see from the registers that it was
// interrupted. On machines where the kernel prepares that before it shows the thread (machine.hidesRestart), the thread is led to
// the entry of the call first, which gets the number that it restarts by, and past it without making it; then it is back before
// the instruction.

// calls has one stopped task make system calls.
type calls struct {
	t        *Target
	k        *task
	saved    task
	stub     arch.Addr
	blocked  uint64 // signals that the program has blocked
	begun    bool
	keep     func() // puts back what system calls change besides the registers that they say
	stepping bool   // the task is at a signal, which it keeps only if it is let go by steps
	info     [sys.SiginfoSize]byte
}

// beginCalls finds a task to make system calls, and has it ready. While the program runs one of its tasks is stopped for that, the
// others go on; end must follow.
func (t *Target) beginCalls(p *process) (*calls, error) {
	k := p.injectable()
	for i := 0; t.active && k == nil && i < len(p.order); i++ {
		if o := p.order[i]; o.state == running && t.child(o) == nil {
			t.stopThreads(stopSet{in: p.addrSpace, only: o})
			k = p.injectable()
		}
	}
	if k == nil && t.active {
		t.stopThreads(stopSet{in: p.addrSpace})
		k = p.injectable()
	}
	if k == nil {
		return nil, errors.New("no thread is free to make a system call")
	}
	stub, err := p.callStub()
	if err != nil {
		return nil, err
	}
	if err := t.examine(p); err != nil { // a filter may have come since the last time
		return nil, err
	}
	c := &calls{t: t, k: k, stub: stub, stepping: k.why == atSignal}
	if c.blocked, err = sys.SignalMask(k.tid); err != nil {
		return nil, err
	}
	if c.stepping && sys.GetSiginfo(k.tid, &c.info) != nil {
		c.info = [sys.SiginfoSize]byte{}
	}
	if p.filtered && t.kernel.setOptions(k.tid, p.options()|sys.SuspendSeccomp) != nil {
		return nil, errors.New("the program filters its system calls, and this tracer may not suspend that")
	}
	c.saved = *k
	if err := c.leaveCall(); err != nil {
		c.end()
		return nil, err
	}
	left := c.saved.left()
	_, err = p.mem.WriteAt(host.callStub(&left, c.blocked, stub), int64(stub))
	if err != nil {
		c.end()
		return nil, fmt.Errorf("the vdso: %w", err)
	}
	return c, nil
}

// leaveCall gets the task out of a system call whose restart the kernel hides.
func (c *calls) leaveCall() error {
	k := c.k
	if !k.hidesRestart() {
		return nil
	}
	c.block()
	if !c.upTo(atEntry) || k.fetch() != nil {
		return errEndedInCall
	}
	number := host.callNumber(k.tid, &k.regs)
	host.cancelCall(&k.regs)
	k.dirty = dirtyAll
	if err := k.flush(); err != nil {
		return err
	}
	if !c.upTo(atReturn) {
		return errEndedInCall
	}
	host.renumber(&c.saved.regs, number)
	return nil
}

// hidesRestart reports whether a stopped task may have been interrupted in a system call without its registers telling.
func (k *task) hidesRestart() bool {
	code := make([]byte, len(host.syscallCode()))
	if k.fetch() != nil {
		return false
	}
	_, err := k.proc.mem.ReadAt(code, int64(k.pc())) // under a breakpoint of ours the call was not made
	return err == nil && host.hidesRestart(code)
}

// block keeps signals from the task until end.
func (c *calls) block() {
	if !c.begun {
		if keeper, ok := host.(callKeeper); ok {
			c.keep = keeper.keep(c.k.tid)
		}
		sys.SetSignalMask(c.k.tid, ^uint64(faultSignals))
		c.begun = true
	}
}

// injectable finds a task that a system call can be made on, rather one that has stopped for nothing.
func (p *process) injectable() *task {
	var second *task
	for _, k := range p.order {
		if k.state != stopped || k.why == atGroupStop || k.why == atEntry || k.why == atEvent || k.fetch() != nil {
			continue
		}
		if k.why == atSignal && k.hidesRestart() { // what the kernel does about the call depends on the signal
			continue
		}
		if !k.has(owesStop) && k.why != atSignal {
			return k
		}
		second = k
	}
	return second
}

// options are what the tasks of a process are seized with.
func (p *process) options() int {
	if p.launched {
		return options | sys.ExitKill
	}
	return options
}

// callStub finds the place of the stub: the end of the vdso, where its last page is filled up with zeros.
func (p *process) callStub() (arch.Addr, error) {
	maps, err := sys.Mappings(p.alive())
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(maps, func(m sys.Mapping) bool { return m.Path == "[vdso]" && m.Exec })
	if i < 0 {
		return 0, errors.New("the program has no vdso to make a system call from")
	}
	var rest [2 * callStubSize]byte // twice, lest the zeros be those that the last table ends with
	at := arch.Addr(maps[i].End - callStubSize)
	n, _ := p.mem.ReadAt(rest[:], int64(at-callStubSize))
	if n == len(rest) && p.isStub(rest[callStubSize:], at) {
		clear(rest[callStubSize:])
	}
	if n == len(rest) && bytes.Equal(rest[:], make([]byte, len(rest))) {
		return at, nil
	}
	if n < len(rest) || !p.behindSections(arch.Addr(maps[i].Start), at) {
		return 0, errors.New("the program's vdso has no room to make a system call from")
	}
	if p.vdsoEnd == nil {
		p.vdsoEnd = (*[callStubSize]byte)(bytes.Clone(rest[callStubSize:]))
	}
	return at, nil
}

// behindSections reports whether what lies from an address on in a vdso is the table of its sections, as on machines whose vdso
// fills its page. That is the last part of the file, and no program reads it.
func (p *process) behindSections(vdso, at arch.Addr) bool {
	var header [64]byte // of an ELF file of 64 bits
	if n, _ := p.mem.ReadAt(header[:], int64(vdso)); n < len(header) || !bytes.HasPrefix(header[:], []byte("\x7fELF\x02")) {
		return false
	}
	order := host.isa().Order
	table := arch.Addr(order.Uint64(header[40:]))
	end := vdso + table + arch.Addr(order.Uint16(header[58:]))*arch.Addr(order.Uint16(header[60:]))
	return table != 0 && vdso+table <= at && at+callStubSize <= end
}

// clearStub takes the stub out of the vdso.
func (p *process) clearStub(at arch.Addr) {
	var was [callStubSize]byte
	if p.vdsoEnd != nil {
		was = *p.vdsoEnd
	}
	p.mem.WriteAt(was[:], int64(at))
}

// isStub reports whether there is a stub that nobody needs any more: of a tracer that was killed, or in the copy of a program that
// has forked meanwhile.
func (p *process) isStub(code []byte, at arch.Addr) bool {
	const same = 23 // bytes that all stubs begin with
	if !bytes.Equal(code[:same], host.callStub(&registers{}, 0, at)[:same]) {
		return false
	}
	return !slices.ContainsFunc(p.order, func(k *task) bool {
		pc, err := host.fetchPC(k.tid)
		return err != nil || at <= pc && pc < at+callStubSize
	})
}

// make makes one system call. The kernel's errors are turned into errors.
func (c *calls) make(number uint64, args ...uint64) (uint64, error) {
	k := c.k
	if c.t.tasks[k.tid] != k || k.state != stopped {
		return 0, errEndedInCall
	}
	if errno := c.t.kernel.refuse(number, args); errno != 0 {
		return 0, refusedCall(number, errno)
	}
	// Everything but the call's registers stays: the stub leaves the rest as it finds it.
	k.regs, k.haveRegs = c.saved.regs, true
	host.setCall(&k.regs, c.stub, number, args)
	k.dirty = dirtyAll
	if err := k.flush(); err != nil {
		return 0, err
	}
	c.block()
	if !c.through() {
		return 0, errEndedInCall
	}
	if k.pc() != c.stub+arch.Addr(len(host.syscallCode())) {
		return 0, errors.New("the thread did not make the system call")
	}
	result := host.callResult(&k.regs)
	if errno := -int64(result); errno > 0 && errno < 4096 {
		return 0, refusedCall(number, int(errno))
	}
	return result, nil
}

// refusedCall is the error of a system call that the program was made to make.
func refusedCall(number uint64, errno int) error {
	why := sys.ErrorText(errno)
	if errno == deniedByPolicy {
		why += ", as the security policy of the system wants it (SELinux, for instance)"
	}
	return &callError{fmt.Sprintf("the program may not call %s for the tracer: %s", sys.CallName(number), why)}
}

// deniedByPolicy is EACCES: none of the calls that the tracer makes fails with it for another reason.
const deniedByPolicy = 13

// callError says that the kernel has refused a system call of the tracer's.
type callError struct{ text string }

func (e *callError) Error() string { return e.text }

var errEndedInCall = errors.New("the thread ended during the system call")

// through lets the task execute the instruction that makes the call. It reports false when the task is gone. A task that is let go
// by steps while its tracer dies keeps its trap flag, and the next instruction ends the program; so it is led from the entry of
// the call to its return where that is possible.
func (c *calls) through() bool {
	if c.stepping && !canStep {
		return c.throughTrap()
	}
	if c.stepping {
		return c.t.stepOnce(c.k, false)
	}
	return c.upTo(atEntry) && c.upTo(atReturn) && c.k.fetch() == nil
}

// throughTrap is through by a breakpoint instruction behind the one that makes the call, which brings the task to a signal-delivery
// stop as a step does.
func (c *calls) throughTrap() bool {
	k := c.k
	if _, err := k.proc.mem.WriteAt(host.breakpoint(), int64(c.stub)+int64(len(host.syscallCode()))); err != nil {
		return false
	}
	for {
		sys.Cont(k.tid, 0)
		k.state, k.stepping = running, true
		k.forget()
		if !c.t.awaitStop(k) {
			return false
		}
		if k.stop.event != sys.EventStop {
			return k.fetch() == nil
		}
	}
}

// upTo lets the task go on until it has stopped for a reason. It reports false when the task is gone.
func (c *calls) upTo(why stopReason) bool {
	k := c.k
	for {
		sys.ContToSyscall(k.tid, 0)
		k.state, k.stepping = running, false
		k.forget()
		if !c.t.awaitStop(k) {
			return false
		}
		if k.why == why {
			return true
		}
	}
}

// end puts the task back, into a stop from which the kernel restarts the call that it was interrupted in.
func (c *calls) end() {
	k := c.k
	defer c.clear()
	if !c.begun || c.t.tasks[k.tid] != k || k.state != stopped {
		return
	}
	// The mask goes back first: should the tracer die in between, the stub sets it once more and then the registers.
	sys.SetSignalMask(k.tid, c.blocked)
	k.regs, k.haveRegs, k.dirty = c.saved.regs, true, dirtyAll
	if !c.stepping {
		k.regs = k.left()
		k.flush()
		if !c.settle() {
			return
		}
		if k.fetch() == nil {
			host.correct(&c.saved.regs, &k.regs)
		}
		k.regs, k.haveRegs, k.dirty = c.saved.regs, true, dirtyAll
	} else if c.info != ([sys.SiginfoSize]byte{}) {
		// The stop after a step is a signal-delivery stop again, where the signal can still be passed on.
		sys.SetSiginfo(k.tid, &c.info)
	}
	k.stepping = c.saved.stepping
	k.owes, k.stop, k.signal, k.triggersKnown = c.saved.owes, c.saved.stop, c.saved.signal, c.saved.triggersKnown
	if k.why != atGroupStop {
		k.why = c.saved.why
	}
}

// left are the registers that a stopped task goes on with right if its tracer is killed.
func (k *task) left() registers {
	regs := k.regs
	host.setPC(&regs, k.haven())
	return regs
}

// settle has the task, which is at the return from a call, stop before it gets to the program: there alone the kernel looks
// whether a call is to be restarted. It reports false when the task is gone.
func (c *calls) settle() bool {
	k := c.k
	sys.Interrupt(k.tid)
	sys.Cont(k.tid, 0)
	k.state = running
	k.forget()
	return c.t.awaitStop(k)
}

// clear takes the stub away and has the program's filter of system calls in force again.
func (c *calls) clear() {
	p := c.k.proc
	p.clearStub(c.stub)
	if c.keep != nil && c.begun && c.t.tasks[c.k.tid] == c.k {
		c.keep()
	}
	if p.filtered && c.t.tasks[c.k.tid] == c.k {
		sys.SetOptions(c.k.tid, p.options())
	}
}
