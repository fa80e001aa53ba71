//go:build linux

package linux

import (
	"errors"
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/fast"
	"tracewell/internal/fast/jump"
	"tracewell/target"
)

// A jump displaces several instructions, of which more than one may have tracepoints: they are closer together than a jump is long.
// The sites of one jump are a row. The jump leads to the pad of the first; behind what it collects that has the copies of the
// instructions up to the second site, and goes on to the pad of that, and so on; the last jumps back. So each site has a pad like
// any other, and a thread that comes to a later site by a branch, into a guard, goes on in the pad there.
//
// A site that loses its tracepoints while others of its row have some becomes idle: its pad stays, and does nothing but execute the
// copies. A row comes and goes as a whole.

// first reports whether the jump of the plan is at the site.
func (s *padSite) first() bool { return s.addr == s.plan.Addr }

// part is the displaced instructions of which the pad of a site has copies, if that of the next one begins at an address.
func (s *padSite) part(next arch.Addr) []*amd64.Instruction {
	var part []*amd64.Instruction
	for _, in := range s.plan.Run {
		if s.addr <= in.At() && in.At() < next {
			part = append(part, in)
		}
	}
	return part
}

// row returns the sites in force that share a plan, in order of their addresses.
func (s *pads) row(plan *jump.Plan) []*padSite {
	return rowOf(plan, func(at arch.Addr) *padSite { return s.sites[at] })
}

// prospect returns the sites that share a plan once what is prepared is in force.
func (t *Target) prospect(p *process, plan *jump.Plan) []*padSite {
	return rowOf(plan, func(at arch.Addr) *padSite { return t.siteAt(p, at) })
}

func rowOf(plan *jump.Plan, at func(arch.Addr) *padSite) (row []*padSite) {
	for _, in := range plan.Run {
		if site := at(in.At()); site != nil && site.plan == plan {
			row = append(row, site)
		}
	}
	return row
}

// leading returns the first site of the row that a site is in.
func (s *pads) leading(site *padSite) *padSite {
	if row := s.row(site.plan); len(row) > 0 {
		return row[0]
	}
	return site
}

// siteAt returns the site that there will be at an address, nil for none.
func (t *Target) siteAt(p *process, addr arch.Addr) *padSite {
	if site := t.collector.prepared[siteKey{p.pid, addr}]; site != nil || p.pads == nil {
		return site
	}
	return p.pads.sites[addr]
}

// leader returns the site whose jump displaces the instruction at an address, nil if there is none that can have more sites behind
// it.
func (t *Target) leader(p *process, addr arch.Addr) *padSite {
	for _, m := range p.pads.modules {
		if plan := m.planner.Covering(addr); plan != nil {
			if site := t.siteAt(p, plan.Addr); site != nil && site.plan == plan && !site.stuck {
				return site
			}
		}
	}
	return nil
}

// anyBusy reports whether a site of a row has tracepoints.
func anyBusy(row []*padSite) bool {
	return slices.ContainsFunc(row, func(site *padSite) bool { return !site.idle })
}

// buildRow makes the pad of a site that is to be, and prepares it, with pads anew for those in front of it in its row.
func (t *Target) buildRow(p *process, next *padSite) error {
	row := t.prospect(p, next.plan)
	i, found := slices.BinarySearchFunc(row, next, func(a, b *padSite) int { return int(int64(a.addr - b.addr)) })
	if found {
		row[i] = next
	} else {
		row = slices.Insert(row, i, next)
	}
	built := make(map[siteKey]*padSite)
	behind, onward := next.plan.Next, arch.Addr(0)
	for i := len(row) - 1; i >= 0; i-- {
		site := row[i]
		if site == next || site.onward != onward {
			site = site.again(p.pads)
			site.run, site.onward = site.part(behind), onward
			if err := t.buildPad(p, site); err != nil {
				return err
			}
			row[i], built[siteKey{p.pid, site.addr}] = site, site
		}
		behind, onward = site.addr, site.pad.Addr
	}
	if len(row) > 1 && row[0].bare == nil {
		bare := row[0].again(p.pads)
		if err := bare.buildCopy(p); err != nil {
			return err
		}
		row[0].bare = bare
	}
	for at, site := range built {
		if was := t.collector.prepared[at]; was != nil && was.plan == site.plan && was.pad != site.pad {
			t.reclaim(p.pads, was)
		}
		t.collector.prepared[at] = site
	}
	return nil
}

// again is a site as it is to be when it has another pad.
func (s *padSite) again(pads *pads) *padSite {
	site := *s
	site.index, site.patches, site.stuck = pads.index(), nil, false
	return &site
}

// buildCopy makes the pad of a row for threads whose hits do not count.
func (s *padSite) buildCopy(p *process) error {
	s.run, s.onward, s.list = nil, 0, nil
	return s.place(p, fast.Site{}, func(what *fast.Site) (*fast.Pad, error) { return fast.BuildCopy(what) })
}

// uncounted is where a thread whose hit does not count goes on from a site, without another hit.
func (s *padSite) uncounted(space *addrSpace) arch.Addr {
	if row := space.pads.row(s.plan); len(row) > 1 && row[0].bare != nil {
		if offset, ok := row[0].bare.copy.Offset(s.addr); ok {
			return row[0].bare.displaced() + arch.Addr(offset)
		}
	}
	return s.displaced()
}

// renew puts the prepared sites of a plan into force in place of those that are, and takes the jump out if none has tracepoints any
// more. After a refusal there is no site.
func (t *Target) renew(p *process, plan *jump.Plan, changed []*padSite) (refused []target.Refusal) {
	s := p.addrSpace
	row := rowOf(plan, func(at arch.Addr) *padSite {
		if i := slices.IndexFunc(changed, func(c *padSite) bool { return c.addr == at }); i >= 0 {
			return changed[i]
		}
		return s.pads.sites[at]
	})
	if !slices.ContainsFunc(changed, func(c *padSite) bool { return s.pads.sites[c.addr] != c }) {
		p.traced = true // they are there already for another process of the memory
		return nil
	}
	before := s.pads.row(plan)
	defer func() { t.reclaimRow(s.pads, before, row) }()
	t.clear(s, before)
	if !anyBusy(row) {
		row[0].module.planner.Release(plan)
		row = nil
		return nil
	}
	for _, site := range row {
		t.dropOffloaded(s, site.addr) // it came with a fork
	}
	err := t.arm(p, row)
	if err == nil {
		for _, site := range row {
			s.pads.add(site)
		}
		p.traced = true
		return nil
	}
	row[0].module.planner.Release(plan)
	for _, site := range slices.DeleteFunc(row, func(site *padSite) bool { return site.idle }) {
		refused = append(refused, target.Refusal{PID: p.pid, Addr: site.addr, Err: err})
	}
	return refused
}

// clear takes sites of one plan out of force, whether they are armed or demoted.
func (t *Target) clear(s *addrSpace, row []*padSite) {
	for _, site := range row {
		t.disarm(s, site)
	}
	for _, site := range row {
		t.dropOffloaded(s, site.addr)
		s.pads.forget(site)
		delete(s.pads.sites, site.addr)
	}
}

// dropOffloaded takes the breakpoint instruction out of tracepoints that the Collector has.
func (t *Target) dropOffloaded(s *addrSpace, addr arch.Addr) {
	if bp := s.trapAt(addr); bp != nil && bp.location != nil && bp.location.offloaded {
		bp.location = nil
		s.warn(s.drop(bp))
	}
}

// arm writes the jump of a row, or demotes all of it at once if a breakpoint of the session is in the way. All threads are stopped,
// and none is in a pad.
func (t *Target) arm(p *process, row []*padSite) (err error) {
	head := row[0]
	if !head.first() {
		return fmt.Errorf("the site at %s, whose jump leads to it, is gone", head.plan.Addr)
	}
	writes, err := head.plan.Writes(head.pad.Addr)
	if err != nil {
		return err
	}
	if blocked, err := p.blocked(head); err != nil {
		return err
	} else if blocked {
		return t.trapInstead(p, row)
	}
	defer func() {
		if err == nil {
			return
		}
		for _, site := range row {
			t.disarm(p.addrSpace, site)
			if !site.stuck {
				site.arena.directory.Remove(site.index)
			}
		}
	}()
	t.shelter(p.addrSpace, row)
	for _, site := range slices.Backward(row) { // the jump comes last
		bp := &insertedBreakpoint{addr: site.addr, pad: site}
		if !site.idle {
			bp.location = &location{Addr: site.addr, offloaded: true}
		}
		var jumps []jump.Write
		if site == head {
			jumps = writes
		}
		if err = t.leadToPad(p, bp, jumps); err != nil {
			return err
		}
	}
	return nil
}

// begin has the pad of a site collect.
func (s *padSite) begin() {
	s.arena.reader.Define(s.pad.Slots)
	for _, tp := range s.list {
		s.arena.control.ResetHits(tp.Index, 0)
		s.arena.control.Enable(tp.Index, tp.Enabled && !s.idle)
	}
}

// trapInstead has the tracepoints of a row be hit by inserted breakpoints, which may be there already for the session.
func (t *Target) trapInstead(p *process, row []*padSite) error {
	var errs []error
	for _, site := range row {
		if site.idle {
			continue
		}
		bp, err := p.breakpointAt(site.addr)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		bp.location = &location{Addr: site.addr, offloaded: true}
		errs = append(errs, t.passCheaply(p, bp))
	}
	return errors.Join(errs...)
}
