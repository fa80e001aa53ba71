//go:build linux

package linux

import (
	"slices"

	"tracewell/arch"
)

// A task that runs in the memory of a program and whose hits do not count, as a vfork child's, must not run through pads. While
// there is one, each jump has a lid: threads stop there, and go on in the pad or, if they do not count, in its copy of the
// displaced instructions.

// settleLids puts lids on the jumps of an address space or takes them off, as its tasks require.
func (t *Target) settleLids(s *addrSpace) {
	if s.pads == nil {
		return
	}
	// A breakpoint's pad needs none: who stops in it, and is nobody of the session's, goes on.
	needed := false
	for _, k := range t.tasks {
		needed = needed || k.proc.addrSpace == s && !k.counts()
	}
	if needed == s.pads.lidded {
		return
	}
	s.pads.lidded = needed
	for _, site := range s.pads.ordered {
		if bp := s.inserted[site.addr]; bp != nil && bp.pad == site && site.judged == nil && site.first() {
			s.warn(s.settleLid(bp))
		}
	}
}

// settleLid is settleLids for one site.
func (s *addrSpace) settleLid(bp *insertedBreakpoint) error {
	if s.pads.lidded {
		return s.code.Cover(bp.patch, host.isa().Machine.Breakpoint)
	}
	return s.code.Uncover(bp.patch)
}

// counts reports whether the hits of a task count.
func (k *task) counts() bool { return k.role == member && k.proc.traced }

// atLid moves a task that has run into a lid on, also into one that has been taken off since.
func (t *Target) atLid(k *task, pc arch.Addr) bool {
	bp := k.proc.inserted[pc-trapShift()]
	if bp == nil || bp.pad == nil || !slices.Contains(bp.pad.patches, bp.patch) || !k.byBreakpoint() {
		return false
	}
	k.forget()
	if k.fetch() != nil {
		return false
	}
	if k.counts() {
		k.setPC(bp.pad.pad.Addr)
	} else {
		k.setPC(bp.pad.uncounted(k.proc.addrSpace))
	}
	return true
}
