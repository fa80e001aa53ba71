//go:build linux

package linux

import (
	"iter"
	"slices"

	"tracewell/arch"
	"tracewell/internal/fast/jump"
)

// If the tracer is killed, a stopped task goes on with the registers that the kernel has. Where those would have it run into the
// middle of a jump, or into a pad that is gone, the kernel gets others: the task is lodged in a pad, and the session still sees it
// at the instruction of the program. As it is resumed it is sent from there (redirect).

// shelter lodges the stopped tasks that stand where the jump to the pads of a row is about to be written.
func (t *Target) shelter(s *addrSpace, row []*padSite) {
	guards := row[0].plan.Guards
	if len(guards) == 0 {
		return
	}
	for k := range t.within(s) {
		if k.fetch() != nil || !slices.ContainsFunc(guards, func(g jump.Guard) bool { return g.PC == k.pc() }) {
			continue
		}
		if _, to, ok := k.through(row, k.pc()); ok {
			k.lodge(to)
		}
	}
}

// relodge has no task be lodged in pads that are about to be overwritten or unmapped.
func (t *Target) relodge(s *addrSpace) {
	for k := range t.within(s) {
		if k.lodged && k.fetch() == nil {
			k.lodge(k.haven())
		}
	}
}

// within goes through the stopped tasks in an address space.
func (t *Target) within(s *addrSpace) iter.Seq[*task] {
	return func(yield func(*task) bool) {
		for _, k := range t.tasks {
			if k.proc.addrSpace == s && k.state == stopped && !yield(k) {
				return
			}
		}
	}
}

// lodge tells the kernel where a stopped task, whose registers have been fetched, goes on if the tracer is killed.
func (k *task) lodge(to arch.Addr) {
	at := k.pc()
	k.setPC(to)
	k.flush()
	k.setPC(at)
	k.lodged = to != at
}

// haven is where a stopped task, whose registers have been fetched, goes on right if the tracer is killed: not in front of a guard.
func (k *task) haven() arch.Addr {
	if site, to := k.under(k.pc()); site != nil {
		return to
	}
	return k.pc()
}
