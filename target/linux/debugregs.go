//go:build linux

package linux

import (
	"errors"
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/target"
)

// debugRegisters is what the debug registers of every task of a process are to hold. The tasks get them when they are next resumed:
// generation tells which have.
type debugRegisters struct {
	watched    []target.Breakpoint
	slots      [numDebugRegisters]debugSlot
	generation int
}

// debugSlot is one register: an aligned piece of what is watched.
type debugSlot struct {
	kind   target.BreakKind
	addr   arch.Addr
	length int
	users  int // how many of watched it is a piece of, 0 for a free slot
}

// covers reports whether the slot is a piece of b.
func (s *debugSlot) covers(b *target.Breakpoint) bool {
	return s.kind == b.Kind && b.Addr <= s.addr && s.addr < b.Addr+arch.Addr(max(b.Length, 1))
}

// errNoDebugRegister says that all are taken.
var errNoDebugRegister = fmt.Errorf("no debug register is free: the processor has %d", numDebugRegisters)

// errInVain says that a program would run past whatever is watched.
var errInVain = errors.New("the debug registers of this machine stop no program, as under some hypervisors")

// inUse reports whether anything is watched.
func (d *debugRegisters) inUse() bool {
	for i := range d.slots {
		if d.slots[i].users > 0 {
			return true
		}
	}
	return false
}

// pieces cuts a range into naturally aligned ones of 1, 2, 4 or 8 bytes.
func pieces(kind target.BreakKind, addr arch.Addr, length int) []debugSlot {
	if kind == target.Hardware {
		return []debugSlot{{kind: kind, addr: addr, length: 1}}
	}
	var cut []debugSlot
	for length > 0 && len(cut) <= numDebugRegisters {
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

// load writes the registers of a stopped task that does not have them yet.
func (d *debugRegisters) load(k *task) error {
	if k.debugGeneration == d.generation || k.role != member {
		return nil
	}
	k.debugGeneration = d.generation
	return host.loadDebug(k.tid, &d.slots)
}

// noteTriggers keeps the slots that k has stopped by, and has the processor forget them. By the time that the stop is acted on
// the session may have removed what was watched there, or inserted it into other slots.
func (k *task) noteTriggers() {
	k.triggers, k.triggersKnown = k.triggers[:0], true
	d := &k.proc.debug
	if !d.inUse() {
		return
	}
	status, err := host.debugTriggers(k.tid, &d.slots)
	if err != nil {
		return
	}
	for i, s := range d.slots {
		if status&(1<<i) != 0 && s.users > 0 {
			k.triggers = append(k.triggers, s)
		}
	}
	if len(k.triggers) > 0 {
		host.clearTriggers(k.tid)
	}
}

// stops asks the checks of what a slot is a piece of.
func (d *debugRegisters) stops(s *debugSlot, snap target.Snapshot) bool {
	for i := range d.watched {
		if b := &d.watched[i]; s.covers(b) && check(b.Check).stops(snap) {
			return true
		}
	}
	return false
}

// debugReasons is how each kind is told to the session.
var debugReasons = map[target.BreakKind]target.Reason{
	target.Hardware:    target.ReasonHwBreak,
	target.WriteWatch:  target.ReasonWatch,
	target.AccessWatch: target.ReasonAccessWatch,
}

// watched deals with a SIGTRAP that a debug register may have raised, and reports whether it did and nothing else is left to
// do. A hit that no check wants is as if it had not been; but where data is watched, the step that led to it is finished.
func (t *Target) watched(k *task) bool {
	if !k.triggersKnown {
		k.noteTriggers()
	}
	if len(k.triggers) == 0 {
		return false
	}
	finished := k.stepping
	if k.fetch() == nil && host.triggersAgain(k.triggers[0].kind) {
		k.watchedAt, k.unwatched = k.pc(), slices.Clone(k.triggers)
		finished = false
	}
	for i := range k.triggers {
		s := &k.triggers[i]
		if s.kind == target.Hardware {
			finished = false
		}
		if !k.proc.debug.stops(s, t.snapshot(k)) {
			continue
		}
		if s.kind == target.Hardware {
			t.hitBeside(k)
		}
		t.report(target.Event{Kind: target.Stopped, Thread: k.id(), Signal: target.SignalTrap,
			Reason: debugReasons[s.kind], Addr: s.addr})
		return true
	}
	if !finished {
		t.proceed(k, 0)
	}
	return !finished
}

// stepUnwatched has a task execute the instruction at which it has stopped by debug registers, where it would stop by them again.
// They are its own, so that others are watched meanwhile. It returns sent if nothing of that is watched any more.
func (t *Target) stepUnwatched(k *task) passage {
	k.watchedAt = 0
	slots, still := k.proc.debug.slots, false
	for i := range slots {
		if s := &slots[i]; slices.ContainsFunc(k.unwatched, func(u debugSlot) bool {
			return u.kind == s.kind && u.addr == s.addr && u.length == s.length
		}) && s.users > 0 {
			s.users, still = 0, true
		}
	}
	if !still {
		return sent
	}
	if host.loadDebug(k.tid, &slots) != nil || k.flush() != nil {
		return lost
	}
	k.debugGeneration = 0
	blocked, _ := sys.SignalMask(k.tid)
	sys.SetSignalMask(k.tid, ^uint64(faultSignals))
	if !t.stepOnce(k, false) {
		return lost
	}
	sys.SetSignalMask(k.tid, blocked)
	if cause, err := k.cause(); err == nil && k.stop.signal == sys.SIGTRAP && cause == trapTrace {
		return done
	}
	t.queueStop(k)
	return lost
}

// hitBeside deals with the tracepoint at the place of a hardware breakpoint that a task stops at: it will not run into its
// breakpoint.
func (t *Target) hitBeside(k *task) {
	first := k.passed != k.pc()
	k.passed = k.pc()
	if bp := k.proc.inserted[k.pc()]; bp != nil && t.locationFor(k, bp) != nil && first {
		t.judge(k, t.hitHandler(k, bp.addr))
	}
}

// find returns the index among watched of the one at the place of b, -1 if there is none.
func (d *debugRegisters) find(b target.Breakpoint) int {
	return slices.IndexFunc(d.watched, func(w target.Breakpoint) bool {
		return w.Kind == b.Kind && w.Addr == b.Addr && w.Length == b.Length
	})
}

// watch inserts a hardware breakpoint or watchpoint.
func (d *debugRegisters) watch(b target.Breakpoint) error {
	if !host.watches(b.Kind) {
		return target.ErrUnsupported
	}
	if host.watchesInVain() {
		return errInVain
	}
	if b.Addr >= userEnd {
		return fmt.Errorf("cannot watch %s: it is not the program's", b.Addr)
	}
	if i := d.find(b); i >= 0 {
		d.watched[i] = b
		return nil
	}
	if err := d.insert(pieces(b.Kind, b.Addr, b.Length)); err != nil {
		return err
	}
	d.watched = append(d.watched, b)
	return nil
}

// unwatch removes it.
func (d *debugRegisters) unwatch(b target.Breakpoint) {
	if i := d.find(b); i >= 0 {
		d.watched = slices.Delete(d.watched, i, i+1)
		d.remove(pieces(b.Kind, b.Addr, b.Length))
	}
}
