//go:build linux

package linux

import (
	"fmt"
	"time"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/target"
)

// unfitSite is a site that is to be demoted.
type unfitSite struct {
	p  *process
	at arch.Addr
}

// depositAll deposits the frames of all hits until now, and prints what they have printed. A slot that a thread has
// reserved and not finished is waited for: the thread finishes it, or has stopped and is taken out of the pad.
func (t *Target) depositAll() {
	c := t.collector
	if c == nil {
		return
	}
	t.printAll()
	for _, p := range t.procs {
		if p.pads != nil && p.pads.arena != nil && t.sharerBefore(p) == nil {
			a := p.pads.arena
			t.drainUntil(a, func() int {
				c.mu.Lock()
				defer c.mu.Unlock()
				return c.drain(a)
			})
		}
	}
}

// sharerBefore is a process in the memory of p that comes before it in the list, nil for none.
func (t *Target) sharerBefore(p *process) *process {
	for _, other := range t.procs {
		if other == p {
			return nil
		}
		if other.addrSpace == p.addrSpace {
			return other
		}
	}
	return nil
}

// depositPatience is how long one slot may be waited for: its thread may be waiting for a page, or for a processor.
const depositPatience = time.Second

// drainUntil drains what is in a ring by now.
func (t *Target) drainUntil(a *arena, drain func() int) {
	left := a.reader.Outstanding()
	for end := time.Now().Add(depositPatience); left > 0; {
		n := drain()
		left -= min(uint64(n), left)
		if n > 0 || left == 0 {
			continue
		}
		switch {
		case a.control.Abandoned(): // nobody fills the holes
			return
		case t.noteWaiting():
		case time.Now().After(end):
			return
		default: // the tracer's own clock, for nobody tells it that the slot is whole
			left = min(left, a.reader.Outstanding())
			sys.Nap(shortestSleep)
		}
	}
}

// settleRun takes all tracepoints out of the programs if a deposit has ended the run, and reports whether one had. Pads have done
// nothing since, and the Handler drops what others hit.
func (t *Target) settleRun() bool {
	if t.collector == nil || !t.collector.halt.CompareAndSwap(true, false) {
		return false
	}
	t.removeLocations()
	return true
}

// send sends an event, behind the frames of all hits until then.
func (t *Target) send(e target.Event) {
	t.depositAll()
	t.events.add(e)
}

// rerun has a task whose stop was absorbed go on as it was resumed.
func (k *task) rerun() {
	switch {
	case k.stepping:
		k.step(0)
	case k.proc.seesCalls():
		sys.ContToSyscall(k.tid, 0)
	default:
		sys.Cont(k.tid, 0)
	}
	if k.wants == toHalt || k.state == halting {
		sys.Interrupt(k.tid)
	}
	k.haveRegs, k.haveState = false, 0
}

// endPads drains the arena of an address space for the last time: its last process has gone, or is about to be let go.
func (t *Target) endPads(s *addrSpace) {
	if s.pads == nil {
		return
	}
	if a := s.pads.arena; a != nil {
		if lost := t.collector.remove(a); lost > 0 {
			s.note(fmt.Errorf("frames are lost that threads had begun when they ended: at least %d", lost))
		}
	}
	s.pads.printer.end()
	for _, a := range s.pads.arenas() {
		s.warn(a.close())
	}
	s.pads = nil
}

// demoteUnfit has sites be traps whose patches too many threads run into the middle of. It reports whether there was one.
func (t *Target) demoteUnfit() bool {
	if len(t.unfit) == 0 {
		return false
	}
	u := t.unfit[0]
	t.unfit = t.unfit[1:]
	if t.process(u.p.pid) == u.p && u.p.pads != nil {
		u.p.warn(t.demote(u.p, u.at, 1))
	}
	return true
}

// endSites takes the sites of a stopped process out of it that is about to be let go, once their frames have been deposited.
func (t *Target) endSites(p *process) {
	if p.pads == nil {
		return
	}
	t.depositAll()
	t.removeSites(p)
	t.forgetJudged(p)
	t.relodge(p.addrSpace)
	p.pads.printer.end()
	p.pads.printer = nil
	if p.pads.arena != nil {
		t.collector.remove(p.pads.arena)
	}
}
