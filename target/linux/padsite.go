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
	"tracewell/internal/fast"
	"tracewell/internal/fast/jump"
	"tracewell/internal/sys"
	"tracewell/target/linux/internal/patch"
	"tracewell/trace/compiled"
)

// pads is what an address space has of jump pads.
type pads struct {
	arena   *arena                 // of tracepoints, nil before the first
	breaks  *arena                 // of breakpoints, which outlive trace runs; nil before the first
	printer *printer               // of what is in that, nil before the first that prints
	sites   map[arch.Addr]*padSite // of tracepoints, in force, armed or demoted
	judged  map[arch.Addr]*padSite // of breakpoints that are or were inserted
	ordered []*padSite             // the same by the addresses of their pads
	ways    map[arch.Addr]*padSite // by where their jumps pass, in a trampoline or in padding
	modules []*module              // whose code has been looked at
	room    *jump.Room             // for trampolines
	pages   []arch.Addr            // that were mapped for them
	indexes int                    // given to sites and tracepoints
	lidded  bool                   // see settleLids
	foreign bool                   // likewise
	stuck   bool                   // a jump could not be taken out, so its pad has to stay
	process int64                  // whose id the pads tell
	heirs   map[arch.Addr]*padSite // what a forked child may go on with
	fresh   bool                   // modules were looked at since the last Apply
	lost    []*jump.Plan           // of code that is gone
}

// padSite is a location whose tracepoints are collected by a pad. While the session has a breakpoint in its patch it is demoted: an
// inserted breakpoint like any other, whose hits the Handler hears of.
type padSite struct {
	addr    arch.Addr
	list    []fast.Tracepoint // in the order of their turns; for a breakpoint its conditions, as those of so many tracepoints
	judged  *judged           // the breakpoint, nil for tracepoints
	module  *module           // the code that it is in
	golang  bool              // that is of Go
	arena   *arena            // whose control area the pad looks at
	area    *padArea          // where its pad lies
	plan    *jump.Plan        // stays the same as long as there is anything at the address
	pad     *fast.Pad         // another one for each change
	index   int               // of the pad in its slots
	copy    *amd64.Displaced  // displaced instructions, in the pad
	patches []*patch.Patch    // what is written over the program's code; the last one is at addr. None while it is demoted
	prints  bool              // it writes to the ring what the commands of the breakpoint print
	stuck   bool              // one of the patches could not be taken out, so the directory keeps the site
	strays  strayCount

	// Of the row that the site is in.
	run    []*amd64.Instruction // that copy is of; nil for all of the plan's
	onward arch.Addr            // the pad of the next site; 0 for none
	bare   *padSite             // of the first site: copies of all, for threads whose hits do not count; nil in a row of one
	idle   bool                 // it has no tracepoints any more, but others of the row have
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

// rowRoom is how much memory a row of sites takes, each of which comes with pads anew for those in front of it.
const rowRoom = 16 << 10

// begin makes the arena of a process for its first tracepoint. The error says why there can be no pad.
func (t *Target) begin(p *process, tp *compiled.Tracepoint) (*arena, error) {
	if len(tp.Semaphores) > 0 {
		return nil, errSemaphores
	}
	a, _, err := t.arenaFor(p, tp.Addr)
	return a, err
}

var errSemaphores = errors.New("static probes raise semaphores")

// offload prepares a pad that collects a tracepoint in a process. The error says why there can be none.
func (t *Target) offload(p *process, tp *compiled.Tracepoint) error {
	if len(tp.Semaphores) > 0 {
		return errSemaphores
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
	return t.siteWith(p, area, tp)
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
	if site := t.siteAt(p, addr); site != nil {
		idle := *site
		idle.idle, idle.patches = true, nil
		t.collector.prepared[at] = &idle
		t.forsake(p, site.plan)
		if t.siteAt(p, addr) != nil {
			return
		}
	}
	delete(t.collector.prepared, at)
	if bp := p.inserted[addr]; bp != nil && bp.location != nil && bp.location.offloaded {
		t.collector.prepared[at] = nil
	}
}

// forsake gives a plan up of which nothing is in force and nothing is to be.
func (t *Target) forsake(p *process, plan *jump.Plan) {
	row := t.prospect(p, plan)
	if len(p.pads.row(plan)) > 0 || anyBusy(row) {
		return
	}
	row[0].module.planner.Release(plan)
	delete(p.pads.heirs, plan.Addr)
	for _, site := range row {
		t.reclaim(p.pads, site)
		delete(t.collector.prepared, siteKey{p.pid, site.addr})
	}
}

// explain says how the hits of a site are collected.
func (s *padSite) explain(space *addrSpace, divided bool) string {
	switch {
	case !s.armed(space) && divided && s.sets():
		return "trap, since " + errDivided.Error()
	case !s.armed(space):
		return "trap, since something else is in the way of the jump"
	case !s.first():
		return fmt.Sprintf("pad, by the %s at %s", s.plan.Rung, s.plan.Addr)
	}
	return "pad, by " + s.plan.Rung.String()
}

// siteWith prepares a site that has one tracepoint more than what is prepared or in force at its address, or another one in the
// place of the one with the same number. Its pad is in the program's memory then, and nothing leads there yet.
func (t *Target) siteWith(p *process, area *padArea, tp *compiled.Tracepoint) error {
	s := p.pads
	next := &padSite{addr: tp.Addr, arena: s.arena, area: area, index: s.index()}
	planned := t.siteAt(p, tp.Addr) // the plan stays as long as there is anything at the address
	if planned != nil && !planned.idle {
		next.list = slices.Clone(planned.list)
	}
	// Where other code has come nothing of the plan is right.
	if planned != nil && (!slices.Contains(s.modules, planned.module) || slices.Contains(s.lost, planned.plan)) {
		planned = nil
	}
	if planned == nil {
		planned = t.leader(p, tp.Addr)
	}
	if planned == nil {
		planned = s.heirs[tp.Addr]
	}
	if planned != nil {
		next.module, next.golang, next.plan, next.area = planned.module, planned.golang, planned.plan, planned.area
		next.strays = planned.strays
		if next.first() {
			next.bare = planned.bare
		}
	} else if err := t.plan(p, next); err != nil {
		return err
	}
	added := fast.Tracepoint{Tracepoint: tp, Index: s.index()}
	same := func(other fast.Tracepoint) bool { return other.Number == tp.Number }
	if i := slices.IndexFunc(next.list, same); i >= 0 {
		next.list[i] = added
	} else {
		next.list = append(next.list, added)
	}
	heir, err := p.heir(next)
	if heir != nil || err != nil {
		t.collector.prepared[siteKey{p.pid, tp.Addr}] = heir
		return err
	}
	err = t.buildRow(p, next)
	if err != nil && planned == nil {
		next.module.planner.Release(next.plan)
	}
	return err
}

// plan decides how a location is patched, and has the program map what that takes.
func (t *Target) plan(p *process, site *padSite) error {
	m, err := p.moduleAt(site.addr, site.area)
	if err != nil {
		return err
	}
	site.module = m
	m.planner.Pads, m.planner.Wanted = site.area.padRange(), t.collector.run.Locations
	if site.judged == nil {
		t.evictNear(p, site.addr)
	}
	code := make([]byte, jump.CodeSize)
	n, _ := p.read(site.addr, code)
	function := m.survey(p.addrSpace, site.addr)
	site.golang = function.golang != nil
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
	site.plan, err = m.planner.Plan(jump.Site{Addr: site.addr, Code: code[:n], Name: function.name()})
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
	registers, err := t.collector.registerBlock()
	if err != nil {
		return err
	}
	t.collector.tags++
	return site.build(p, fast.Site{
		Registers: registers, Builtins: t.collector.builtins(site.arena), Tag: t.collector.tags,
	}, t.collector.whenFull())
}

// leadToPad writes the jumps of a site. There are none of one that threads come to through the pad in front of it.
func (t *Target) leadToPad(p *process, bp *insertedBreakpoint, writes []jump.Write) (err error) {
	site := bp.pad
	if err := site.enter(writes); err != nil {
		return err
	}
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
	if len(site.patches) > 0 {
		bp.patch = site.patches[len(site.patches)-1]
	}
	if err := bp.study(p.addrSpace); err != nil {
		return errors.Join(err, site.unwrite(p.addrSpace))
	}
	bp.ambiguous = true // whatever traps there is none of ours
	p.inserted[site.addr] = bp
	if bp.patch != nil && p.lids(site) {
		if err := p.settleLid(bp); err != nil {
			return errors.Join(err, site.unwrite(p.addrSpace))
		}
	}
	site.begin()
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
	} else if site.plan.Landing != 0 && site.first() { // lest it leads to where another pad is by then
		s.mem.WriteAt(make([]byte, jump.Trampoline), int64(site.plan.Landing))
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
	for _, site := range s.pads.sites {
		if row := s.pads.row(site.plan); len(row) > 0 {
			t.clear(s, row)
			site.module.planner.Release(site.plan)
		}
	}
	t.tidy(s)
	t.relodge(s)
	s.pads.rest()
}

// demote has the tracepoints of the site whose patch has bytes in a range be hit by an inserted breakpoint: somebody else needs the
// bytes.
func (t *Target) demote(p *process, addr arch.Addr, size int) error {
	if p.pads == nil {
		return nil
	}
	for _, site := range p.pads.inTheWay(jump.Range{Start: addr, End: addr + arch.Addr(size)}) {
		if !site.armed(p.addrSpace) {
			continue
		}
		if t.active {
			t.stopThreads(stopSet{in: p.addrSpace})
		}
		t.depositAll()
		if !site.armed(p.addrSpace) {
			continue
		}
		if site.judged != nil {
			if err := t.trapJudged(p, site); err != nil {
				return err
			}
			continue
		}
		row := p.pads.row(site.plan)
		for _, site := range row {
			t.disarm(p.addrSpace, site)
		}
		if err := t.trapInstead(p, row); err != nil {
			return err
		}
	}
	p.publish()
	return nil
}

// armed reports whether the jump of a site is in the program.
func (s *padSite) armed(space *addrSpace) bool {
	bp := space.inserted[s.addr]
	return bp != nil && bp.pad == s
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
		if site.judged != nil {
			if bp := p.trapAt(site.addr); bp != nil {
				t.leadJudged(p, bp)
			}
			continue
		}
		if site.armed(p.addrSpace) || site.strays.n >= tooManyStrays || t.divided(site) {
			continue
		}
		if blocked, err := p.blocked(site); blocked || err != nil {
			continue
		}
		if t.active {
			t.stopThreads(stopSet{in: p.addrSpace})
		}
		row := p.pads.row(site.plan)
		for _, site := range row {
			t.dropOffloaded(p.addrSpace, site.addr)
		}
		if t.arm(p, row) != nil {
			if err := t.trapInstead(p, row); err != nil {
				return err
			}
		}
	}
	p.publish()
	return nil
}

// enter has the directory tell how a site is patched, for the process that mends the program if this one is killed.
func (s *padSite) enter(writes []jump.Write) error {
	var patches []fast.Patch
	for _, w := range writes {
		patches = append(patches, fast.Patch{Addr: w.Addr, Own: w.Old, Ours: w.New})
	}
	list := s.list
	if s.judged != nil {
		list = nil
	}
	return s.arena.directory.Enter(s.pad, list, patches)
}
