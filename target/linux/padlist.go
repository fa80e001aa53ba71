//go:build linux

package linux

import (
	"slices"

	"tracewell/arch"
	"tracewell/internal/fast"
	"tracewell/internal/fast/jump"
)

// The sites of an address space are found by their addresses, by where in a pad a thread is, and by what is in their way.

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
			for _, site := range []*padSite{s.sites[plan.Addr], s.judged[plan.Addr]} {
				if site != nil && site.plan == plan && !slices.Contains(sites, site) {
					sites = append(sites, site)
				}
			}
		}
	}
	return sites
}

// add makes a site known.
func (s *pads) add(site *padSite) {
	// One that stays as it is, in a row that has changed, is not gone after all.
	delete(site.arena.retired, site.index)
	s.sites[site.addr] = site
	s.enlist(site)
	if site.first() && site.bare != nil {
		s.enlist(site.bare)
	}
}

// enlist has threads be found in the pad of a site, and on their way there.
func (s *pads) enlist(site *padSite) {
	i, _ := s.search(site.pad.Addr)
	s.ordered = slices.Insert(s.ordered, i, site)
	for _, at := range []arch.Addr{site.plan.Landing, site.plan.Hop} {
		if at != 0 && site.first() {
			s.ways[at] = site
		}
	}
}

// forget forgets the pad of a site.
func (s *pads) forget(site *padSite) {
	s.strike(site)
	if site.bare != nil {
		s.strike(site.bare)
	}
	if site.first() {
		delete(s.ways, site.plan.Landing)
		delete(s.ways, site.plan.Hop)
	}
	site.arena.reader.Forget(site.index)
	switch {
	case site.stuck:
	case site.arena == s.arena: // the directory tells what its frames mean as long as there are any
		s.arena.retired[site.index] = s.arena.reader.Tail()
	default:
		site.arena.directory.Remove(site.index)
	}
}

// strike takes the pad of a site out of the list, if it is there.
func (s *pads) strike(site *padSite) {
	for i, _ := s.search(site.pad.Addr); i < len(s.ordered) && s.ordered[i].pad.Addr == site.pad.Addr; {
		if s.ordered[i] != site {
			i++
			continue
		}
		s.ordered = slices.Delete(s.ordered, i, i+1)
	}
}

// tidy removes from the directory the sites that are gone and whose frames have all been kept.
func (t *Target) tidy(s *addrSpace) {
	if s.pads == nil || s.pads.arena == nil {
		return
	}
	a := s.pads.arena
	released := t.collector.released(a)
	for index, position := range a.retired {
		if position <= released {
			a.directory.Remove(index)
			delete(a.retired, index)
		}
	}
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

// rest takes back the memory of all pads of tracepoints, of which there are none.
func (s *pads) rest() {
	if s.stuck || s.arena == nil {
		return
	}
	for _, area := range s.arena.areas {
		area.used, area.free = 0, nil
	}
}
