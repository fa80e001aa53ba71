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
	if s.fresh {
		return nil
	}
	maps, err := sys.Mappings(p.alive())
	if err != nil {
		return err
	}
	s.fresh = true
	gone := make(map[*module]bool)
	for _, m := range s.modules {
		gone[m] = !slices.Contains(maps, m.mapping) || m.changed(p.pid)
	}
	for addr, site := range s.sites {
		if !p.lost(site) {
			continue
		}
		gone[site.module] = true
		at := siteKey{p.pid, addr}
		if _, changes := t.collector.prepared[at]; !changes {
			t.collector.prepared[at] = nil
		}
	}
	s.modules = slices.DeleteFunc(s.modules, func(m *module) bool { return gone[m] })
	if s.room != nil {
		s.room.Renew(gaps(maps))
	}
	return nil
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
	return false
}

// discard gives back the room of a site's pad, unless the site is in force or may be. Nothing leads to the pad any more, and no
// thread of the process is in it; what is known of vfork children is not enough to say that of them.
func (t *Target) discard(s *pads, site *padSite) {
	if site == nil || site.pad == nil || s.sites[site.addr] == site || s.heirs[site.addr] == site {
		return
	}
	if site.stuck || s.stuck || t.children > 0 {
		return
	}
	site.area.give(site.pad.Addr, len(site.pad.Code))
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
	size = (size + padAlign - 1) &^ (padAlign - 1)
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

// full reports whether an area has next to no room.
func (a *padArea) full() bool { return len(a.free) == 0 && a.used+largestPad > padAreaSize }

// largestPad is more than any but a strange pad takes.
const largestPad = 16 << 10
