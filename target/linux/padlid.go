//go:build linux

package linux

import (
	"slices"

	"tracewell/arch"
)

// A task that runs in the memory of a program and whose hits do not count, as a vfork child's, must not run through pads. Nor may
// one whose hits count for another process than that of the pads, which tell their process in frames. While there is one, each jump
// has a lid: threads stop there, and go on in the pad or, if they do not count, in its copy of the displaced instructions. What
// counts for another process is a hit of a trap.

// settleLids puts lids on the jumps of an address space or takes them off, as its tasks require.
func (t *Target) settleLids(s *addrSpace) {
	if s.pads == nil {
		return
	}
	needed, foreign := false, false
	for _, k := range t.tasks {
		if k.proc.addrSpace == s {
			needed, foreign = needed || !k.counts() || k.borrows(), foreign || k.role != member
		}
	}
	if needed == s.pads.lidded && foreign == s.pads.foreign {
		return
	}
	s.pads.lidded, s.pads.foreign = needed, foreign
	for _, site := range s.pads.ordered {
		if bp := s.inserted[site.addr]; bp != nil && bp.pad == site && site.first() {
			s.warn(s.settleLid(bp))
		}
	}
}

// settleLid is settleLids for one site.
func (s *addrSpace) settleLid(bp *insertedBreakpoint) error {
	if s.lids(bp.pad) {
		return s.code.Cover(bp.patch, host.breakpoint())
	}
	return s.code.Uncover(bp.patch)
}

// lids reports whether the jump of a site has a lid. Those of breakpoints need none, unless they print: where a pad stops a task
// that is nobody of the session's, it just goes on.
func (s *addrSpace) lids(site *padSite) bool {
	if site.judged != nil {
		return site.prints && s.pads.foreign
	}
	return s.pads.lidded
}

// counts reports whether the hits of a task count.
func (k *task) counts() bool { return k.role == member && k.proc.traced }

// borrows reports whether a task is of another process than the one that its memory's pads tell of.
func (k *task) borrows() bool {
	return k.proc.pads != nil && k.proc.pads.arena != nil && int64(k.proc.pid) != k.proc.pads.process
}

// lidAt returns the jump under the lid that a task has run into which hits it as a trap, nil if there is none.
func (k *task) lidAt(at arch.Addr) *insertedBreakpoint {
	if bp := k.proc.inserted[at]; bp != nil && bp.pad != nil && bp.pad.judged == nil && k.counts() && k.borrows() {
		return bp
	}
	return nil
}

// atLid moves a task that has run into a lid on, also into one that has been taken off since.
func (t *Target) atLid(k *task, pc arch.Addr) bool {
	bp := k.proc.inserted[pc-trapShift()]
	if bp == nil || bp.pad == nil || !slices.Contains(bp.pad.patches, bp.patch) || k.lidAt(bp.addr) != nil || !k.byBreakpoint() {
		return false
	}
	k.forget()
	if k.fetch() != nil {
		return false
	}
	if k.counts() || bp.pad.judged != nil && k.role == member {
		k.setPC(bp.pad.pad.Addr)
	} else {
		k.setPC(bp.pad.uncounted(k.proc.addrSpace))
	}
	return true
}
