//go:build linux

package linux

import (
	"time"

	"tracewell/arch"
	"tracewell/internal/fast"
	"tracewell/internal/sys"
	"tracewell/target"
)

// Threads that stop in pads. Nobody above this file ever sees one there: a stop that only a pad brought about is absorbed, the
// thread going on at once; at any other the thread is taken out of the pad first, back to the site or behind the hit.

// padMemory is the memory of a program as pads' tables need it.
type padMemory struct{ s *addrSpace }

// ReadMemory implements fast.Memory.
func (m padMemory) ReadMemory(addr arch.Addr, p []byte) int {
	n, _ := m.s.read(addr, p)
	return n
}

// WriteMemory implements fast.Memory. It is the stack that is written to.
func (m padMemory) WriteMemory(addr arch.Addr, p []byte) int {
	n, _ := m.s.mem.WriteAt(p, int64(addr))
	return n
}

// absorb deals with a stop that is none of the program's: an access of a pad to memory that is not there, a thread that came to
// an instruction under a jump, and the system call by which a thread waits for room. It reports false for any other. The thread
// goes on as it was resumed, and is told again to stop if it was to: any stop uses that request up.
func (t *Target) absorb(k *task, s ptraceStop) bool {
	if k.absorbEntry(s) {
		return true
	}
	if !t.mendStop(k, s) {
		return false
	}
	k.flush()
	k.rerun()
	return true
}

// mendStop gives a task the registers that it goes on with from a stop that absorb is about. It reports false for any other.
func (t *Target) mendStop(k *task, s ptraceStop) bool {
	pads, signal := k.proc.pads, s.signal
	if pads == nil || s.event != 0 {
		return false
	}
	pc, err := host.fetchPC(k.tid)
	if err != nil {
		return false
	}
	site := pads.at(pc)
	switch {
	case signal == sys.SyscallTrap:
		if site == nil {
			return false
		}
	case site != nil && (signal == sys.SIGSEGV || signal == sys.SIGBUS):
		k.forget()
		if k.fetch() != nil || !host.faultInPad(site.pad, &k.regs, padMemory{k.proc.addrSpace}, site.arena.reader) {
			return false
		}
		k.dirty = dirtyAll
		t.mendAction(k, site.arena, signal)
	case signal == sys.SIGTRAP && t.atLid(k, pc):
	case !t.strayed(k, pc, signal):
		return false
	}
	return true
}

// amidPads reports whether a task is in a pad, or under a jump to one.
func (k *task) amidPads() bool {
	if k.proc.pads == nil {
		return false
	}
	pc, err := host.fetchPC(k.tid)
	if err != nil {
		return false
	}
	site, _ := k.under(pc)
	return site != nil || k.proc.pads.at(pc) != nil
}

// strayed moves a thread that has the signal of a guard on to the copy of the instruction that was there.
func (t *Target) strayed(k *task, pc arch.Addr, signal int) bool {
	at := pc
	if signal == sys.SIGTRAP {
		at -= trapShift()
	}
	site, to := k.under(at)
	if site == nil {
		return false
	}
	for _, g := range site.plan.Guards {
		if g.PC == at && int(g.Signal) == signal && g.Reported() == pc {
			k.forget()
			if k.fetch() != nil {
				return false
			}
			k.setPC(to)
			t.noteStray(k, site)
			return true
		}
	}
	return false
}

// under returns the site under whose jump an instruction of the program is, and where a thread that comes there goes on: in the
// copy of the instruction, or in the pad that collects for it first, if its hits count.
func (k *task) under(pc arch.Addr) (site *padSite, to arch.Addr) {
	s := k.proc.addrSpace
	if s.pads == nil {
		return nil, 0
	}
	patches := s.code.Within(pc, pc+1)
	if len(patches) == 0 || patches[0].Addr() == pc {
		return nil, 0
	}
	bp := s.inserted[patches[0].Addr()]
	if bp == nil || bp.pad == nil || !s.pads.lidded && !s.code.Intact(bp.patch) { // that of a library that was unloaded
		return nil, 0
	}
	row := s.pads.row(bp.pad.plan)
	if len(row) == 0 { // of a breakpoint
		row = []*padSite{bp.pad}
	}
	if site, to, ok := k.through(row, pc); ok {
		return site, to
	}
	return nil, 0
}

// through returns the site of a row, not empty, that an instruction under its jump belongs to, and where a task goes on from there.
func (k *task) through(row []*padSite, pc arch.Addr) (site *padSite, to arch.Addr, ok bool) {
	for _, s := range row {
		if s.addr <= pc {
			site = s
		}
	}
	copied := site
	switch {
	case !k.counts() && row[0].bare != nil:
		copied = row[0].bare
	case site.addr == pc:
		return site, site.pad.Addr, true
	}
	offset, ok := copied.copy.Offset(pc)
	return site, copied.displaced() + arch.Addr(offset), ok
}

// tooManyStrays is how many threads a second may come to the middle of a patch.
const tooManyStrays = 1000

// noteStray counts a stray, each of which costs as much as a trap.
func (t *Target) noteStray(k *task, site *padSite) {
	site = k.proc.pads.leading(site)
	if now := time.Now(); now.Sub(site.strays.since) > time.Second {
		site.strays = strayCount{since: now}
	}
	if site.strays.n++; site.strays.n == tooManyStrays {
		t.unfit = append(t.unfit, unfitSite{k.proc, site.addr})
	}
}

// leavePad takes a stopped task out of a pad.
func (t *Target) leavePad(k *task) {
	pads := k.proc.pads
	if pads == nil {
		return
	}
	pc, err := host.fetchPC(k.tid)
	if err != nil {
		return
	}
	if k.behindOwnTrap(pc) { // which may lie right before the way to a pad
		return
	}
	if way := pads.ways[pc]; way != nil && k.fetch() == nil {
		k.setPC(way.addr)
		k.lodged = true
		return
	}
	site := pads.at(pc)
	if site == nil || k.fetch() != nil {
		return
	}
	memory := padMemory{k.proc.addrSpace}
	out := host.leavePad(site.pad, &k.regs, memory)
	// What it has done under the lock cannot be undone, so it goes on until it has given that back.
	for out.Exit == fast.Busy && t.stepBusy(k, site) {
		out = host.leavePad(site.pad, &k.regs, memory)
	}
	k.lodged = true
	if out.Void {
		site.arena.reader.Void(site.pad.Slots, out.Position)
	}
	switch out.Exit {
	case fast.Again, fast.Done:
		k.dirty = dirtyAll
	case fast.Trapped: // as a task that has run into a breakpoint instruction, which is behind it (trapped)
		k.dirty = dirtyAll
		if k.stop.signal == sys.SIGTRAP && k.stop.event == 0 {
			k.setPC(site.addr + trapShift())
		}
	case fast.Past: // as a task that has a breakpoint's hit behind it, which goes on in the copy (pass)
		k.dirty = dirtyAll
		k.setPC(site.addr)
		k.passed = site.addr
	case fast.Among:
		k.leaveCopy(site)
	case fast.Lost: // it stays in the pad
		pads.stuck = true
	}
}

// behindOwnTrap reports whether a stopped task has just run into an inserted breakpoint that ends at its pc.
func (k *task) behindOwnTrap(pc arch.Addr) bool {
	s := k.stop
	return s.event == 0 && s.signal == sys.SIGTRAP && k.proc.trapAt(pc-trapShift()) != nil && k.byBreakpoint()
}

// leaveCopy gives a task that has stopped among displaced instructions the pc that it has in the program.
func (k *task) leaveCopy(site *padSite) {
	point, ok := site.copy.Original(int(k.pc() - site.displaced()))
	if !ok { // the jump back, which Leave has dealt with
		return
	}
	host.addSP(&k.regs, point.Pushed)
	k.dirty = dirtyAll
	k.setPC(point.PC)
	if point.PC == site.addr {
		k.passed = site.addr
	}
}

// stepBusy has a task that holds the lock of the trace state variables make a step, and reports false when it is gone. The stop
// that it was in is one to which it can return.
func (t *Target) stepBusy(k *task, site *padSite) bool {
	var info [sys.SiginfoSize]byte
	hadInfo := k.why == atSignal && sys.GetSiginfo(k.tid, &info) == nil
	blocked, err := sys.SignalMask(k.tid)
	if err != nil {
		return false
	}
	defer func() {
		sys.SetSignalMask(k.tid, blocked)
		if hadInfo {
			sys.SetSiginfo(k.tid, &info)
		}
	}()
	sys.SetSignalMask(k.tid, ^uint64(faultSignals))
	k.flush()
	for {
		s, ok := t.stepRaw(k)
		if !ok {
			return false
		}
		k.haveRegs = false
		if k.fetch() != nil {
			return false
		}
		faulted := s.event == 0 && (s.signal == sys.SIGSEGV || s.signal == sys.SIGBUS)
		switch {
		case faulted && host.faultInPad(site.pad, &k.regs, padMemory{k.proc.addrSpace}, site.arena.reader):
			k.dirty = dirtyAll
			k.flush()
		case s.event != sys.EventStop:
			return true
		}
	}
}

// redirect has a task that stands under a jump go on in the pad.
func (k *task) redirect() {
	if k.proc.pads == nil {
		return
	}
	pc := k.pc()
	if !k.haveRegs {
		var err error
		if pc, err = host.fetchPC(k.tid); err != nil {
			return
		}
	}
	if site, to := k.under(pc); site != nil && k.fetch() == nil {
		k.setPC(to)
	}
}

// hitBeforeStep has a task that is to step from a site, without a hit behind it, hit it as one would that has arrived there by a
// step: a step into a pad would be no step of the program. It reports whether the task stops there. At a breakpoint of the session
// the handler of a signal comes first (hitsAgain).
func (t *Target) hitBeforeStep(k *task, signal int) (stops bool) {
	if k.proc.pads == nil || k.passed != 0 || !k.wantsStep() || k.fetch() != nil {
		return false
	}
	bp := k.proc.inserted[k.pc()]
	if bp == nil || bp.pad == nil || signal != 0 && bp.users > 0 {
		return false
	}
	k.passed = bp.addr
	if k.role != member {
		return false
	}
	if t.locationFor(k, bp) != nil && !k.again(bp.addr) {
		t.judge(k, t.hitHandler(k, bp.addr))
	}
	if stops = t.stopsAt(k, bp); stops {
		t.report(target.Event{Kind: target.Stopped, Thread: k.id(), Signal: target.SignalTrap, Reason: target.ReasonSwBreak})
	}
	return stops
}

// hitHandler calls the Handler's Hit, behind what pads have made so far, and before what sets trace state variables later.
func (t *Target) hitHandler(k *task, at arch.Addr) target.Verdict {
	if a := t.lockVariables(); a != nil {
		defer a.control.Unlock()
	}
	t.depositAll()
	k.fetch()
	return t.handler.Hit(at, t.snapshot(k))
}
