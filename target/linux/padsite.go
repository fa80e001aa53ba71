//go:build linux

package linux

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/fast"
	"tracewell/fast/jump"
	"tracewell/internal/sys"
	"tracewell/target/linux/internal/patch"
	"tracewell/trace/compiled"
)

// pads is what an address space has of jump pads.
type pads struct {
	arena   *arena
	sites   map[arch.Addr]*padSite // in force, armed or demoted
	ordered []*padSite             // the same by the addresses of their pads
	modules []*module              // whose code has been looked at
	room    *jump.Room             // for trampolines
	pages   []arch.Addr            // that were mapped for them
	indexes int                    // given to sites and tracepoints
	lidded  bool                   // see settleLids
	fresh   bool                   // modules were looked at since the last Apply
	process int64                  // whose id the pads tell
	heirs   map[arch.Addr]*padSite // what a forked child may go on with
	stuck   bool                   // a jump could not be taken out, so its pad has to stay
}

// padSite is a location whose tracepoints are collected by a pad. While the session has a breakpoint in its patch it is demoted: an
// inserted breakpoint like any other, whose hits the Handler hears of.
type padSite struct {
	addr    arch.Addr
	list    []fast.Tracepoint // in the order of their turns
	module  *module           // the code that it is in
	area    *padArea          // where its pad lies
	plan    *jump.Plan        // stays the same as long as there is anything at the address
	pad     *fast.Pad         // another one for each change
	index   int               // of the pad in its slots
	copy    *amd64.Displaced  // the displaced instructions, in the pad
	patches []*patch.Patch    // what is written over the program's code; the last one is at addr. None while it is demoted
	stuck   bool              // one of the patches could not be taken out, so the directory keeps the site
	strays  strayCount
}

// strayCount notices a site that threads come to the middle of too often.
type strayCount struct {
	n     int
	since time.Time
}

// displaced is where the displaced instructions begin.
func (s *padSite) displaced() arch.Addr { return s.pad.Addr + arch.Addr(s.pad.Displaced) }

// siteKey is where a site is, or is to be.
type siteKey struct {
	pid  int
	addr arch.Addr
}

// offload prepares a pad that collects a tracepoint in a process. The error says why there can be none.
func (t *Target) offload(p *process, tp *compiled.Tracepoint) error {
	if len(tp.Semaphores) > 0 {
		return errors.New("static probes raise semaphores")
	}
	if site := p.sharedSite(tp); site != nil && t.sharer(p) != nil {
		t.collector.prepared[siteKey{p.pid, tp.Addr}] = site
		return nil
	}
	a, area, err := t.arenaFor(p, tp.Addr)
	if err != nil {
		return err
	}
	if err := t.refresh(p); err != nil {
		return err
	}
	if err := t.useVariables(a, tp); err != nil {
		return err
	}
	at := siteKey{p.pid, tp.Addr}
	former, prepared := t.collector.prepared[at]
	if !prepared {
		former = p.pads.sites[tp.Addr]
	}
	next, err := t.siteWith(p, area, former, tp)
	if err == nil {
		t.collector.prepared[at] = next
		t.discard(p.pads, former)
	}
	return err
}

// sharedSite is the site in force that collects a tracepoint, for a process of the memory, nil for none.
func (s *addrSpace) sharedSite(tp *compiled.Tracepoint) *padSite {
	if s.pads == nil {
		return nil
	}
	site := s.pads.sites[tp.Addr]
	if site == nil || !slices.ContainsFunc(site.list, func(o fast.Tracepoint) bool { return o.Tracepoint == tp }) {
		return nil
	}
	return site
}

// recall prepares the end of collecting at an address of a process.
func (t *Target) recall(p *process, addr arch.Addr) {
	at := siteKey{p.pid, addr}
	prepared := t.collector.prepared[at]
	inForce := p.pads != nil && p.pads.sites[addr] != nil
	if prepared != nil && !inForce { // otherwise the plan is that of the site in force
		prepared.module.planner.Release(prepared.plan)
		delete(p.pads.heirs, addr)
	}
	if prepared != nil {
		t.discard(p.pads, prepared)
	}
	if bp := p.inserted[addr]; inForce || bp != nil && bp.location != nil && bp.location.offloaded {
		t.collector.prepared[at] = nil
	} else {
		delete(t.collector.prepared, at)
	}
}

// explain says how the hits of a site are collected.
func (s *padSite) explain(space *addrSpace, divided bool) string {
	switch bp := space.inserted[s.addr]; {
	case bp != nil && bp.pad == s:
	case divided && s.sets():
		return "trap, since " + errDivided.Error()
	default:
		return "trap, since something else is in the way of the jump"
	}
	return "pad, by " + s.plan.Rung.String()
}

// siteWith makes the site that has one tracepoint more than a former one at its address, if there is one, or another one in the
// place of the one with the same number. Its pad is in the program's memory then, and nothing leads there yet.
func (t *Target) siteWith(p *process, area *padArea, former *padSite, tp *compiled.Tracepoint) (*padSite, error) {
	s := p.pads
	next := &padSite{addr: tp.Addr, area: area, index: s.index()}
	added := fast.Tracepoint{Tracepoint: tp, Index: s.index()}
	planned := s.sites[tp.Addr] // the plan stays as long as there is anything at the address
	if former != nil {
		planned, next.list = former, slices.Clone(former.list)
	}
	if planned != nil && !slices.Contains(s.modules, planned.module) { // other code has come there
		planned = nil
	}
	if heir := s.heirs[tp.Addr]; planned == nil && heir != nil {
		planned = heir
	}
	if planned != nil {
		next.module, next.plan, next.area = planned.module, planned.plan, planned.area
	} else if err := t.plan(p, next); err != nil {
		return nil, err
	}
	same := func(other fast.Tracepoint) bool { return other.Number == tp.Number }
	if i := slices.IndexFunc(next.list, same); i >= 0 {
		next.list[i] = added
	} else {
		next.list = append(next.list, added)
	}
	heir, err := p.heir(next)
	if heir != nil || err != nil {
		return heir, err
	}
	err = t.buildPad(p, next)
	if err != nil && planned == nil {
		next.module.planner.Release(next.plan)
	}
	return next, err
}

// plan decides how a location is patched, and has the program map what that takes.
func (t *Target) plan(p *process, site *padSite) error {
	m, err := p.moduleAt(site.addr, site.area)
	if err != nil {
		return err
	}
	site.module = m
	code := make([]byte, jump.CodeSize)
	n, _ := p.read(site.addr, code)
	name := m.survey(p.addrSpace, site.addr)
	for _, q := range p.code.Within(site.addr-min(site.addr, jump.CodeSize), site.addr+jump.CodeSize) {
		if bp := p.inserted[q.Addr()]; bp != nil && bp.location == nil {
			continue // of the session, which removes it some time
		} else if bp != nil && bp.pad != nil && p.lost(bp.pad) {
			continue // the next Apply takes it out
		}
		held := jump.Range{Start: q.Addr(), End: q.End()}
		m.planner.Hold(held)
		defer m.planner.Unhold(held)
	}
	site.plan, err = m.planner.Plan(jump.Site{Addr: site.addr, Code: code[:n], Name: name})
	if err != nil {
		return err
	}
	pages := p.pads.room.Opened()
	if len(pages) == 0 {
		return nil
	}
	c, err := t.beginCalls(p)
	for i := 0; i < len(pages) && err == nil; i++ {
		if err = c.mapAt(pages[i], pageSize, sys.ReadExecute, sys.OwnMemory|sys.OnlyWhereFree, -1, 0); err == nil {
			p.pads.pages = append(p.pads.pages, pages[i])
		} else {
			p.pads.room.Withdraw(pages[i])
		}
	}
	if c != nil {
		c.end()
	}
	if err != nil {
		m.planner.Release(site.plan)
	}
	return err
}

// pageSize is what is mapped at a time for trampolines.
const pageSize = 4096

// buildPad makes the pad of a site and writes it into the program.
func (t *Target) buildPad(p *process, site *padSite) error {
	a := p.pads.arena
	// A pad reaches the control area relative to its own pc: by the mapping that is in front of it.
	shape := a.shape
	shape.Control = site.area.base
	shape.WhenFull = t.collector.whenFull()
	registers, err := t.collector.registerBlock()
	if err != nil {
		return err
	}
	displace := func(at arch.Addr) (code []byte, err error) {
		if site.copy, err = amd64.Displace(site.plan.Run, at); err != nil {
			return nil, err
		}
		return site.copy.Code, nil
	}
	for _, at := range site.area.places() { // how much it takes is known only when it is built
		site.pad, err = fast.Build(&fast.Site{
			Arena: &shape, Index: site.index, Addr: site.addr, Pad: at, Tracepoints: site.list, Registers: registers,
			NoRedZone: site.module.isGo, Displace: displace, Next: site.plan.Next,
			Builtins: t.collector.builtins(a),
		})
		if err != nil {
			return err
		}
		if !site.area.take(at, len(site.pad.Code)) {
			continue
		}
		if _, err := p.mem.WriteAt(site.pad.Code, int64(at)); err != nil {
			return fmt.Errorf("cannot write a pad at %s: %w", at, err)
		}
		return nil
	}
	return errors.New("the memory for pads is full")
}

// arm writes the jumps of a site, or demotes it at once if a breakpoint of the session is in the way. All threads are stopped, and
// none is in a pad.
func (t *Target) arm(p *process, site *padSite) (err error) {
	writes, err := site.plan.Writes(site.pad.Addr)
	if err != nil {
		return err
	}
	if blocked, err := p.blocked(site); err != nil {
		return err
	} else if blocked {
		return t.trapInstead(p, site)
	}
	if err := p.pads.enter(site, writes); err != nil {
		return err
	}
	defer func() {
		if err != nil && !site.stuck {
			p.pads.arena.directory.Remove(site.index)
		}
	}()
	a := p.pads.arena
	for _, w := range writes {
		if w.Old == nil {
			_, err = p.mem.WriteAt(w.New, int64(w.Addr))
		} else {
			err = site.write(p.addrSpace, w)
		}
		if err != nil {
			return errors.Join(err, site.unwrite(p.addrSpace))
		}
	}
	bp := &insertedBreakpoint{
		addr: site.addr, patch: site.patches[len(site.patches)-1], pad: site, location: &location{Addr: site.addr, offloaded: true},
	}
	if err := bp.study(p.addrSpace); err != nil {
		return errors.Join(err, site.unwrite(p.addrSpace))
	}
	bp.ambiguous = true // whatever traps there is none of ours
	p.inserted[site.addr] = bp
	if p.pads.lidded {
		if err := p.settleLid(bp); err != nil {
			return errors.Join(err, site.unwrite(p.addrSpace))
		}
	}
	a.reader.Define(site.pad.Slots)
	for _, tp := range site.list {
		a.control.ResetHits(tp.Index, 0)
		a.control.Enable(tp.Index, tp.Enabled)
	}
	return nil
}

// write writes one piece of a patch over the program's own code, if that is what the plan was made for.
func (s *padSite) write(space *addrSpace, w jump.Write) error {
	now := make([]byte, len(w.Old))
	if n, err := space.read(w.Addr, now); n < len(now) {
		return err
	}
	if !bytes.Equal(now, w.Old) {
		return fmt.Errorf("the code at %s has changed", w.Addr)
	}
	p, err := space.code.InsertLasting(w.Addr, w.New)
	if err == nil {
		s.patches = append(s.patches, p)
	}
	return err
}

// unwrite puts the program's own code back.
func (s *padSite) unwrite(space *addrSpace) error {
	var errs []error
	for _, p := range slices.Backward(s.patches) {
		errs = append(errs, space.code.Remove(p))
	}
	s.patches = nil
	if err := errors.Join(errs...); err != nil {
		s.stuck = true
		return err
	}
	return nil
}

// disarm takes the jumps of a site out, with all threads stopped and none in a pad.
func (t *Target) disarm(s *addrSpace, site *padSite) {
	if err := site.unwrite(s); err != nil {
		s.warn(err)
		s.pads.stuck = true
	}
	if bp := s.inserted[site.addr]; bp != nil && bp.pad == site {
		delete(s.inserted, site.addr)
	}
}

// removeSites ends all collecting in the memory of a process.
func (t *Target) removeSites(p *process) {
	s := p.addrSpace
	if s.pads == nil || len(s.pads.sites) == 0 {
		return
	}
	if t.active {
		t.stopThreads(stopSet{in: s})
	}
	for addr := range s.pads.sites {
		t.replace(p, addr, nil)
	}
	s.pads.rest()
}

// demote has the tracepoints of the site whose patch has bytes in a range be hit by an inserted breakpoint: somebody else needs the
// bytes.
func (t *Target) demote(p *process, addr arch.Addr, size int) error {
	if p.pads == nil {
		return nil
	}
	for _, site := range p.pads.inTheWay(jump.Range{Start: addr, End: addr + arch.Addr(size)}) {
		if t.active {
			t.stopThreads(stopSet{in: p.addrSpace})
		}
		t.depositAll()
		if p.inserted[site.addr] == nil || p.inserted[site.addr].pad != site {
			continue
		}
		t.disarm(p.addrSpace, site)
		if err := t.trapInstead(p, site); err != nil {
			return err
		}
	}
	p.publish()
	return nil
}

// trapInstead has the tracepoints of a site be hit by an inserted breakpoint, which may be there already for the session.
func (t *Target) trapInstead(p *process, site *padSite) error {
	bp, err := p.breakpointAt(site.addr)
	if err != nil {
		return err
	}
	bp.location = &location{Addr: site.addr, offloaded: true}
	return t.passCheaply(p, bp)
}

// blocked reports whether breakpoints of the session are in the way of a site's patch, which will be removed some time. Anything
// else that is in the way is an error.
func (s *addrSpace) blocked(site *padSite) (blocked bool, err error) {
	for _, q := range s.code.Within(site.plan.Held.Start, site.plan.Held.End) {
		bp := s.inserted[q.Addr()]
		switch {
		case bp == nil || bp.location != nil && !bp.location.offloaded || bp.pad != nil:
			return false, fmt.Errorf("something else is written over the code at %s", q.Addr())
		case bp.users > 0:
			blocked = true
		}
	}
	return blocked, nil
}

// promote arms the demoted sites that a breakpoint of the session was in the way of, which is removed by now. One whose code has
// changed, or into whose middle too many threads came, stays a trap.
func (t *Target) promote(p *process, addr arch.Addr, size int) error {
	if p.pads == nil {
		return nil
	}
	for _, site := range p.pads.inTheWay(jump.Range{Start: addr, End: addr + arch.Addr(size)}) {
		bp := p.trapAt(site.addr)
		if bp == nil || bp.location == nil || bp.users > 0 || site.strays.n >= tooManyStrays || t.divided(site) {
			continue
		}
		if blocked, err := p.blocked(site); blocked || err != nil {
			continue
		}
		if t.active {
			t.stopThreads(stopSet{in: p.addrSpace})
		}
		bp.location = nil
		if err := p.drop(bp); err != nil {
			return err
		}
		if t.arm(p, site) != nil {
			if err := t.trapInstead(p, site); err != nil {
				return err
			}
		}
	}
	p.publish()
	return nil
}

// index returns an index that no site or tracepoint has. It was not used before, or long ago.
func (s *pads) index() int {
	for {
		s.indexes++
		if i := s.indexes % fast.MaxTracepoints; s.indexes < fast.MaxTracepoints || !s.inUse(i) {
			return i
		}
	}
}

// inTheWay returns the sites whose patches do not bear that bytes of a range change, which are not only those that are written: a
// pun goes where the bytes behind it say.
func (s *pads) inTheWay(r jump.Range) (sites []*padSite) {
	for _, m := range s.modules {
		for _, plan := range m.planner.InTheWay(r) {
			if site := s.sites[plan.Addr]; site != nil && site.plan == plan && !slices.Contains(sites, site) {
				sites = append(sites, site)
			}
		}
	}
	return sites
}

// add makes a site known.
func (s *pads) add(site *padSite) {
	s.sites[site.addr] = site
	i, _ := s.search(site.pad.Addr)
	s.ordered = slices.Insert(s.ordered, i, site)
}

// forget forgets the pad of a site.
func (s *pads) forget(site *padSite) {
	s.ordered = slices.DeleteFunc(s.ordered, func(o *padSite) bool { return o == site })
	s.arena.reader.Forget(site.index)
	if !site.stuck {
		s.arena.directory.Remove(site.index)
	}
}

// enter has the directory tell how a site is patched, for the process that mends the program if this one is killed.
func (s *pads) enter(site *padSite, writes []jump.Write) error {
	var patches []fast.Patch
	for _, w := range writes {
		patches = append(patches, fast.Patch{Addr: w.Addr, Own: w.Old, Ours: w.New})
	}
	return s.arena.directory.Enter(site.pad, site.list, patches)
}

// search returns the index of the first pad at an address or behind it.
func (s *pads) search(at arch.Addr) (int, bool) {
	return slices.BinarySearchFunc(s.ordered, at, func(site *padSite, at arch.Addr) int {
		switch {
		case site.pad.Addr < at:
			return -1
		case site.pad.Addr > at:
			return 1
		}
		return 0
	})
}

// at returns the site in whose pad a pc is, nil for none.
func (s *pads) at(pc arch.Addr) *padSite {
	i, found := s.search(pc)
	if !found {
		i--
	}
	if i < 0 || pc-s.ordered[i].pad.Addr >= arch.Addr(len(s.ordered[i].pad.Code)) {
		return nil
	}
	return s.ordered[i]
}

// rest takes back the memory of all pads, of which there are none.
func (s *pads) rest() {
	if s.stuck {
		return
	}
	for _, area := range s.arena.areas {
		area.used, area.free = 0, nil
	}
}
