package index

import (
	"context"
	"slices"

	"tracewell/itrace"
)

// What says what to look for.
type What uint8

// What can be looked for.
const (
	Execution   What = iota // an instruction at an address
	Read                    // a read of some of the bytes in a range
	Write                   // a write of some of them
	RegisterSet             // a write of a register of a processor
	RegisterGet             // a read of one, where the trace tells of these
	Turn                    // an instruction of a processor
	Leave                   // an instruction of a processor outside a range of addresses
)

// Want is something to look for.
type Want struct {
	What What
	Addr uint64
	Size uint64 // of the range, in bytes; at least 1
	CPU  int32  // whose register, or whose instruction
	Name uint32 // of the register
}

// Found is what was found.
type Found struct {
	Instruction int64 // that did it, or the number of instructions in front of which it happened; -1 in front of all
	Want        int   // which of those looked for
	Item        *Item
}

// keys returns the spans of keys of a want.
func (t *Trace) keys(w Want) (kind int, spans [2]span, n int) {
	switch w.What {
	case RegisterSet, RegisterGet:
		kind = registers
		if w.What == RegisterGet {
			kind = registersRead
		}
		key := registerKey(w.CPU, w.Name)
		return kind, [2]span{{key, key}}, 1
	case Turn, Leave:
		key := uint64(uint32(w.CPU))
		return processors, [2]span{{key, key}}, 1
	}
	kind = [...]int{Execution: executed, Read: read, Write: written}[w.What]
	s := span{w.Addr, w.Addr + max(w.Size, 1) - 1}
	if s.hi < s.lo {
		s.hi = ^uint64(0)
	}
	if t.Narrow {
		const upper = 0xffffffff00000000
		return kind, [2]span{{s.lo &^ upper, s.hi &^ upper}, {s.lo | upper, s.hi | upper}}, 2
	}
	return kind, [2]span{s}, 1
}

// Meets reports whether an item is what is wanted.
func (t *Trace) Meets(it *Item, w *Want) bool {
	switch w.What {
	case Execution:
		return it.Kind == itrace.Instruction && t.address(it.Addr) == t.address(w.Addr)
	case Read, Write:
		if it.Kind != itrace.Memory || it.Write != (w.What == Write) {
			return false
		}
		at, from := t.address(it.Addr), t.address(w.Addr)
		return at-from < max(w.Size, 1) || from-at < it.Size
	case RegisterSet:
		return it.Kind == itrace.Register && it.Name == w.Name && it.CPU == w.CPU
	case RegisterGet:
		return it.Kind == itrace.RegisterRead && it.Name == w.Name && it.CPU == w.CPU
	case Leave:
		return it.Kind == itrace.Instruction && it.CPU == w.CPU && t.address(it.Addr)-t.address(w.Addr) >= w.Size
	}
	return it.Kind == itrace.Instruction && it.CPU == w.CPU
}

// Offset is how far an address is behind another. Differences wrap as addresses do, at 32 bits where these have so many: one in
// front of the other comes to a number above all lengths.
func (t *Trace) Offset(addr, base uint64) uint64 { return t.address(addr - base) }

// address is an address in the width that the processor has.
func (t *Trace) address(a uint64) uint64 {
	if t.Narrow {
		return uint64(uint32(a))
	}
	return a
}

// holds reports whether a node may have something that is wanted.
func (t *Trace) holds(n *node, wants []Want) (bool, error) {
	for i := range wants {
		kind, spans, count := t.keys(wants[i])
		p := n.sets[kind]
		if p.all {
			return true, nil
		}
		if p.size == 0 {
			continue
		}
		b, err := t.part(p.place)
		if err != nil {
			return false, err
		}
		for _, s := range spans[:count] {
			if set(b).overlaps(s) {
				return true, nil
			}
		}
	}
	return false, nil
}

// nextLeaf returns the first block from a number on, or with back the last up to it, that may have something that is wanted; -1 for
// none.
func (t *Trace) nextLeaf(from int, back bool, wants []Want) (int, error) {
	return t.below(len(t.dir.levels)-1, 0, from, back, wants)
}

// below is nextLeaf for the blocks below a node.
func (t *Trace) below(level, at, from int, back bool, wants []Want) (int, error) {
	width := 1
	for range level {
		width *= fanout
	}
	if !back && (at+1)*width <= from || back && at*width > from {
		return -1, nil
	}
	if ok, err := t.holds(&t.dir.levels[level][at], wants); err != nil || !ok {
		return -1, err
	}
	if level == 0 {
		return at, nil
	}
	children := min(len(t.dir.levels[level-1]), (at+1)*fanout) - at*fanout
	for i := range children {
		child := at*fanout + i
		if back {
			child = at*fanout + children - 1 - i
		}
		if leaf, err := t.below(level-1, child, from, back, wants); err != nil || leaf >= 0 {
			return leaf, err
		}
	}
	return -1, nil
}

// Next returns the first happening at or behind a position that is one of those wanted, nil for none.
func (t *Trace) Next(ctx context.Context, position int64, wants []Want) (first *Found, err error) {
	err = t.Each(ctx, position, t.Instructions, wants, func(f Found) bool {
		first = &f
		return false
	})
	return first, err
}

// Previous returns the last happening in front of a position that is one of those wanted, nil for none.
func (t *Trace) Previous(ctx context.Context, position int64, wants []Want) (last *Found, err error) {
	err = t.EachBack(ctx, Ahead, position, wants, func(f Found) bool {
		last = &f
		return false
	})
	return last, err
}

// Ahead is where a range begins that has what happened in front of position 0, too.
const Ahead = -1

// Each has visit see everything that is one of those wanted and that happened between two positions, in the order of the trace,
// until it returns false.
func (t *Trace) Each(ctx context.Context, from, to int64, wants []Want, visit func(Found) bool) error {
	// The first block is made whole, which answers most questions and the next ones about the same place. Then blocks are scanned,
	// unless whoever is told looks at something else in them, for which they are made whole anyway.
	at, first, whole, scanned := t.leafOf(from), true, false, 0
	for {
		if scanned == scanAlone && !whole {
			var err error
			if at, err = t.scans(ctx, at, from, to, wants, visit); err != nil || at < 0 || at == len(t.dir.leaves) {
				return err
			}
			whole = true
		}
		leaf, err := t.nextLeaf(at, false, wants)
		if err != nil || leaf < 0 || t.dir.leaves[leaf].first > to {
			return err
		}
		more := false
		if _, kept := t.blocks.get(leaf); first || whole || kept {
			more, err = t.visit(leaf, from, to, wants, visit)
		} else {
			scanned++
			more, err = t.scanOne(leaf, from, to, wants, visit)
			_, whole = t.blocks.get(leaf)
		}
		first = false
		if err != nil || !more {
			return err
		}
		if t.Progress != nil {
			t.Progress(t.leafEnd(leaf))
		}
		if at = leaf + 1; at == len(t.dir.leaves) {
			return nil
		}
		// A set promises keys, not their order or what else a Want asks: a search may read many blocks, so it can be interrupted.
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// scanOne is scan by this goroutine.
func (t *Trace) scanOne(leaf int, from, to int64, wants []Want, visit func(Found) bool) (more bool, err error) {
	r, err := t.reading(leaf)
	if err != nil {
		return false, err
	}
	defer func() { t.idle = append(t.idle, r) }()
	return r.scan(t, leaf, from, to, wants, visit)
}

// visit has visit see what a block has between two positions that is wanted. It returns false if visit did, or the second position
// was reached.
func (t *Trace) visit(leaf int, from, to int64, wants []Want, visit func(Found) bool) (more bool, err error) {
	b, err := t.block(leaf)
	if err != nil {
		return false, err
	}
	// The node above may have promised what only the records in front of the position have.
	for i := b.itemAt(from); i < len(b.Items); i++ {
		if b.First+int64(b.Items[i].Step) >= to {
			return false, nil
		}
		if f, ok := t.found(b, i, wants); ok && !visit(f) {
			return false, nil
		}
	}
	return true, nil
}

// EachBack is Each backwards, from what happened last.
func (t *Trace) EachBack(ctx context.Context, from, to int64, wants []Want, visit func(Found) bool) error {
	at := t.leafOf(to)
	for {
		leaf, err := t.nextLeaf(at, true, wants)
		if err != nil || leaf < 0 {
			return err
		}
		b, err := t.block(leaf)
		if err != nil {
			return err
		}
		for i := b.itemAt(to) - 1; i >= 0; i-- {
			if b.First+int64(b.Items[i].Step) < from {
				return nil
			}
			if f, ok := t.found(b, i, wants); ok && !visit(f) {
				return nil
			}
		}
		if at = leaf - 1; at < 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// found is what an item of a block fulfils of what is wanted: of several wants the first, as a debugger lists its watchpoints.
func (t *Trace) found(b *Block, i int, wants []Want) (Found, bool) {
	for w := range wants {
		if it := &b.Items[i]; t.Meets(it, &wants[w]) {
			return Found{Instruction: b.First + int64(it.Step), Want: w, Item: it}, true
		}
	}
	return Found{}, false
}

// leafOf returns the block that a position is in: that of the instruction in front of which it is, the last for the end.
func (t *Trace) leafOf(position int64) int {
	// The last leaf whose first instruction is not behind the position; mid is rounded up, or two neighbours would never end it.
	low, high := 0, len(t.dir.leaves)-1
	for low < high {
		if mid := (low + high + 1) / 2; t.dir.leaves[mid].first <= position {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// itemAt returns where in the items of a block those behind a position begin.
func (b *Block) itemAt(position int64) int {
	n := position - b.First
	switch {
	case n < 0:
		return 0
	case n >= int64(len(b.steps)):
		return len(b.Items)
	}
	return int(b.steps[n])
}

// Instruction returns an instruction by its number.
func (t *Trace) Instruction(n int64) (*Item, error) {
	b, err := t.block(t.leafOf(n))
	if err != nil {
		return nil, err
	}
	return b.at(n), nil
}

// Effects returns what an instruction did, in the order of the trace.
func (t *Trace) Effects(n int64) ([]Item, error) {
	b, err := t.block(t.leafOf(n))
	if err != nil {
		return nil, err
	}
	effects, leaf := b.Items[b.itemAt(n):b.itemAt(n+1)], t.leafOf(n)
	for leaf++; n+1 == b.First+int64(len(b.steps)) && leaf < len(t.dir.leaves); leaf++ {
		// Those at the beginning of the blocks behind belong to it as well.
		if b, err = t.block(leaf); err != nil {
			return nil, err
		}
		effects = slices.Concat(effects, b.Items[:b.itemAt(b.First)])
	}
	return effects, nil
}
