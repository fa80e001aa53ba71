//go:build linux

package linux

import (
	"maps"

	"tracewell/arch"
	"tracewell/target"
)

// apply puts into force what has been prepared, with all threads stopped and everything deposited that was collected before.
func (t *Target) apply() (refused []target.Refusal) {
	prepared := t.collector.prepared
	t.collector.prepared = make(map[siteKey]*padSite)
	if len(prepared) > 0 && t.active {
		t.stopThreads(stopSet{})
	}
	t.depositAll()
	ended := func(at siteKey, _ *padSite) bool { return t.process(at.pid) == nil } // and its pads with it
	maps.DeleteFunc(prepared, ended)
	for at, next := range prepared { // all of them first, for what comes may be where something goes
		t.takeOut(t.process(at.pid), at.addr, next)
	}
	for at, next := range prepared {
		p := t.process(at.pid)
		t.enterThreads(p)
		if failed := t.putIn(p, at.addr, next); failed != nil {
			refused = append(refused, target.Refusal{PID: at.pid, Addr: at.addr, Err: failed})
		}
	}
	for at := range prepared {
		p := t.process(at.pid)
		t.settleTraced(p.addrSpace)
		t.settleLids(p.addrSpace)
		p.publish()
		if p.pads != nil {
			p.pads.disinherit()
			p.pads.fresh = false
		}
	}
	return refused
}

// replace puts a site into force in place of what is at an address, or nothing. After an error there is nothing.
func (t *Target) replace(p *process, addr arch.Addr, next *padSite) error {
	t.takeOut(p, addr, next)
	return t.putIn(p, addr, next)
}

// takeOut takes what is at an address out, for another site or nothing to come there. A site that is there already for another
// process of the memory stays.
func (t *Target) takeOut(p *process, addr arch.Addr, next *padSite) {
	s := p.addrSpace
	var old *padSite
	if s.pads != nil {
		old = s.pads.sites[addr]
	}
	if old != nil && old == next {
		return
	}
	if bp := s.trapAt(addr); bp != nil && bp.location != nil && bp.location.offloaded { // it was demoted, or came with a fork
		bp.location = nil
		s.warn(s.drop(bp))
	}
	if old == nil {
		return
	}
	t.disarm(s, old)
	s.pads.forget(old)
	delete(s.pads.sites, addr)
	t.discard(s.pads, old)
	if next == nil || next.plan != old.plan {
		old.module.planner.Release(old.plan)
	}
}

// putIn puts a site into force at an address at which there is nothing.
func (t *Target) putIn(p *process, addr arch.Addr, next *padSite) error {
	if next == nil {
		return nil
	}
	if p.pads.sites[addr] == next {
		p.traced = true
		return nil
	}
	if err := t.arm(p, next); err != nil {
		t.discard(p.pads, next)
		next.module.planner.Release(next.plan)
		return err
	}
	p.pads.add(next)
	p.traced = true
	return nil
}
