//go:build linux

package linux

import (
	"bytes"
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/target/linux/internal/patch"
)

// Displaced instructions are executed in buffers in scratch mappings, which the program is made to map. A breakpoint that comes
// back to its address, as it does whenever the session has had a look at the program, gets its buffer back if the instruction is
// still the same.

const (
	scratchSize = 1 << 16
	// clearance is kept free above a scratch mapping, where a heap or the kernel's next mapping may grow.
	clearance = 1 << 20
	// lowestMapping is where a mapping may start at all, vm.mmap_min_addr as distributions set it.
	lowestMapping = 1 << 16
)

// giveBuffer makes a displaced-stepping buffer for a breakpoint. Where that is impossible the instruction is stepped in place:
// slower, never wrong.
func (t *Target) giveBuffer(p *process, bp *insertedBreakpoint) {
	if bp.insn == nil {
		bp.useRelocated(p)
		return
	}
	if !bp.insn.CanRelocate() {
		return
	}
	if bp.buffer = p.copyOf(bp); bp.buffer != nil {
		return
	}
	at, err := t.reserveNear(p, bp.addr)
	if err != nil {
		return
	}
	if code, resume, ok := bp.insn.Relocate(at); ok {
		bp.buffer, _ = p.code.Place(at, bufferSize, code, pointsOf(bp.insn, bp.addr, resume)...)
	}
	if bp.buffer == nil {
		p.code.Return(at, bufferSize)
	}
}

// pointsOf is the pc map of the copy of one instruction, with the jump back at offset resume.
func pointsOf(insn instruction, at arch.Addr, resume int) []patch.Point {
	if c, ok := insn.(copied); ok {
		return c.points(at)
	}
	return []patch.Point{{PC: at}, {Offset: resume, PC: at + arch.Addr(insn.Len())}}
}

// copyOf returns a buffer that has a copy of the instruction under a breakpoint already, nil if there is none.
func (p *process) copyOf(bp *insertedBreakpoint) *patch.Buffer {
	for _, b := range p.code.Copies(bp.addr) {
		if code, _, ok := bp.insn.Relocate(b.Addr()); ok && bytes.Equal(code, b.Code()) {
			return b
		}
	}
	return nil
}

// reserveNear returns room for a buffer within reach of addr, in a new mapping if need be.
func (t *Target) reserveNear(p *process, addr arch.Addr) (arch.Addr, error) {
	near := func(base arch.Addr) bool { return distance(base, addr) < reach }
	if at, ok := p.code.Reserve(bufferSize, near); ok {
		return at, nil
	}
	maps, err := sys.Mappings(p.alive())
	if err != nil {
		return 0, err
	}
	base, ok := freeNear(maps, addr)
	if !ok {
		return 0, fmt.Errorf("no free address space near %s", addr)
	}
	if err := t.mapScratch(p, base); err != nil {
		return 0, err
	}
	p.code.AddArea(base, scratchSize)
	at, _ := p.code.Reserve(bufferSize, near)
	return at, nil
}

// freeNear finds room for a scratch mapping below the mapping that holds addr, or below the nearest one under it that has
// room: downwards nothing grows but stacks, and those the kernel guards. Where there is none, it is far above.
func freeNear(maps []sys.Mapping, addr arch.Addr) (arch.Addr, bool) {
	for i := len(maps) - 1; i >= 0; i-- {
		if arch.Addr(maps[i].Start) > addr {
			continue
		}
		floor := uint64(lowestMapping)
		if i > 0 {
			floor = maps[i-1].End
		}
		for _, room := range []uint64{scratchSize + clearance, scratchSize} {
			base := arch.Addr(maps[i].Start - room)
			if maps[i].Start >= floor+room && distance(base, addr) < reach {
				return base, true
			}
		}
	}
	// A program at the lowest addresses has nothing below. Far above it there is a heap at the most, which grows elsewhere from where
	// it cannot grow on.
	base := (addr + reach/2) &^ (scratchSize - 1)
	taken := func(m sys.Mapping) bool {
		return uint64(base) < m.End+clearance && m.Start < uint64(base)+scratchSize+clearance
	}
	return base, !slices.ContainsFunc(maps, taken)
}

func distance(a, b arch.Addr) arch.Addr { return max(a, b) - min(a, b) }

// mapScratch maps a page range in the program for execution. The tracer writes it from outside, so it need not be writable.
func (t *Target) mapScratch(p *process, base arch.Addr) error {
	c, err := t.beginCalls(p)
	if err != nil {
		return err
	}
	defer c.end()
	return c.mapAt(base, scratchSize, sys.ReadExecute, sys.OwnMemory|sys.OnlyWhereFree, -1, 0)
}

// unmapScratch has the program unmap its scratch mappings. They stay where the program filters its system calls and that cannot be
// suspended.
func (t *Target) unmapScratch(p *process) {
	err := p.code.DropAreas(func(base arch.Addr, size int) error {
		c, err := t.beginCalls(p)
		if err != nil {
			return err
		}
		defer c.end()
		return c.unmap(base, size)
	})
	if err == nil {
		clear(p.relocated)
		p.rooms = nil
	}
}
