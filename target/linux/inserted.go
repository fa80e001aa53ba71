//go:build linux

package linux

import (
	"bytes"
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/target/linux/internal/patch"
	"tracewell/trace"
)

// insertedBreakpoint is a breakpoint instruction in a program, for a breakpoint of the session, a tracepoint or both.
type insertedBreakpoint struct {
	addr     arch.Addr
	patch    *patch.Patch // nil of a site that another one's jump displaces
	pad      *padSite     // the patch is the jump of a site, and location is the site's; nil for a breakpoint instruction
	users    int          // breakpoints of the session, 0 or 1 since insertions do not count
	check    check        // of the breakpoint
	judged   *judged      // what is known of that, nil for nothing
	location *location    // nil without a tracepoint

	// How the displaced instruction is executed.
	insn      instruction // nil if it cannot be decoded: it is stepped in place
	emulate   bool
	buffer    *patch.Buffer // for displaced stepping, nil without
	ambiguous bool          // a step may end where a thread stops that has executed the breakpoint
}

// check is target.Breakpoint's Check.
type check func(target.Snapshot) bool

// stops asks whether a thread is to stop.
func (c check) stops(s target.Snapshot) bool { return c == nil || c(s) }

// isSyscall reports whether a system call is under a breakpoint. It may take for ever, so a signal cannot wait until it has
// been made.
func (bp *insertedBreakpoint) isSyscall() bool { return bp.insn != nil && bp.insn.isSyscall() }

// breakpointAt returns the breakpoint that is inserted at addr. It inserts one where there is none, or where the program has
// put other code over it: GDB does not remove its breakpoints from a library that has been unloaded, and the next one may be
// mapped there.
func (s *addrSpace) breakpointAt(addr arch.Addr) (*insertedBreakpoint, error) {
	bp := &insertedBreakpoint{addr: addr}
	if old := s.inserted[addr]; old != nil {
		if s.code.Intact(old.patch) {
			return old, nil
		}
		bp.users, bp.check, bp.judged, bp.location = old.users, old.check, old.judged, old.location
	}
	if err := bp.study(s); err != nil {
		return nil, err
	}
	var err error
	if bp.patch, err = s.code.Insert(addr, host.breakpoint()); err != nil {
		return nil, err
	}
	s.inserted[addr] = bp
	return bp, nil
}

// trapAt returns the breakpoint instruction of ours at an address, nil if there is none.
func (s *addrSpace) trapAt(addr arch.Addr) *insertedBreakpoint {
	if bp := s.inserted[addr]; bp != nil && bp.pad == nil {
		return bp
	}
	return nil
}

// study reads the instruction and decides how it can be executed elsewhere.
func (bp *insertedBreakpoint) study(s *addrSpace) error {
	var code [maxInstruction]byte
	n, err := s.read(bp.addr, code[:])
	if n == 0 {
		return fmt.Errorf("no memory at %s: %w", bp.addr, err)
	}
	bp.insn, err = host.decode(code[:n], bp.addr)
	if err != nil {
		bp.insn = nil
	}
	bp.emulate = bp.insn != nil && bp.insn.CanEmulate() && !(s.shadowStack && bp.insn.WritesShadowStack())
	bp.ambiguous = bp.insn == nil || arch.Addr(bp.insn.Len()) == trapShift()
	return nil
}

// renew replaces an inserted breakpoint after the program's code under it was written to.
func (bp *insertedBreakpoint) renew(s *addrSpace) {
	next := &insertedBreakpoint{addr: bp.addr, patch: bp.patch, users: bp.users, check: bp.check, judged: bp.judged,
		location: bp.location}
	s.inserted[bp.addr] = next
	if next.study(s) != nil {
		next.insn, next.ambiguous = nil, true
	}
}

// place inserts a breakpoint again that was lifted, unless it has been removed meanwhile. Where it fails hits are lost, which the
// user is warned of.
func (bp *insertedBreakpoint) place(s *addrSpace) {
	if s.inserted[bp.addr] != bp {
		return
	}
	if err := s.code.Replace(bp.patch); err != nil && s.readable(bp.addr) {
		s.warn(fmt.Errorf("the breakpoint at %s is lost: %w", bp.addr, err))
	}
}

// displaced is where the copy of the instruction is for a task, 0 if there is none.
func (bp *insertedBreakpoint) displaced(k *task) arch.Addr {
	switch {
	case bp.pad != nil && !k.counts():
		return bp.pad.uncounted(k.proc.addrSpace)
	case bp.pad != nil:
		return bp.pad.displaced()
	case bp.buffer != nil:
		return bp.buffer.Addr()
	}
	return 0
}

// lift puts the program's own bytes back until place.
func (bp *insertedBreakpoint) lift(s *addrSpace) error {
	err := s.code.Lift(bp.patch)
	s.warn(err)
	return err
}

// drop removes a breakpoint that nobody uses any more.
func (s *addrSpace) drop(bp *insertedBreakpoint) error {
	if bp.users > 0 || bp.location != nil {
		return nil
	}
	delete(s.inserted, bp.addr)
	if bp.patch == nil {
		return nil
	}
	return s.code.Remove(bp.patch)
}

// removeInserted leaves the memory as if there had never been a breakpoint.
func (s *addrSpace) removeInserted() {
	for _, bp := range s.inserted {
		if bp.location != nil {
			s.lower(bp.location)
		}
	}
	clear(s.inserted)
	s.warn(s.code.RemoveAll())
}

// stale reports whether a task stopped by a breakpoint at addr that has been removed since.
func (s *addrSpace) stale(addr arch.Addr) bool {
	now := make([]byte, len(host.breakpoint()))
	_, err := s.read(addr, now)
	return err == nil && !bytes.Equal(now, host.breakpoint())
}

// InsertBreakpoint implements target.Breakpoints.
func (t *Target) InsertBreakpoint(id target.ThreadID, b target.Breakpoint) error {
	return t.onProcess(id.PID, func(p *process) error {
		if b.Kind != target.Software {
			return t.whileHeld(p, func() error { return p.debug.watch(b) })
		}
		if err := t.demote(p, b.Addr, len(host.breakpoint())); err != nil {
			return err
		}
		judged := t.judgedFor(p, b)
		if judged != nil && t.leadAgain(p, judged, b.Check) {
			return nil
		}
		bp, err := p.breakpointAt(b.Addr)
		if err != nil {
			return err
		}
		if b.Check != nil {
			if err := t.passCheaply(p, bp); err != nil {
				return errors.Join(err, p.drop(bp))
			}
		}
		bp.users, bp.check, bp.judged = 1, b.Check, judged
		p.publish()
		return nil
	})
}

// RemoveBreakpoint implements target.Breakpoints. A breakpoint whose memory is gone is an error, but removed all the same.
func (t *Target) RemoveBreakpoint(id target.ThreadID, b target.Breakpoint) error {
	return t.onProcess(id.PID, func(p *process) error {
		if b.Kind != target.Software {
			return t.whileHeld(p, func() error { p.debug.unwatch(b); return nil })
		}
		bp := p.inserted[b.Addr]
		if bp == nil {
			return nil
		}
		_, err := p.read(b.Addr, make([]byte, 1))
		if bp.pad != nil && bp.pad.judged != nil {
			t.restJudged(p, bp.pad)
		} else {
			bp.users, bp.check, bp.judged = 0, nil, nil
			err = errors.Join(err, p.drop(bp))
		}
		return errors.Join(err, t.promote(p, b.Addr, len(host.breakpoint())))
	})
}

// SetHandler implements target.Tracer.
func (t *Target) SetHandler(h target.Handler) { t.do(func() { t.handler = h }) }

// A location is an address with tracepoints, as it was installed.
type location struct {
	Addr       arch.Addr
	Semaphores []arch.Addr
	offloaded  bool // the Collector has it
}

// traced is the process that tracepoints go into: that of pid, or the child that took them over when that was detached from; nil
// if there is none.
func (t *Target) traced(pid int) *process {
	if p := t.process(pid); p != nil {
		return p
	}
	return t.tracedProcess()
}

// tracedProcess is the first process with tracepoints, nil if there is none.
func (t *Target) tracedProcess() *process {
	for _, p := range t.procs {
		if p.traced {
			return p
		}
	}
	return nil
}

// Install implements target.Tracer.
func (t *Target) Install(pid int, at arch.Addr, semaphores []arch.Addr) error {
	err := target.ErrNoProcess
	_, _, isCall := trace.ParseCall(at)
	t.do(func() {
		switch p := t.traced(pid); {
		case p != nil && isCall:
			err = t.installCall(p, at)
		case p != nil:
			err = t.install(p, &location{Addr: at, Semaphores: semaphores})
		}
	})
	return err
}

// install inserts the breakpoint of a location into the memory of a process, where it may be already on behalf of another one.
func (t *Target) install(p *process, location *location) error {
	if err := p.interrupts(location.Addr); err != nil {
		return err
	}
	if err := t.demote(p, location.Addr, len(host.breakpoint())); err != nil {
		return err
	}
	bp, err := p.breakpointAt(location.Addr)
	if err != nil {
		return err
	}
	if bp.location != nil && t.sharer(p) != nil {
		p.traced = true
		return nil
	}
	if err = t.passCheaply(p, bp); err == nil {
		err = p.raise(location)
	}
	if err != nil {
		return errors.Join(err, p.drop(bp))
	}
	p.traced, bp.location = true, location
	p.publish()
	return nil
}

// interrupts says that a trap at an address would keep the program from going on: in a sequence that begins with an exclusive load
// no store succeeds if there was an exception since, and so the program tries again for ever.
func (s *addrSpace) interrupts(at arch.Addr) error {
	if maxSequence == 0 {
		return nil
	}
	from := at - min(at, maxSequence)
	code := make([]byte, int(at-from)+maxSequence)
	n, _ := s.read(from, code)
	if n <= int(at-from) { // what lies before may be no memory
		from = at
		n, _ = s.read(from, code[:maxSequence])
	}
	first, last, found := host.exclusive(code[:n], int(at-from), at)
	if !found {
		return nil
	}
	return fmt.Errorf("%s lies inside an exclusive sequence (%s-%s), in which a trap would never let the store succeed; "+
		"trace %s instead", at, first, last, first)
}

// passCheaply has threads continue from a breakpoint without a step in place, if the instruction allows that.
func (t *Target) passCheaply(p *process, bp *insertedBreakpoint) error {
	if err := t.examine(p); err != nil {
		return err
	}
	if !bp.emulate && bp.buffer == nil && bp.pad == nil {
		t.giveBuffer(p, bp)
	}
	return nil
}

// Uninstall implements target.Tracer.
func (t *Target) Uninstall(pid int, at arch.Addr) error {
	var err error
	t.do(func() {
		p := t.traced(pid)
		if p == nil {
			return
		}
		if bp := p.inserted[at]; bp != nil && bp.location != nil {
			err = p.removeLocation(bp)
		}
		delete(p.calls, at)
		t.settleTraced(p.addrSpace)
	})
	return err
}

// removeLocation removes a tracepoint, and its breakpoint unless the session has one there.
func (p *process) removeLocation(bp *insertedBreakpoint) error {
	p.lower(bp.location)
	bp.location = nil
	return p.drop(bp)
}

// settleTraced notes that the last tracepoint has been removed from an address space.
func (t *Target) settleTraced(s *addrSpace) {
	for _, bp := range s.inserted {
		if bp.location != nil {
			return
		}
	}
	for _, p := range t.procs {
		if p.addrSpace == s {
			p.traced = false
		}
	}
}

// removeLocations ends all tracing at once, at a hit that ended the run.
func (t *Target) removeLocations() {
	for _, p := range t.procs {
		clear(p.calls)
		if !p.traced {
			continue
		}
		p.traced = false
		for _, bp := range p.inserted {
			if bp.location != nil && bp.pad == nil {
				p.warn(p.removeLocation(bp))
			}
		}
		for _, k := range p.order {
			k.owes &^= owesStep
		}
		t.removeSites(p)
	}
}

// moveSites gives the tracepoints of a process that is being let go to its child, which has a copy of its memory.
func (t *Target) moveSites(from, to *process) {
	from.traced = false
	if from.pads != nil {
		to.warn(t.bequeath(from, to))
	}
	for _, bp := range from.inserted {
		if there := to.inserted[bp.addr]; there != nil && there.pad != nil {
			continue // the parent's goes with its other patches
		}
		if bp.location != nil && t.install(to, bp.location) == nil {
			from.warn(from.removeLocation(bp))
		}
	}
}
