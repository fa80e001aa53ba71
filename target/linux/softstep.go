//go:build linux

package linux

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/target/linux/internal/patch"
)

// Steps where the kernel has none (canStep).
//
// A thread executes one instruction in a room of its own, which has a copy of the instruction and behind that a breakpoint
// instruction; of an instruction that cannot be copied the effect is in the registers already, and the room has the breakpoint
// alone. So nothing is changed that other threads execute, and nobody has to stand still, nor breakpoints to be lifted. An
// exclusive sequence is copied whole and is one step. What the thread stops with is shown as what the kernel says of a step on
// other machines.
//
// Temporary breakpoints at all places where the instruction may go were rejected: other threads would run into them, or have
// to stand still for each step.

// softStep is how a task was last let go to make a step.
type softStep uint8

const (
	noSoftStep  softStep = iota
	inRoom               // in its room
	overCall             // to the entry into a system call, whose return is the end of the step
	toReturn             // to that return
	intoHandler          // with a signal, to the first instruction of its handler
)

// step has a stopped task execute one instruction, with a signal as for Cont.
func (k *task) step(signal int) error {
	if canStep {
		return sys.Step(k.tid, signal)
	}
	switch {
	case k.why == atEvent || k.why == atEntry:
		k.soft = toReturn
		return sys.ContToSyscall(k.tid, 0)
	case signal != 0 && catches(k.tid, signal):
		// The kernel makes the frame of the handler first, and looks then whether the task is to stop.
		if k.fetch() == nil {
			k.soft, k.softFrom = intoHandler, k.pc()
		}
		sys.Interrupt(k.tid)
		return sys.Cont(k.tid, signal)
	}
	if err := k.fetch(); err != nil {
		return err
	}
	var code [maxInstruction]byte
	n, _ := k.proc.read(k.pc(), code[:]) // decode judges what is missing
	insn, err := host.decode(code[:n], k.pc())
	if err == nil && insn.isSyscall() {
		k.soft = overCall
		if err := k.flush(); err != nil {
			return err
		}
		return sys.ContToSyscall(k.tid, signal)
	}
	if err == nil {
		err = k.enterRoom(insn)
	}
	if err != nil {
		k.proc.warn(fmt.Errorf("thread %d cannot be stepped at %s: %w", k.tid, k.pc(), err))
	}
	if err := k.flush(); err != nil {
		return err
	}
	return sys.Cont(k.tid, signal)
}

// enterRoom sends a task into a room for one instruction.
func (k *task) enterRoom(insn instruction) error {
	room, ok := k.proc.stepRoom()
	if !ok {
		return errors.New("there is no room for a copy of the instruction")
	}
	at, code, points := k.pc(), []byte(nil), []patch.Point(nil)
	k.proc.stack.tid = k.tid
	switch s, ok := insn.(steppable); {
	case insn.CanEmulate() && insn.emulate(&k.regs, &k.proc.stack):
		k.dirty = dirtyAll
		code, points = host.breakpoint(), []patch.Point{{PC: k.pc()}}
	case ok && insn.CanRelocate():
		code, points = s.stepCode(room, at)
	default: // a breakpoint of the program's own, or memory that cannot be accessed
		code, points = insn.Code(), []patch.Point{{PC: at}}
	}
	b, err := k.proc.code.Lend(room, bufferSize, code, points...)
	if err != nil {
		return err
	}
	k.buffer, k.soft, k.room = b, inRoom, room
	k.setPC(room)
	return nil
}

// stepRoom takes room for the step of a task. It is not ok where there is none.
func (s *addrSpace) stepRoom() (room arch.Addr, ok bool) {
	if n := len(s.rooms); n > 0 {
		room = s.rooms[n-1]
		s.rooms = s.rooms[:n-1]
		return room, true
	}
	return s.code.Reserve(bufferSize, func(arch.Addr) bool { return true })
}

// prepareRoom has the program map memory for rooms if there is none for a task that may have to make a step.
func (t *Target) prepareRoom(k *task) {
	if canStep || !k.wantsStep() && k.passed == 0 {
		return
	}
	room, ok := k.proc.stepRoom()
	if !ok && k.fetch() == nil {
		var err error
		room, err = t.reserveNear(k.proc, k.pc())
		ok = err == nil
		k.proc.warn(err)
	}
	if ok {
		k.proc.rooms = append(k.proc.rooms, room)
	}
}

// leaveRoom gives back the room of a task that has stopped.
func (k *task) leaveRoom() {
	if k.room != 0 {
		k.proc.rooms = append(k.proc.rooms, k.room)
		k.room = 0
	}
}

// breaksAt reports whether a task that has stopped in a buffer stands at a breakpoint instruction with which that ends, which is
// at pc.
func breaksAt(b *patch.Buffer, pc arch.Addr) bool {
	offset := pc - b.Addr()
	at, _ := b.Original(pc)
	return !canStep && offset < arch.Addr(len(b.Code())) && bytes.HasPrefix(b.Code()[offset:], host.breakpoint()) &&
		(offset > 0 || len(b.Code()) == len(host.breakpoint()) && at != 0)
}

// finishStep shows the stop of a task as that behind a step, or behind a buffer, if it is one. soft is how the task was let go,
// and atEnd whether it has come to the end of its buffer.
func (k *task) finishStep(soft softStep, atEnd bool) {
	switch {
	case soft == overCall || soft == noSoftStep && !atEnd || k.state != stopped:
		return
	case atEnd && k.why == atSignal && k.stop.signal == sys.SIGTRAP && k.byBreakpoint():
	case atEnd && k.why == atInterrupt && soft == inRoom:
	case soft == toReturn && k.why == atReturn:
	case soft == intoHandler && k.why == atInterrupt && k.fetch() == nil && k.pc() != k.softFrom:
	default:
		return
	}
	k.stop, k.ended, k.passed = ptraceStop{signal: sys.SIGTRAP}, true, 0
}

// absorbEntry has a task that makes a system call as a step go on from the entry. It reports false for any other stop.
func (k *task) absorbEntry(s ptraceStop) bool {
	if k.soft != overCall || s.signal != sys.SyscallTrap || s.event != 0 || !sys.EntersSyscall(k.tid) {
		return false
	}
	k.soft = toReturn
	sys.ContToSyscall(k.tid, 0)
	if k.wants == toHalt || k.state == halting {
		sys.Interrupt(k.tid)
	}
	return true
}

// catches reports whether a program has a handler for a signal.
func catches(tid, signal int) bool {
	text, err := sys.StatusField(tid, "SigCgt")
	set, bad := strconv.ParseUint(text, 16, 64)
	return err == nil && bad == nil && signalSet(set).has(signal)
}
