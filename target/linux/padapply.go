//go:build linux

package linux

import (
	"maps"

	"tracewell/internal/fast/jump"
	"tracewell/target"
)

// What has been prepared for all processes comes into force in one stop, plan by plan: the sites of one jump come and go together.

// apply puts into force what has been prepared, with all threads stopped and everything deposited that was collected before.
func (t *Target) apply() (refused []target.Refusal) {
	prepared := t.collector.prepared
	t.collector.prepared = make(map[siteKey]*padSite)
	if len(prepared) > 0 && t.active {
		t.stopThreads(stopSet{})
	}
	t.depositAll()
	changed := make(map[*process]map[*jump.Plan][]*padSite)
	for at, next := range prepared {
		p := t.process(at.pid)
		if p == nil { // it has ended since, and its pads with it
			continue
		}
		if changed[p] == nil {
			changed[p] = make(map[*jump.Plan][]*padSite)
		}
		if next == nil { // a trap that the Collector has answered for
			t.dropOffloaded(p.addrSpace, at.addr)
			continue
		}
		changed[p][next.plan] = append(changed[p][next.plan], next)
	}
	// The order of the plans does not matter, as no two planned patches overlap; what is gone by itself is not known to planners.
	for p, plans := range changed {
		t.enterThreads(p)
		t.clearLost(p) // before anything comes to where that was
		for plan, sites := range plans {
			refused = append(refused, t.renew(p, plan, sites)...)
		}
		if p.pads != nil {
			p.pads.disinherit()
			p.pads.fresh = false
		}
		t.settleTraced(p.addrSpace)
		t.relodge(p.addrSpace)
		t.settleLids(p.addrSpace)
		p.publish()
		t.tidy(p.addrSpace)
	}
	return refused
}

// unprepare forgets what has been prepared in the memory that a process leaves.
func (t *Target) unprepare(p *process) {
	if t.collector != nil {
		maps.DeleteFunc(t.collector.prepared, func(at siteKey, _ *padSite) bool { return at.pid == p.pid })
	}
}
