//go:build linux

package linux

import (
	"tracewell/arch"
	"tracewell/fast/jump"
)

// If the tracer is killed, a stopped task goes on with the registers that the kernel has. Where those would have it run into the
// middle of a jump, or into a pad that is gone, the kernel gets others: the task is lodged in a pad, and the session still sees it
// at the instruction of the program. As it is resumed it is sent from there (redirect).

// shelter lodges the stopped tasks that stand where a jump to the pads of a row is about to be written.
func (t *Target) shelter(s *addrSpace, row []*padSite, jumps []jump.Write) {
	head := row[0].addr
	for _, w := range jumps {
		if w.Addr != head {
			continue
		}
		for k := range t.within(s) {
			if k.fetch() != nil || k.pc() <= head || k.pc() >= head+arch.Addr(len(w.New)) {
				continue
			}
			if _, to, ok := k.through(row, k.pc()); ok {
				k.lodge(to)
			}
		}
	}
}

// relodge has no task be lodged in pads that are about to be overwritten.
func (t *Target) relodge(s *addrSpace) {
	for k := range t.within(s) {
		if !k.lodged || k.fetch() != nil {
			continue
		}
		if site, to := k.under(k.pc()); site != nil {
			k.lodge(to)
		} else {
			k.flush()
			k.lodged = false
		}
	}
}

// within goes through the stopped tasks in an address space.
func (t *Target) within(s *addrSpace) func(yield func(*task) bool) {
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
	k.lodged = true
}
