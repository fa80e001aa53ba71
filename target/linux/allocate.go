//go:build linux

package linux

import (
	"fmt"
	"math"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/target"
)

// Allocate implements target.Allocator.
func (t *Target) Allocate(pid int, size uint64, access target.Access) (at arch.Addr, err error) {
	if size == 0 || size > math.MaxInt64 {
		return 0, fmt.Errorf("%d bytes of memory are not to be had", size)
	}
	err = t.injecting(pid, func(p *process, c *calls) error {
		protection := sys.Protection(access.Read, access.Write, access.Exec)
		// Nobody knows where the program will want memory of its own, so the kernel chooses.
		got, err := c.make(sys.CallMmap, 0, size, uint64(protection), sys.OwnMemory, ^uint64(0), 0)
		if err != nil {
			return err
		}
		at = arch.Addr(got)
		p.lent[at] = int(size)
		return nil
	})
	return at, err
}

// Release implements target.Allocator.
func (t *Target) Release(pid int, addr arch.Addr) error {
	return t.injecting(pid, func(p *process, c *calls) error {
		size, ok := p.lent[addr]
		if !ok {
			return fmt.Errorf("no memory was allocated at %s", addr)
		}
		// Whether or not it can be unmapped, it is not to be unmapped twice: other memory may be there then.
		delete(p.lent, addr)
		return c.unmap(addr, size)
	})
}

// injecting has a function make system calls in a process. Where no thread can make any, the error is target.ErrUnsupported.
func (t *Target) injecting(pid int, f func(p *process, c *calls) error) error {
	return t.onProcess(pid, func(p *process) error {
		c, err := t.beginCalls(p)
		if err != nil {
			return fmt.Errorf("%w: %w", target.ErrUnsupported, err)
		}
		defer c.end()
		return f(p, c)
	})
}
