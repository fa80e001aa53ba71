//go:build linux

package linux

import (
	"fmt"

	"tracewell/arch"
	"tracewell/target"
)

// ThreadLocals implements target.Groups.
func (t *Target) ThreadLocals() target.ThreadLocals { return t }

// ThreadPointer implements target.ThreadLocals.
func (t *Target) ThreadPointer(id target.ThreadID) (pointer arch.Addr, err error) {
	err = t.onPointer(id, func(_ *process, p arch.Addr) error {
		pointer = p
		return nil
	})
	return pointer, err
}

// onPointer runs f with the pointer of a thread. It stays the same while the thread runs, so that of a running one is as it was
// when that had stopped last.
func (t *Target) onPointer(id target.ThreadID, f func(p *process, pointer arch.Addr) error) error {
	err := fmt.Errorf("%w: %s", target.ErrNoThread, id)
	t.do(func() {
		k := t.tasks[id.TID]
		if k == nil || k.role != member || k.proc.pid != id.PID || k.state == zombie {
			return
		}
		if err = nil; k.state == stopped {
			err = k.fetch()
		}
		if k.state == stopped && err == nil || k.pointer == 0 {
			k.pointer = host.threadPointer(k.tid, &k.regs)
		}
		if err == nil {
			err = f(k.proc, k.pointer)
		}
	})
	return err
}

// ThreadLocal implements target.ThreadLocals.
func (t *Target) ThreadLocal(id target.ThreadID, object arch.Addr, offset uint64) (addr arch.Addr, err error) {
	err = t.onPointer(id, func(p *process, pointer arch.Addr) error {
		space, err := p.programSpace()
		if err != nil {
			return err
		}
		block, err := space.ThreadLocals(pointer, object)
		addr = block + arch.Addr(offset)
		return err
	})
	return addr, err
}
