//go:build linux

package linux

import (
	"tracewell/arch"
	"tracewell/target"
)

// ThreadLocals implements target.Groups.
func (t *Target) ThreadLocals() target.ThreadLocals { return t }

// ThreadPointer implements target.ThreadLocals.
func (t *Target) ThreadPointer(id target.ThreadID) (pointer arch.Addr, err error) {
	err = t.onTask(id, func(k *task) error {
		err := k.fetch()
		pointer = host.threadPointer(&k.regs)
		return err
	})
	return pointer, err
}

// ThreadLocal implements target.ThreadLocals.
func (t *Target) ThreadLocal(id target.ThreadID, object arch.Addr, offset uint64) (addr arch.Addr, err error) {
	err = t.onTask(id, func(k *task) error {
		if err := k.fetch(); err != nil {
			return err
		}
		space, err := k.proc.programSpace()
		if err != nil {
			return err
		}
		block, err := space.ThreadLocals(host.threadPointer(&k.regs), object)
		addr = block + arch.Addr(offset)
		return err
	})
	return addr, err
}
