//go:build linux

package linux

import (
	"fmt"
	"os"
	"slices"
	"time"

	"tracewell/arch"
	"tracewell/internal/sys"
)

// A program may unload a library, and load another one in its place, without anybody being told. So before anything is planned,
// what is known of the program's code is held against what it has mapped now.

// refresh forgets the modules that are not mapped any more, and has the next Apply take out the sites whose jumps are gone. It does
// so once for all locations that are applied together.
func (t *Target) refresh(p *process) error {
	s := p.pads
	if s.fresh { // what has changed since is found when it is written to
		return nil
	}
	maps, err := sys.Mappings(p.alive())
	if err != nil {
		return err
	}
	s.fresh = true
	for _, site := range s.sites {
		if site.first() && p.lost(site) && !slices.Contains(s.lost, site.plan) {
			s.lost = append(s.lost, site.plan)
		}
	}
	// A module with a jump that is whole is still there, though its mapping may have been split: its planner knows what holds what.
	gone := func(m *module) bool {
		return (!slices.Contains(maps, m.mapping) || m.changed(p.pid) || s.hasLost(m)) && !p.hasWhole(m)
	}
	for _, site := range s.judged {
		if gone(site.module) {
			t.forgetSite(p, site)
		}
	}
	s.modules = slices.DeleteFunc(s.modules, gone)
	if s.room != nil {
		s.room.Renew(gaps(maps))
	}
	return nil
}

// hasLost reports whether a site of a module is lost.
func (s *pads) hasLost(m *module) bool {
	for _, site := range s.sites {
		if site.module == m && slices.Contains(s.lost, site.plan) {
			return true
		}
	}
	return false
}

// hasWhole reports whether a jump is in a module.
func (s *addrSpace) hasWhole(m *module) bool {
	for _, sites := range []map[arch.Addr]*padSite{s.pads.sites, s.pads.judged} {
		for _, site := range sites {
			if site.module == m && len(site.patches) > 0 && (site.judged != nil || !s.lost(site)) {
				return true
			}
		}
	}
	return false
}

// clearLost takes the sites out whose code is gone, with all threads stopped.
func (t *Target) clearLost(p *process) {
	if p.pads == nil {
		return
	}
	for _, plan := range p.pads.lost {
		if row := p.pads.row(plan); len(row) > 0 {
			t.clear(p.addrSpace, row)
			row[0].module.planner.Release(plan)
			t.reclaimRow(p.pads, row, nil)
		}
	}
	p.pads.lost = nil
}

// changed reports whether the file of a module is another one by now, or has other contents: the kernel gives the number of a file
// that was removed to a new one.
func (m *module) changed(pid int) bool {
	now, err := os.Stat(m.path(pid))
	return err == nil && m.modified != (time.Time{}) && now.ModTime() != m.modified
}

// path is where a process finds the file of a module.
func (m *module) path(pid int) string { return fmt.Sprintf("/proc/%d/root%s", pid, m.mapping.Path) }

// lost reports whether the code of a site is gone, or is other code, so that nothing of it is to be relied on. The jump of a site
// under a lid is not looked at.
func (s *addrSpace) lost(site *padSite) bool {
	if s.pads.lidded || len(site.patches) == 0 {
		return false
	}
	return !s.code.Intact(site.patches[len(site.patches)-1])
}

// inUse reports whether a site, or one of its tracepoints, has an index.
func (s *pads) inUse(index int) bool {
	for _, site := range s.sites {
		if site.index == index {
			return true
		}
		for _, tp := range site.list {
			if tp.Index == index {
				return true
			}
		}
	}
	// The directory has the entry as long as there are frames of the site.
	return slices.ContainsFunc(s.arenas(), func(a *arena) bool {
		_, retired := a.retired[index]
		return retired
	})
}

// reclaim gives back the room of a site's pad, unless the site is in force or may be. Nothing leads to the pad any more, and no
// thread of the process is in it; what is known of vfork children is not enough to say that of them.
func (t *Target) reclaim(s *pads, site *padSite) {
	if site == nil || site.pad == nil {
		return
	}
	for _, other := range []*padSite{s.sites[site.addr], s.heirs[site.addr]} {
		if other != nil && other.pad == site.pad {
			return
		}
	}
	if site.stuck || s.stuck || t.children > 0 {
		return
	}
	site.area.give(site.pad.Addr, len(site.pad.Code))
}

// reclaimRow is reclaim for a row that was taken out, of the pads that the one after it has not got.
func (t *Target) reclaimRow(s *pads, before, after []*padSite) {
	kept := func(site *padSite) bool {
		return slices.ContainsFunc(after, func(o *padSite) bool { return o.pad == site.pad })
	}
	for _, site := range before {
		if !kept(site) {
			t.reclaim(s, site)
		}
	}
}

// span is free room in an area for pads.
type span struct {
	at   arch.Addr
	size int
}

func (s span) end() arch.Addr { return s.at + arch.Addr(s.size) }

// places returns where a pad may be put: in the largest room that another has left, and behind all others.
func (a *padArea) places() (at []arch.Addr) {
	if i := a.largest(); i >= 0 {
		at = append(at, a.free[i].at)
	}
	return append(at, a.pads()+arch.Addr(a.used))
}

// largest is the index of the largest free room, -1 for none.
func (a *padArea) largest() int {
	largest := -1
	for i := range a.free {
		if largest < 0 || a.free[i].size > a.free[largest].size {
			largest = i
		}
	}
	return largest
}

// take takes room for a pad at one of the places, and reports false if there is not as much.
func (a *padArea) take(at arch.Addr, size int) bool {
	size = (size + padAlign - 1) &^ (padAlign - 1) // so that no pad shares a line of the cache
	if at == a.pads()+arch.Addr(a.used) {
		if a.used+size > padAreaSize {
			return false
		}
		a.used += size
		return true
	}
	i := slices.IndexFunc(a.free, func(s span) bool { return s.at == at })
	if i < 0 || a.free[i].size < size {
		return false
	}
	a.free[i].at += arch.Addr(size)
	if a.free[i].size -= size; a.free[i].size == 0 {
		a.free = slices.Delete(a.free, i, i+1)
	}
	return true
}

// give gives back the room of a pad.
func (a *padArea) give(at arch.Addr, size int) {
	s := span{at, (size + padAlign - 1) &^ (padAlign - 1)}
	// In order, and joined with what is beside it.
	i := 0
	for i < len(a.free) && a.free[i].at < s.at {
		i++
	}
	a.free = slices.Insert(a.free, i, s)
	for _, left := range []int{i, i - 1} {
		if left >= 0 && left+1 < len(a.free) && a.free[left].end() == a.free[left+1].at {
			a.free[left].size += a.free[left+1].size
			a.free = slices.Delete(a.free, left+1, left+2)
		}
	}
}

// has reports whether an area has room for pads of a size in all.
func (a *padArea) has(size int) bool {
	i := a.largest()
	return a.used+size <= padAreaSize || i >= 0 && a.free[i].size >= size
}
