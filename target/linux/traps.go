//go:build linux && amd64

package linux

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/target"
	"tracewell/tracepoint"
)

// trap is an int3 over an instruction of the program.
type trap struct {
	addr     arch.Addr
	original byte
	users    int              // breakpoints of the session, 0 or 1 since insertions do not count
	check    check            // of the breakpoint
	site     *tracepoint.Site // nil without a tracepoint

	// How the displaced instruction happens.
	insn      *amd64.Instruction // nil if it cannot be decoded: it is stepped in place
	emulate   bool
	slot      arch.Addr // 0 without
	resume    int       // offset in the slot behind the copy
	ambiguous bool      // a step may end just behind it, where a hit would show too
}

// check is target.Breakpoint's Check.
type check func(tracepoint.Snapshot) bool

// stops asks whether a thread is to stop.
func (c check) stops(s tracepoint.Snapshot) bool { return c == nil || c(s) }

// maxInstruction is the length of the longest instruction.
const maxInstruction = 15

// breakpointOpcode is the int3 that a trap consists of.
const breakpointOpcode = 0xcc

// isSyscall reports whether a system call is under a trap. It may take for ever, so a signal cannot wait until it has been made.
func (tr *trap) isSyscall() bool { return tr.insn != nil && tr.insn.Flow() == amd64.FlowSyscall }

// trapAt returns the trap at addr, placing a new one where there is none, or where the program has put other code over it.
func (s *space) trapAt(addr arch.Addr) (*trap, error) {
	old := s.traps[addr]
	tr := &trap{addr: addr}
	if old != nil {
		if !s.overwritten(old) {
			return old, nil
		}
		tr.users, tr.check, tr.site = old.users, old.check, old.site
		s.unset(old) // it would hide what is there now
	}
	err := tr.study(s)
	if err == nil {
		err = tr.place(s)
	}
	if err != nil {
		if old != nil {
			s.set(old)
		}
		return nil, err
	}
	s.set(tr)
	return tr, nil
}

// overwritten reports whether the program has put other code where a trap was, as the dynamic linker does that loads a library
// where one was that is gone. GDB does not remove its breakpoints from a library that it has seen go.
func (s *space) overwritten(tr *trap) bool {
	var b [1]byte
	_, err := s.mem.ReadAt(b[:], int64(tr.addr))
	return err != nil || b[0] != breakpointOpcode
}

// study reads the instruction and decides how it can happen elsewhere.
func (tr *trap) study(s *space) error {
	var code [maxInstruction]byte
	n, err := s.read(tr.addr, code[:])
	if n == 0 {
		return fmt.Errorf("no memory at %s: %w", tr.addr, err)
	}
	tr.original = code[0]
	tr.insn, err = amd64.Decode(code[:n], tr.addr)
	if err != nil {
		tr.insn = nil
	}
	tr.emulate = tr.insn != nil && tr.insn.CanEmulate() && !(s.shadowStack && tr.insn.WritesShadowStack())
	tr.ambiguous = tr.insn == nil || tr.insn.Len() == 1
	return nil
}

// renew replaces a trap after the program's code under it was written to. The old value stays for a task in its slot.
func (tr *trap) renew(s *space) {
	next := &trap{addr: tr.addr, original: tr.original, users: tr.users, check: tr.check, site: tr.site}
	s.traps[tr.addr] = next
	if next.study(s) != nil {
		next.insn, next.ambiguous = nil, true
	}
}

// place writes the int3. It works while tasks run: one byte changes at once for all.
func (tr *trap) place(s *space) error {
	delete(s.lifted, tr.addr)
	s.guard.Set(tr.addr, tr.original, breakpointOpcode)
	return s.poke(tr.addr, breakpointOpcode)
}

// lift puts the original byte back, unless the program has unmapped or rewritten its code meanwhile.
func (tr *trap) lift(s *space) error {
	var b [1]byte
	if _, err := s.mem.ReadAt(b[:], int64(tr.addr)); err != nil || b[0] != breakpointOpcode {
		return nil
	}
	s.lifted[tr.addr] = tr.original
	return s.poke(tr.addr, tr.original)
}

// cleanCopy takes the traps out of a forked child's copy of the memory. It may have been made when there were other traps than now:
// the fork is heard of later, and even later told, and until then sessions remove breakpoints.
func (s *space) cleanCopy(mem *os.File) {
	holds := func(in *os.File, addr arch.Addr) bool {
		var b [1]byte
		_, err := in.ReadAt(b[:], int64(addr))
		return err == nil && b[0] == breakpointOpcode
	}
	for addr, tr := range s.traps {
		if holds(mem, addr) {
			mem.WriteAt([]byte{tr.original}, int64(addr))
		}
	}
	for addr, original := range s.lifted {
		if holds(mem, addr) && !holds(s.mem, addr) {
			mem.WriteAt([]byte{original}, int64(addr))
		}
	}
}

func (s *space) poke(addr arch.Addr, b byte) error {
	if _, err := s.mem.WriteAt([]byte{b}, int64(addr)); err != nil {
		return fmt.Errorf("cannot write memory at %s: %w", addr, err)
	}
	return nil
}

// drop removes a trap that nobody uses any more.
func (s *space) drop(tr *trap) error {
	if tr.users > 0 || tr.site != nil {
		return nil
	}
	s.unset(tr)
	err := tr.lift(s)
	s.guard.Unset(tr.addr)
	return err
}

// set enters a trap in the table, over the one that was in its place.
func (s *space) set(tr *trap) {
	if i, found := slices.BinarySearch(s.places, tr.addr); !found {
		s.places = slices.Insert(s.places, i, tr.addr)
	}
	s.traps[tr.addr] = tr
}

// unset takes a trap out of the table.
func (s *space) unset(tr *trap) {
	if i, found := slices.BinarySearch(s.places, tr.addr); found {
		s.places = slices.Delete(s.places, i, i+1)
	}
	delete(s.traps, tr.addr)
}

func (s *space) clearTraps() {
	s.places = nil
	clear(s.traps)
}

// between returns the places of the traps from low up to but not including high. What a hit collects lies often between the
// traps of the program and those of a library, so it does not go through them all.
func (s *space) between(low, high arch.Addr) []arch.Addr {
	first, _ := slices.BinarySearch(s.places, low)
	behind := first
	for behind < len(s.places) && s.places[behind] < high {
		behind++
	}
	return s.places[first:behind]
}

// stale reports whether a task stopped behind addr by an int3 that is there no more.
func (s *space) stale(addr arch.Addr) bool {
	var b [1]byte
	n, _ := s.read(addr, b[:])
	return n == 1 && b[0] != breakpointOpcode
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

// SetEngine implements target.Tracer.
func (t *Target) SetEngine(e *tracepoint.Engine) { t.do(func() { t.engine = e }) }

// Installer implements target.Tracer.
func (t *Target) Installer(pid int) tracepoint.Installer { return installer{t, pid} }

// installer puts sites into the process that it was made for, or the child that took them over when that was let go.
type installer struct {
	t   *Target
	pid int
}

// process is the one that the installer is for, nil if there is none.
func (i installer) process() *process {
	if p := i.t.process(i.pid); p != nil {
		return p
	}
	return i.t.tracedProcess()
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

// Install implements tracepoint.Installer.
func (i installer) Install(site *tracepoint.Site) error {
	err := target.ErrNoProcess
	i.t.do(func() {
		if p := i.process(); p != nil {
			err = i.t.install(p, site)
		}
	})
	return err
}

// install puts a site into the memory of a process, where it may be already on behalf of another one.
func (t *Target) install(p *process, site *tracepoint.Site) error {
	tr, err := p.trapAt(site.Addr)
	if err != nil {
		return err
	}
	if tr.site == site && t.sharer(p) != nil {
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

// passCheaply sees to it that threads can go on from a trap without a step, if that is possible at all.
func (t *Target) passCheaply(p *process, tr *trap) error {
	if err := p.examine(); err != nil {
		return err
	}
	if !tr.emulate && tr.slot == 0 {
		t.giveSlot(p, tr)
	}
	return nil
}

// Uninstall implements tracepoint.Installer.
func (i installer) Uninstall(site *tracepoint.Site) error {
	var err error
	i.t.do(func() {
		p := i.process()
		if p == nil {
			return
		}
		if tr := p.traps[site.Addr]; tr != nil && tr.site == site {
			err = p.removeSite(tr)
		}
		i.t.settleTraced(p.space)
	})
	return err
}

// removeSite takes a tracepoint's part out of a trap.
func (p *process) removeSite(tr *trap) error {
	p.lower(tr.site)
	tr.site = nil
	return p.drop(tr)
}

// settleTraced takes note of it when the last tracepoint has been taken out of a space.
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
				p.removeSite(tr)
			}
		}
		for _, k := range p.order {
			k.collecting = false
		}
	}
}

// moveSites gives the tracepoints of a process that is being let go to its child, which has a copy of its memory.
func (t *Target) moveSites(from, to *process) {
	from.traced = false
	for _, tr := range from.traps {
		if tr.site != nil && t.install(to, tr.site) == nil {
			from.removeSite(tr)
		}
	}
}
