//go:build linux

package linux

import (
	"bytes"
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/target/linux/internal/patch"
)

// trap is a breakpoint that is inserted in a program, for a breakpoint of the session, a tracepoint or both.
type trap struct {
	addr  arch.Addr
	patch *patch.Patch
	users int   // breakpoints of the session, 0 or 1 since insertions do not count
	check check // of the breakpoint
	site  *site // nil without a tracepoint

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
func (tr *trap) isSyscall() bool { return tr.insn != nil && tr.insn.isSyscall() }

// trapAt returns the breakpoint that is inserted at addr. It inserts one where there is none, or where the program has put other
// code over it: GDB does not remove its breakpoints from a library that has been unloaded, and the next one may be mapped there.
func (s *space) trapAt(addr arch.Addr) (*trap, error) {
	tr := &trap{addr: addr}
	if old := s.traps[addr]; old != nil {
		if s.code.Intact(old.patch) {
			return old, nil
		}
		tr.users, tr.check, tr.site = old.users, old.check, old.site
	}
	if err := tr.study(s); err != nil {
		return nil, err
	}
	var err error
	if tr.patch, err = s.code.Insert(addr, host.isa().Machine.Breakpoint); err != nil {
		return nil, err
	}
	s.traps[addr] = tr
	return tr, nil
}

// study reads the instruction and decides how it can be executed elsewhere.
func (tr *trap) study(s *space) error {
	var code [maxInstruction]byte
	n, err := s.read(tr.addr, code[:])
	if n == 0 {
		return fmt.Errorf("no memory at %s: %w", tr.addr, err)
	}
	tr.insn, err = host.decode(code[:n], tr.addr)
	if err != nil {
		tr.insn = nil
	}
	tr.emulate = tr.insn != nil && tr.insn.CanEmulate() && !(s.shadowStack && tr.insn.WritesShadowStack())
	tr.ambiguous = tr.insn == nil || arch.Addr(tr.insn.Len()) == trapShift()
	return nil
}

// renew replaces a trap after the program's code under it was written to.
func (tr *trap) renew(s *space) {
	next := &trap{addr: tr.addr, patch: tr.patch, users: tr.users, check: tr.check, site: tr.site}
	s.traps[tr.addr] = next
	if next.study(s) != nil {
		next.insn, next.ambiguous = nil, true
	}
}

// place inserts a breakpoint again that was lifted, unless it has been removed meanwhile. Where it fails hits are lost, which the
// user is warned of.
func (tr *trap) place(s *space) {
	if s.traps[tr.addr] != tr {
		return
	}
	if err := s.code.Replace(tr.patch); err != nil && s.readable(tr.addr) {
		s.warn(fmt.Errorf("the breakpoint at %s is lost: %w", tr.addr, err))
	}
}

// lift puts the program's own bytes back until place.
func (tr *trap) lift(s *space) error {
	err := s.code.Lift(tr.patch)
	s.warn(err)
	return err
}

// drop removes a breakpoint that nobody uses any more.
func (s *space) drop(tr *trap) error {
	if tr.users > 0 || tr.site != nil {
		return nil
	}
	delete(s.traps, tr.addr)
	return s.code.Remove(tr.patch)
}

// removeTraps leaves the memory as if there had never been a breakpoint.
func (s *space) removeTraps() {
	for _, tr := range s.traps {
		if tr.site != nil {
			s.lower(tr.site)
		}
	}
	clear(s.traps)
	s.warn(s.code.RemoveAll())
}

// stale reports whether a task stopped by a breakpoint at addr that has been removed since.
func (s *space) stale(addr arch.Addr) bool {
	now := make([]byte, len(host.isa().Machine.Breakpoint))
	_, err := s.read(addr, now)
	return err == nil && !bytes.Equal(now, host.isa().Machine.Breakpoint)
}

// InsertBreakpoint implements target.Breakpoints.
func (t *Target) InsertBreakpoint(id target.ThreadID, b target.Breakpoint) error {
	return t.onProcess(id.PID, func(p *process) error {
		if b.Kind != target.Software {
			return t.whileHeld(p, func() error { return p.debug.watch(b) })
		}
		tr, err := p.trapAt(b.Addr)
		if err != nil {
			return err
		}
		if b.Check != nil {
			if err := t.passCheaply(p, tr); err != nil {
				return errors.Join(err, p.drop(tr))
			}
		}
		tr.users, tr.check = 1, b.Check
		return nil
	})
}

// RemoveBreakpoint implements target.Breakpoints. A breakpoint whose memory is gone is an error, but removed all the same.
func (t *Target) RemoveBreakpoint(id target.ThreadID, b target.Breakpoint) error {
	return t.onProcess(id.PID, func(p *process) error {
		if b.Kind != target.Software {
			return t.whileHeld(p, func() error { p.debug.unwatch(b); return nil })
		}
		tr := p.traps[b.Addr]
		if tr == nil {
			return nil
		}
		tr.users, tr.check = 0, nil
		_, err := p.read(b.Addr, make([]byte, 1))
		return errors.Join(err, p.drop(tr))
	})
}

// SetHandler implements target.Tracer.
func (t *Target) SetHandler(h target.Handler) { t.do(func() { t.handler = h }) }

// Collector implements target.Tracer. Every tracepoint is a trap.
func (t *Target) Collector() target.Collector { return nil }

// A site is an address with tracepoints, as it was installed.
type site struct {
	Addr       arch.Addr
	Semaphores []arch.Addr
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
	t.do(func() {
		if p := t.traced(pid); p != nil {
			err = t.install(p, &site{at, semaphores})
		}
	})
	return err
}

// install inserts the breakpoint of a site into the memory of a process, where it may be already on behalf of another one.
func (t *Target) install(p *process, site *site) error {
	tr, err := p.trapAt(site.Addr)
	if err != nil {
		return err
	}
	if tr.site != nil && t.sharer(p) != nil {
		p.traced = true
		return nil
	}
	if err = t.passCheaply(p, tr); err == nil {
		err = p.raise(site)
	}
	if err != nil {
		return errors.Join(err, p.drop(tr))
	}
	p.traced, tr.site = true, site
	return nil
}

// passCheaply has threads continue from a breakpoint without a step in place, if the instruction allows that.
func (t *Target) passCheaply(p *process, tr *trap) error {
	if err := p.examine(); err != nil {
		return err
	}
	if !tr.emulate && tr.buffer == nil {
		t.giveBuffer(p, tr)
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
		if tr := p.traps[at]; tr != nil && tr.site != nil {
			err = p.removeSite(tr)
		}
		t.settleTraced(p.space)
	})
	return err
}

// removeSite removes a tracepoint, and its breakpoint unless the session has one there.
func (p *process) removeSite(tr *trap) error {
	p.lower(tr.site)
	tr.site = nil
	return p.drop(tr)
}

// settleTraced notes that the last tracepoint has been removed from an address space.
func (t *Target) settleTraced(s *space) {
	for _, tr := range s.traps {
		if tr.site != nil {
			return
		}
	}
	for _, p := range t.procs {
		if p.space == s {
			p.traced = false
		}
	}
}

// removeSites ends all tracing at once, at a hit that ended the run.
func (t *Target) removeSites() {
	for _, p := range t.procs {
		if !p.traced {
			continue
		}
		p.traced = false
		for _, tr := range p.traps {
			if tr.site != nil {
				p.warn(p.removeSite(tr))
			}
		}
		for _, k := range p.order {
			k.owes &^= owesStep
		}
	}
}

// moveSites gives the tracepoints of a process that is being let go to its child, which has a copy of its memory.
func (t *Target) moveSites(from, to *process) {
	from.traced = false
	for _, tr := range from.traps {
		if tr.site != nil && t.install(to, tr.site) == nil {
			from.warn(from.removeSite(tr))
		}
	}
}
