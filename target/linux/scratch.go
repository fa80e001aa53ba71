//go:build linux && amd64

package linux

import (
	"bytes"
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/sys"
)

// scratch is a mapping in the program that holds slots. Slots are handed out once and kept, so that no task can ever be in a
// slot that has changed. A trap that comes back to its address, as a breakpoint does whenever the session has had a look
// at the program, gets its slot back if the instruction is still the same.
type scratch struct {
	base  arch.Addr
	used  int
	slots map[arch.Addr]slot // by the address of the instruction, the latest
}

// slot is a copy of an instruction, with the jump back.
type slot struct {
	at     arch.Addr
	code   []byte
	resume int // offset behind the copy
}

const (
	scratchSize = 1 << 16
	// reach is how far a slot may lie from its instruction, so that a jump and most operands relative to the pc still
	// reach, data of the same object a little farther off included.
	reach = 1<<31 - 1<<28
	// clearance is kept free above a scratch mapping, where a heap or the kernel's next mapping may grow.
	clearance = 1 << 20
	// lowestMapping is where a mapping may start at all, vm.mmap_min_addr as distributions set it.
	lowestMapping = 1 << 16
)

// giveSlot makes a slot for a trap. Where that is impossible the instruction is stepped in place: slower, never wrong.
func (t *Target) giveSlot(p *process, tr *trap) {
	if tr.insn == nil {
		tr.takeForeign(p)
		return
	}
	if !tr.insn.CanRelocate() {
		return
	}
	if p.regainSlot(tr) {
		return
	}
	s, err := t.scratchNear(p, tr.addr)
	if err != nil {
		return
	}
	at := s.base + arch.Addr(s.used)
	code, resume, ok := tr.insn.Relocate(at)
	if !ok {
		return
	}
	if _, err := p.mem.WriteAt(code, int64(at)); err != nil {
		return
	}
	s.used += amd64.SlotSize
	s.slots[tr.addr] = slot{at, code, resume}
	tr.slot, tr.resume = at, resume
}

// regainSlot gives a trap the slot that one of the same instruction had, and reports whether there was one.
func (p *process) regainSlot(tr *trap) bool {
	for _, s := range p.scratch {
		old, had := s.slots[tr.addr]
		if !had {
			continue
		}
		if code, _, ok := tr.insn.Relocate(old.at); ok && bytes.Equal(code, old.code) {
			tr.slot, tr.resume = old.at, old.resume
			return true
		}
	}
	return false
}

// scratchNear returns a scratch mapping within reach of addr that has room.
func (t *Target) scratchNear(p *process, addr arch.Addr) (*scratch, error) {
	for _, s := range p.scratch {
		if distance(s.base, addr) < reach && s.used+amd64.SlotSize <= scratchSize {
			return s, nil
		}
	}
	if p.noScratch {
		return nil, errors.New("the program's system calls are filtered")
	}
	maps, err := sys.Mappings(p.alive())
	if err != nil {
		return nil, err
	}
	base, ok := freeNear(maps, addr)
	if !ok {
		return nil, fmt.Errorf("no free address space near %s", addr)
	}
	if err := t.mapScratch(p, base); err != nil {
		return nil, err
	}
	s := &scratch{base: base, slots: make(map[arch.Addr]slot)}
	p.scratch = append(p.scratch, s)
	return s, nil
}

// freeNear finds room for a scratch mapping below the mapping that holds addr, or below the nearest one under it that has
// room: downwards nothing grows but stacks, and those the kernel guards.
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
	return 0, false
}

func distance(a, b arch.Addr) arch.Addr { return max(a, b) - min(a, b) }

// mapScratch maps a page range in the program for execution. The tracer writes it from outside, so it need not be writable.
func (t *Target) mapScratch(p *process, base arch.Addr) error {
	const protReadExec, mapPrivate, mapAnonymous, mapFixedNoReplace = 0x5, 0x2, 0x20, 0x100000
	got, err := t.inject(p, sysMmap, uint64(base), scratchSize, protReadExec, mapPrivate|mapAnonymous|mapFixedNoReplace, ^uint64(0), 0)
	if err == nil && arch.Addr(got) != base {
		err = fmt.Errorf("mmap in the program returned %#x, want %s", got, base)
	}
	return err
}

// unmapScratch takes the scratch mappings out of the program. They stay if the program has begun to filter its system calls
// since they were made, for it might be killed.
func (t *Target) unmapScratch(p *process) {
	if len(p.scratch) == 0 || p.examine() != nil || p.noScratch {
		return
	}
	for _, s := range p.scratch {
		if _, err := t.inject(p, sysMunmap, uint64(s.base), scratchSize, 0, 0, 0, 0); err != nil {
			return
		}
	}
	p.scratch = nil
	clear(p.foreign)
}
