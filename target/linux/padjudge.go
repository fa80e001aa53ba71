//go:build linux

package linux

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/fast"
	"tracewell/internal/fast/jump"
	"tracewell/target"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// Conditions of breakpoints, evaluated in pads. Where one holds, or fails, the thread stops in the pad and has its hit as one
// that has run into a breakpoint instruction; the Check is asked once more, so nobody relies on what the pad has found but for the
// hits that it has seen to be in vain. If there are commands that only print, as those of dprintf do, the pad carries them out,
// too: it keeps what they print (padprint.go), and the thread does not stop.
//
// A breakpoint begins as a trap, and has a pad only after many hits in vain. Memory for pads costs the program a stop and some
// system calls that it is made to make, as much as some hundred hits; most breakpoints are never hit as often. Once made, the pad
// stays when the breakpoint is removed, since GDB removes all of its breakpoints at each stop and inserts them again: then only
// the jump is written.
//
// The memory is another arena than that of tracepoints. That is switched off at the end of a trace run, where a thread must still
// stop at breakpoints. A tracepoint has precedence: a breakpoint's jump that is in its way gives way.

// defaultVain is how many hits in vain make a pad worth it: they have cost about as much as that does.
const defaultVain = 100

// judgingRing is the size of the ring of breakpoints, to which only those write that print: a hit is a few hundred bytes, and
// printing it takes longer than that of any other.
const judgingRing = 256 << 10

// judged is what is known of the Check of a breakpoint. It outlives the breakpoint, and goes when one is inserted at its address
// that decides otherwise.
type judged struct {
	agent *compiled.Breakpoint
	print func(string)
	vain  int    // hits that have stopped no thread
	worth int    // so many of them are worth a pad; 0 for the default
	code  []byte // of the program, that the pad has a copy of
}

// judgedFor is what is known of the Check of a breakpoint that is about to be inserted, nil if it may do anything. What is known of
// another one at the address is forgotten.
func (t *Target) judgedFor(p *process, b target.Breakpoint) *judged {
	old := p.judged[b.Addr]
	if old != nil && (b.Agent == nil || !old.agent.Same(b.Agent)) {
		if p.pads != nil {
			t.forgetSite(p, p.pads.judged[b.Addr])
		}
		delete(p.judged, b.Addr)
	}
	if b.Agent == nil {
		return nil
	}
	j := p.judgedBy(b.Addr, b.Agent)
	j.print = b.Print
	return j
}

// judgedBy finds what is known of a Check, which is nothing yet if it has not been there before.
func (s *addrSpace) judgedBy(addr arch.Addr, agent *compiled.Breakpoint) *judged {
	if s.judged[addr] == nil {
		s.judged[addr] = &judged{agent: agent}
	}
	return s.judged[addr]
}

// noteVain counts a hit that has stopped no thread.
func (t *Target) noteVain(k *task, bp *insertedBreakpoint) {
	if bp.judged == nil || bp.pad != nil || bp.location != nil || bp.users == 0 || t.collector == nil {
		return
	}
	j := bp.judged
	if j.worth == 0 {
		j.worth = cmp.Or(t.collector.how.Vain, defaultVain)
	}
	if j.vain++; j.vain == j.worth {
		t.worthy = append(t.worthy, unfitSite{k.proc, bp.addr})
	}
}

// padWorthy makes the pad of a breakpoint that is worth it, and reports whether there was one. Where there can be none, for now
// or for ever, it is tried again after twice as many hits.
func (t *Target) padWorthy() bool {
	if len(t.worthy) == 0 {
		return false
	}
	w := t.worthy[0]
	t.worthy = t.worthy[1:]
	if t.process(w.p.pid) != w.p {
		return true
	}
	bp := w.p.trapAt(w.at)
	if bp == nil || bp.judged == nil || bp.location != nil || bp.users == 0 {
		return true
	}
	if t.makeJudge(w.p, bp) == nil {
		t.leadJudged(w.p, bp)
	} else {
		bp.judged.worth *= 2
	}
	return true
}

// makeJudge makes the pad that evaluates the conditions of a breakpoint. The error says why there can be none.
func (t *Target) makeJudge(p *process, bp *insertedBreakpoint) error {
	agent := bp.judged.agent
	for _, c := range slices.Concat(agent.Conditions, agent.Commands) {
		if len(c.Requirements().Variables) > 0 {
			return errors.New("trace state variables are those of a trace run")
		}
	}
	if p.pads == nil {
		p.pads = newPads()
	}
	a, area, err := t.arenaNear(p, p.pads.breaks, judgingRing, bp.addr, 0)
	if err != nil {
		return err
	}
	p.pads.breaks = a
	site := &padSite{addr: bp.addr, judged: bp.judged, arena: a, area: area, index: p.pads.index()}
	if err := t.plan(p, site); err != nil {
		return err
	}
	bp.judged.code = make([]byte, site.plan.Next-bp.addr)
	if _, err = p.read(bp.addr, bp.judged.code); err == nil {
		err = t.buildJudge(p, site)
	}
	if err != nil {
		site.module.planner.Release(site.plan)
		return err
	}
	p.pads.judged[bp.addr] = site
	p.pads.enlist(site)
	return nil
}

// buildJudge builds the pad of a breakpoint: one that carries out its commands if that can be, else one that stops the thread for
// them.
func (t *Target) buildJudge(p *process, site *padSite) error {
	agent := site.judged.agent
	add := func(t compiled.Tracepoint) {
		t.Number, t.Addr, t.Enabled = trace.Number(len(site.list)+1), site.addr, true
		site.list = append(site.list, fast.Tracepoint{Tracepoint: &t, Index: p.pads.index()})
	}
	if len(agent.Commands) > 0 && len(agent.Conditions) < 2 && onlyPrint(agent.Commands) {
		only := compiled.Tracepoint{}
		if len(agent.Conditions) > 0 {
			only.Condition = agent.Conditions[0]
		}
		for _, c := range agent.Commands {
			op := compiled.Operation{Action: trace.Action{Kind: trace.CollectExpression, Code: c.Code()}, Program: c}
			only.Actions = append(only.Actions, op)
		}
		add(only)
		if site.build(p, fast.Site{Strict: true}, fast.Wait) == nil {
			site.prints = true
			t.printFrom(p)
			return nil
		}
		site.list = nil
	}
	if len(agent.Conditions) == 0 {
		return errors.New("there is no condition that could be false")
	}
	for _, c := range agent.Conditions {
		add(compiled.Tracepoint{Condition: c})
	}
	return site.build(p, fast.Site{Trap: true}, fast.Wait)
}

// onlyPrint reports whether expressions have no effect but to print.
func onlyPrint(programs []*ax.Program) bool {
	for _, p := range programs {
		for in := range p.Instructions() {
			switch in.Op {
			case ax.OpSetv, ax.OpTracev, ax.OpTrace, ax.OpTracenz, ax.OpTraceQuick, ax.OpTrace16:
				return false
			}
		}
	}
	return true
}

// leadJudged has the jump to the pad of a breakpoint take the place of the breakpoint instruction, if there is a pad and nothing is
// in the way.
func (t *Target) leadJudged(p *process, bp *insertedBreakpoint) {
	if bp.location != nil || bp.users == 0 || p.pads == nil {
		return
	}
	site := p.pads.judged[bp.addr]
	if site == nil || site.judged != bp.judged || !site.free(p.addrSpace) {
		return
	}
	if t.active {
		t.stopThreads(stopSet{in: p.addrSpace})
	}
	if p.inserted[bp.addr] != bp {
		return
	}
	delete(p.inserted, bp.addr)
	p.warn(p.code.Remove(bp.patch))
	if !t.lead(p, site, bp.check) {
		p.warn(t.trapFor(p, bp))
	}
}

// leadAgain writes the jump of a breakpoint that is inserted again, and reports false where it has to be a breakpoint instruction.
func (t *Target) leadAgain(p *process, j *judged, check check) bool {
	if p.pads == nil || p.inserted[j.agent.Addr] != nil {
		return false
	}
	site := p.pads.judged[j.agent.Addr]
	if site == nil || site.judged != j || !site.free(p.addrSpace) {
		return false
	}
	if t.active {
		t.stopThreads(stopSet{in: p.addrSpace})
	}
	return t.lead(p, site, check)
}

// free reports whether nothing but the site's own breakpoint is in the way of its jump.
func (s *padSite) free(space *addrSpace) bool {
	for _, q := range space.code.Within(s.plan.Held.Start, s.plan.Held.End) {
		if q.Addr() != s.addr {
			return false
		}
	}
	return s.strays.n < tooManyStrays
}

// lead writes the jump of a breakpoint where nothing is inserted, with all threads stopped. If it cannot, the pad is forgotten, and
// so it is if it was made for other code.
func (t *Target) lead(p *process, site *padSite, check check) bool {
	now := make([]byte, len(site.judged.code))
	p.read(site.addr, now)
	writes, err := site.plan.Writes(site.pad.Addr)
	if err == nil && !bytes.Equal(now, site.judged.code) {
		err = fmt.Errorf("the code at %s has changed", site.addr)
	}
	if err == nil {
		bp := &insertedBreakpoint{addr: site.addr, pad: site, users: 1, check: check, judged: site.judged}
		if site.prints {
			p.pads.printer.set(site.addr, site.judged.print)
		}
		t.shelter(p.addrSpace, []*padSite{site})
		err = t.leadToPad(p, bp, writes)
	}
	if err != nil {
		site.judged.vain = 0 // of a pad made anew
		t.forgetSite(p, site)
		return false
	}
	p.publish()
	return true
}

// trapFor inserts the breakpoint instruction of a breakpoint whose jump has been taken out, or could not be written.
func (t *Target) trapFor(p *process, was *insertedBreakpoint) error {
	bp, err := p.breakpointAt(was.addr)
	if err != nil {
		return err
	}
	bp.users, bp.check, bp.judged = was.users, was.check, was.judged
	return t.passCheaply(p, bp)
}

// trapJudged has the breakpoint instruction take the place of the jump, with all threads stopped.
func (t *Target) trapJudged(p *process, site *padSite) error {
	bp := p.inserted[site.addr]
	t.disarm(p.addrSpace, site)
	return t.trapFor(p, bp)
}

// restJudged takes the jump of a breakpoint out that is removed. Its pad stays.
func (t *Target) restJudged(p *process, site *padSite) {
	if t.active {
		t.stopThreads(stopSet{in: p.addrSpace})
	}
	if site.armed(p.addrSpace) {
		t.disarm(p.addrSpace, site)
		p.publish()
	}
}

// evictNear has the breakpoints near an address be traps, where a tracepoint is to have a jump. Their pads are forgotten.
func (t *Target) evictNear(p *process, addr arch.Addr) {
	const around = 16 // a jump, and the longest instruction that it can lie over
	near := jump.Range{Start: addr - min(addr, around), End: addr + around}
	for _, site := range p.pads.judged {
		if site.plan.Held.End <= near.Start || near.End <= site.plan.Held.Start {
			continue
		}
		if site.armed(p.addrSpace) && t.active {
			t.stopThreads(stopSet{in: p.addrSpace})
		}
		if site.armed(p.addrSpace) {
			p.warn(t.trapJudged(p, site))
		}
		site.judged.vain = 0 // it is tried again
		t.forgetSite(p, site)
	}
}

// forgetSite forgets the pad of a breakpoint, whose jump is not in the program; nil is none.
func (t *Target) forgetSite(p *process, site *padSite) {
	if site == nil {
		return
	}
	if site.prints {
		t.printAll()
	}
	site.module.planner.Release(site.plan)
	p.pads.forget(site)
	delete(p.pads.judged, site.addr)
}

// forgetJudged takes the jumps of all breakpoints out of a stopped process that is about to be let go.
func (t *Target) forgetJudged(p *process) {
	for _, site := range p.pads.judged {
		if site.armed(p.addrSpace) {
			t.disarm(p.addrSpace, site)
		}
		t.forgetSite(p, site)
	}
}
