//go:build amd64

package linux

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/internal/linux"
	"tracewell/target"
)

// debugRegisters is what the four debug registers of every task of a process are to hold (Intel SDM volume 3, chapter 18). The
// tasks get them when they are next resumed: generation tells which have.
type debugRegisters struct {
	slots      [4]debugSlot
	generation int
}

// debugSlot is one register: an aligned piece of what is watched.
type debugSlot struct {
	kind   target.BreakKind
	addr   arch.Addr
	length int
	users  int // insertions, 0 for a free slot
}

// errNoDebugRegister says that all are taken.
var errNoDebugRegister = errors.New("no debug register is free: the processor has four")

// inUse reports whether anything is watched.
func (d *debugRegisters) inUse() bool { return d.control() != 0 }

// pieces cuts a range into naturally aligned ones of 1, 2, 4 or 8 bytes.
func pieces(kind target.BreakKind, addr arch.Addr, length int) []debugSlot {
	if kind == target.Hardware {
		return []debugSlot{{kind: kind, addr: addr, length: 1}}
	}
	var cut []debugSlot
	for length > 0 && len(cut) <= 4 {
		size := 8
		for size > length || int(addr)%size != 0 {
			size /= 2
		}
		cut = append(cut, debugSlot{kind: kind, addr: addr, length: size})
		addr, length = addr+arch.Addr(size), length-size
	}
	return cut
}

// insert takes slots for a range, all or none.
func (d *debugRegisters) insert(wanted []debugSlot) error {
	next := d.slots
	for _, w := range wanted {
		free := -1
		for i := range next {
			s := &next[i]
			if s.users > 0 && s.kind == w.kind && s.addr == w.addr && s.length == w.length {
				free = i
				break
			}
			if s.users == 0 && free < 0 {
				free = i
			}
		}
		if free < 0 {
			return errNoDebugRegister
		}
		w.users = next[free].users + 1
		next[free] = w
	}
	d.slots = next
	d.generation++
	return nil
}

// remove undoes insert.
func (d *debugRegisters) remove(wanted []debugSlot) {
	for _, w := range wanted {
		for i := range d.slots {
			s := &d.slots[i]
			if s.users > 0 && s.kind == w.kind && s.addr == w.addr && s.length == w.length {
				s.users--
				break
			}
		}
	}
	d.generation++
}

// userEnd is where the addresses of programs end.
const userEnd arch.Addr = 1 << 47

// Bits of DR7 for each kind and length; the rest of a slot's four bits begin at bit 16.
var (
	debugKinds   = map[target.BreakKind]uint64{target.Hardware: 0, target.WriteWatch: 1, target.AccessWatch: 3}
	debugLengths = map[int]uint64{1: 0, 2: 1, 4: 3, 8: 2}
)

// control is the value of DR7, 0 when nothing is watched.
func (d *debugRegisters) control() (dr7 uint64) {
	for i, s := range d.slots {
		if s.users > 0 {
			dr7 |= 1<<(2*i) | (debugKinds[s.kind]|debugLengths[s.length]<<2)<<(16+4*i)
		}
	}
	return dr7
}

// load writes the registers of a stopped task that does not have them yet.
func (d *debugRegisters) load(k *task) error {
	const dr7 = 7
	if k.debugGeneration == d.generation || k.guest {
		return nil
	}
	if err := linux.SetDebugReg(k.tid, dr7, 0); err != nil {
		return err
	}
	for i, s := range d.slots {
		if s.users == 0 {
			continue
		}
		if err := linux.SetDebugReg(k.tid, i, uint64(s.addr)); err != nil {
			return err
		}
	}
	k.debugGeneration = d.generation
	if control := d.control(); control != 0 {
		return linux.SetDebugReg(k.tid, dr7, control)
	}
	return nil
}

// triggered finds the slot that a task has stopped by, and forgets that it did.
func (d *debugRegisters) triggered(k *task) (debugSlot, bool) {
	const dr6 = 6
	if !d.inUse() {
		return debugSlot{}, false
	}
	status, err := linux.DebugReg(k.tid, dr6)
	if err != nil {
		return debugSlot{}, false
	}
	for i, s := range d.slots {
		if status&(1<<i) != 0 && s.users > 0 {
			linux.SetDebugReg(k.tid, dr6, 0)
			return s, true
		}
	}
	return debugSlot{}, false
}

// debugReasons is how each kind is told to the session.
var debugReasons = map[target.BreakKind]target.Reason{
	target.Hardware:    target.ReasonHwBreak,
	target.WriteWatch:  target.ReasonWatch,
	target.AccessWatch: target.ReasonAccessWatch,
}

// watched deals with a SIGTRAP that a debug register may have raised, and reports whether it did.
func (t *Target) watched(k *task) bool {
	s, ok := k.proc.debug.triggered(k)
	if !ok {
		return false
	}
	if s.kind == target.Hardware {
		k.passed = k.pc()
	}
	t.report(target.Event{Kind: target.Stopped, Thread: k.id(), Signal: target.SignalTrap, Reason: debugReasons[s.kind], Addr: s.addr})
	return true
}

// changeDebug inserts or removes a hardware breakpoint or watchpoint. The processor cannot watch reads alone.
func (p *process) changeDebug(insert bool, kind target.BreakKind, addr arch.Addr, length int) error {
	if _, ok := debugKinds[kind]; !ok {
		return target.ErrUnsupported
	}
	if addr >= userEnd {
		return fmt.Errorf("cannot watch %s: it is not the program's", addr)
	}
	wanted := pieces(kind, addr, length)
	if !insert {
		p.debug.remove(wanted)
		return nil
	}
	return p.debug.insert(wanted)
}
