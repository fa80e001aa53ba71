//go:build linux

package linux

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/internal/fast"
	"tracewell/internal/fast/jump"
	"tracewell/internal/sys"
)

// A forked child has a copy of its parent's pads, and the same pages as its parent of what the pads write to. Its jumps are taken
// out before its first instruction, like all patches (process.fork). If it is to be traced where its parent was, memory of its own
// is mapped in place of what is shared: then the copies of the pads are right as they are, and nothing has to be planned or built.
// That is done for the first tracepoint that is offloaded for the child. A child with none keeps the mappings, which do no harm.

// legacy is the pads that a forked child may go on with. Its arena is nothing but places.
type legacy struct {
	*pads
	run uint64 // the collector's at the fork; the pads are those of no other one
}

// fork makes the legacy of a child that is a copy of the address space.
func (s *pads) fork(run uint64) *legacy {
	if s == nil || s.arena == nil || s.room == nil || s.stuck {
		return nil
	}
	child := newPads()
	child.arena, child.heirs = &arena{shape: s.arena.shape, retired: make(map[int]uint64)}, make(map[arch.Addr]*padSite)
	child.room, child.pages, child.indexes = s.room.Fork(), slices.Clone(s.pages), s.indexes
	// The copies refer to one another, never to what is the parent's.
	areas, modules := make(map[*padArea]*padArea), make(map[*module]*module)
	for _, area := range s.arena.areas {
		areas[area] = &padArea{area.base, area.used, slices.Clone(area.free)}
		child.arena.areas = append(child.arena.areas, areas[area])
	}
	kept := make(map[*jump.Plan]bool)
	for _, site := range s.sites {
		if s.inheritable(site) {
			kept[site.plan] = true
		}
	}
	for _, m := range s.modules {
		copied := *m
		copied.planner = m.planner.Fork(child.room, func(p *jump.Plan) bool { return kept[p] })
		modules[m] = &copied
		child.modules = append(child.modules, &copied)
	}
	for addr, site := range s.sites {
		if kept[site.plan] {
			heir := *site
			heir.arena, heir.area, heir.module = child.arena, areas[site.area], modules[site.module]
			heir.patches, heir.stuck = nil, false
			child.heirs[addr] = &heir
		}
	}
	return &legacy{child, run}
}

// inheritable reports whether a child may go on with the pad of a site. What shares a jump with others is made anew in the child.
func (s *pads) inheritable(site *padSite) bool {
	return !site.stuck && !site.idle && len(s.row(site.plan)) == 1 && site.first() && slices.Contains(s.modules, site.module)
}

// inherit has a forked child own what its parent's pads were about to write to. The child has not run since, or has run without
// jumps. After an error it has no pads, and the legacy is forgotten.
func (t *Target) inherit(p *process) error {
	l := p.legacy
	p.legacy = nil
	if err := l.present(p); err != nil {
		return nil // the fork is from another time; pads are made from scratch
	}
	mayFilter := p.mayFilter() // before the child stands still for it
	c, err := t.beginCalls(p)
	if err != nil {
		return err
	}
	// In place of the parent's pages first come zeros, for the name of the new file to be written to.
	a := l.arena
	first := a.areas[0]
	if err = c.mapAt(first.base, fast.ControlSize, sys.ReadExecute, sys.OwnMemory|sys.InPlaceOf, -1, 0); err == nil {
		err = a.share(c)
	}
	for i := 1; i < len(a.areas) && err == nil; i++ {
		err = c.mapControl(a, a.areas[i])
	}
	if err == nil {
		err = a.keepActions(c)
	}
	c.end()
	if err == nil {
		err = a.open(t.owner, p, mayFilter)
	}
	if err != nil {
		return errors.Join(err, t.discard(p, l.pages, a))
	}
	if l.run != t.collector.begun.Load() {
		l.disinherit()
	}
	p.pads = l.pads
	t.adopted(p, a)
	return nil
}

// present reports as an error what a child has not got of its legacy: its fork may be older than that.
func (l *legacy) present(p *process) error {
	maps, err := sys.Mappings(p.alive())
	if err != nil {
		return err
	}
	mapped := func(at arch.Addr, size int, shared bool) bool {
		for end := at + arch.Addr(size); at < end; { // what is mapped twice in a row may be shown as one or two
			i := slices.IndexFunc(maps, func(m sys.Mapping) bool { return m.Start <= uint64(at) && uint64(at) < m.End })
			if i < 0 || shared != (maps[i].Path == memfdPath) || !shared && !(maps[i].Exec && maps[i].Private && maps[i].Path == "") {
				return false
			}
			at = arch.Addr(maps[i].End)
		}
		return true
	}
	whole := mapped(l.arena.shape.Ring, 2*l.arena.shape.RingSize, true)
	for _, area := range l.arena.areas {
		whole = whole && mapped(area.base, fast.ControlSize, true) && mapped(area.pads(), padAreaSize, false)
	}
	for _, page := range l.pages {
		whole = whole && mapped(page, pageSize, false)
	}
	if !whole {
		return errors.New("not all of the parent's pads are in the copy")
	}
	return nil
}

// heir returns what a site that is to be would be, if it has been inherited: the pad of the same tracepoints, in the child's
// memory.
func (p *process) heir(next *padSite) (*padSite, error) {
	heir := p.pads.heirs[next.addr]
	if heir == nil || len(heir.list) != len(next.list) {
		return nil, nil
	}
	for i := range heir.list {
		if heir.list[i].Tracepoint != next.list[i].Tracepoint {
			return nil, nil
		}
	}
	now := make([]byte, len(heir.pad.Code))
	if n, _ := p.mem.ReadAt(now, int64(heir.pad.Addr)); n == len(now) && bytes.Equal(now, heir.pad.Code) {
		return heir, nil
	}
	// It was written after the fork.
	if _, err := p.mem.WriteAt(heir.pad.Code, int64(heir.pad.Addr)); err != nil {
		return nil, fmt.Errorf("cannot write a pad at %s: %w", heir.pad.Addr, err)
	}
	return heir, nil
}

// disinherit gives up what is left of a legacy once the child's tracepoints have been offloaded.
func (s *pads) disinherit() {
	for addr, heir := range s.heirs {
		if site := s.sites[addr]; site == nil || site.plan != heir.plan {
			heir.module.planner.Release(heir.plan)
			heir.area.give(heir.pad.Addr, len(heir.pad.Code))
		}
	}
	s.heirs = nil
}

// bequeath gives a forked child the sites of its parent, which is about to be let go: the run goes on in the child. Those that
// it cannot have remain, to be traps there.
func (t *Target) bequeath(from, to *process) error {
	if to.legacy == nil || from.pads.arena == nil || to.legacy.run != t.collector.begun.Load() {
		return nil
	}
	if err := t.inherit(to); err != nil || to.pads == nil || to.pads.heirs == nil {
		return err
	}
	t.depositAll()
	t.collector.variables.handOver(from.pads.arena, to.pads.arena)
	t.enterThreads(to)
	for addr, site := range to.pads.heirs {
		heir, err := to.heir(&padSite{addr: addr, list: site.list})
		if err == nil {
			for _, r := range t.renew(to, heir.plan, []*padSite{heir}) {
				err = r.Err
			}
		}
		to.warn(err)
	}
	// What is left becomes traps (moveSites).
	to.pads.disinherit()
	t.settleLids(to.addrSpace)
	to.publish()
	return nil
}
