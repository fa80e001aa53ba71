package query

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"tracewell/itrace"
	"tracewell/itrace/execution"
	"tracewell/itrace/index"
)

// Pick restricts answers: to the first or the last so many, 0 for all. At most one of the two is given.
type Pick struct{ First, Last int64 }

// Access is a read or a write of a register or of memory.
type Access struct {
	Step              // the instruction that did it
	Item  *index.Item // the access
	Value []byte      // digits of what was read or written; of memory as many as it has bytes. Empty if not told
	// Before is the digits of what was there in front of it, as far as that is known: ? stands for one that is not. Empty where
	// nothing of it is known.
	Before []byte
}

// Writers has visit see the writes of an object within the range.
func (t *Trace) Writers(ctx context.Context, o Object, p Pick, visit func(Access) error) error {
	return t.accesses(ctx, o, [...]index.What{index.RegisterSet, index.Write}, p, visit)
}

// Readers has visit see the reads of an object within the range. What was there before is what the trace told of it earlier, which
// differs from what was read where a device or another master has written.
func (t *Trace) Readers(ctx context.Context, o Object, p Pick, visit func(Access) error) error {
	return t.accesses(ctx, o, [...]index.What{index.RegisterGet, index.Read}, p, visit)
}

// accesses looks for what is done to a register or to memory.
func (t *Trace) accesses(ctx context.Context, o Object, what [2]index.What, p Pick, visit func(Access) error) error {
	w := t.wants(o, what)
	if err := t.Tells(w[0].What); err != nil {
		return err
	}
	b := before{Trace: t, registers: make(map[uint64][]byte)}
	return t.each(ctx, w, p, func(f index.Found) error {
		a, err := b.access(ctx, f)
		if err != nil {
			return err
		}
		return visit(a)
	})
}

// wants is what to look for: a register of each processor by each of its names, or memory.
func (t *Trace) wants(o Object, what [2]index.What) (wants []index.Want) {
	if !o.IsRegister() {
		return []index.Want{{What: what[1], Addr: o.Addr, Size: o.Size}}
	}
	for _, cpu := range t.processors() {
		for _, name := range o.Names {
			wants = append(wants, index.Want{What: what[0], CPU: cpu, Name: name})
		}
	}
	return wants
}

// tells are, for all that is looked for, what a trace that tells it tells, and the words for it.
var tells = map[index.What]struct {
	flags itrace.Scope
	words string
}{
	index.Read: {itrace.NoLoads, "reads of memory"}, index.Write: {itrace.NoStores, "writes of memory"},
	index.RegisterSet: {itrace.NoRegisters, "writes of registers"}, index.RegisterGet: {itrace.TellsReads, "reads of registers"},
}

// Tells returns an error if the trace tells of no instruction what is looked for. Registers of control and status are told apart
// by some traces, so that one which tells only these can be asked, too.
func (t *Trace) Tells(what index.What) error {
	told := tells[what]
	if told.words == "" || t.Lacking(told.flags) < t.Instructions {
		return nil
	}
	if what == index.RegisterSet && t.Lacking(itrace.NoSystem) < t.Instructions {
		return nil
	}
	return &Untold{told.words}
}

// Gaps says in words what of accesses the trace tells only in part, for messages: who sees some would take them for all.
func (t *Trace) Gaps(what index.What) (gaps []string) {
	partly := map[index.What][]struct {
		flags itrace.Scope
		words string
	}{
		index.Read:        {{itrace.NoLoads, "reads of memory"}, {itrace.NoLoads | itrace.NoLoaded, "values of reads"}},
		index.Write:       {{itrace.NoStores, "writes of memory"}, {itrace.NoStores | itrace.NoStored, "values of writes"}},
		index.RegisterSet: {{itrace.NoRegisters, "writes of registers"}, {itrace.OnlyChanges, "writes that do not change a register"}},
		index.RegisterGet: {{itrace.TellsReads, "reads of registers"}},
	}[what]
	for _, g := range partly {
		switch n := t.Lacking(g.flags); n {
		case 0:
		case t.Instructions:
			gaps = append(gaps, "the trace tells no "+g.words)
		default:
			gaps = append(gaps, fmt.Sprintf("the trace tells no %s of %d of its %d instructions", g.words, n, t.Instructions))
		}
	}
	return gaps
}

// each has visit see what is wanted, within the range and of the processor that is asked about.
func (t *Trace) each(ctx context.Context, wants []index.Want, p Pick, visit func(index.Found) error) (err error) {
	if p.Last > 0 {
		return t.eachLast(ctx, wants, p.Last, visit)
	}
	seen := int64(0)
	searched := t.Each(ctx, t.From, t.To, wants, func(f index.Found) bool {
		if !t.concerns(f.Item) {
			return true
		}
		err = visit(f)
		seen++
		return err == nil && seen != p.First
	})
	if err == nil {
		err = searched
	}
	return err
}

// eachLast is each for the last so many, which are collected, since they are found backwards.
func (t *Trace) eachLast(ctx context.Context, wants []index.Want, last int64, visit func(index.Found) error) error {
	var all []index.Found
	err := t.EachBack(ctx, t.From, t.To, wants, func(f index.Found) bool {
		if t.concerns(f.Item) {
			f.Item = alone(f.Item)
			all = append(all, f)
		}
		return int64(len(all)) < last
	})
	if err != nil {
		return err
	}
	for _, f := range slices.Backward(all) {
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

// alone returns a copy of an item, which keeps no block in memory as the item does; nil of none.
func alone(it *index.Item) *index.Item {
	if it == nil {
		return nil
	}
	c := *it
	c.Digits, c.Words = bytes.Clone(it.Digits), bytes.Clone(it.Words)
	return &c
}

// before finds what there was in front of accesses that come in the order of the trace. A register holds what it was last seen to
// be written, so its value is looked for once. Memory is looked for each time: what was read in between tells of it, too.
type before struct {
	*Trace
	registers map[uint64][]byte
	same      []*index.Item // accesses to memory of the instruction at hand, in front of the one at hand
	of        int64         // the instruction
}

// access makes an access of what was found.
func (b *before) access(ctx context.Context, f index.Found) (a Access, err error) {
	a.Item = f.Item
	if a.Step, err = b.owner(ctx, f); err != nil {
		return a, err
	}
	if f.Item.Kind == itrace.Memory {
		a.Value, a.Before, err = b.memory(f)
		return a, err
	}
	a.Value = f.Item.Digits
	key := uint64(uint32(f.Item.CPU))<<32 | uint64(f.Item.Name)
	digits, seen := b.registers[key]
	if !seen {
		if digits, err = b.register(ctx, f); err != nil {
			return a, err
		}
	}
	a.Before, b.registers[key] = digits, digits
	if f.Item.Kind == itrace.Register {
		b.registers[key] = f.Item.Digits
	} else {
		delete(b.registers, key) // it may be written in front of the next read
	}
	return a, nil
}

// owner returns the instruction that something is of. Some producers tell of effects when they are there, which may be many
// instructions later.
func (t *Trace) owner(ctx context.Context, f index.Found) (Step, error) {
	number, left := f.Instruction, int64(f.Item.Back)+1
	if f.Item.Back > 0 {
		turn := []index.Want{{What: index.Turn, CPU: f.Item.CPU}}
		if err := t.EachBack(ctx, index.Ahead, f.Instruction+1, turn, func(f index.Found) bool {
			number = f.Instruction
			left--
			return left > 0
		}); err != nil {
			return Step{}, err
		}
	}
	return t.Step(number)
}

// register is what a register was written last in front of an instruction.
func (t *Trace) register(ctx context.Context, f index.Found) ([]byte, error) {
	if f.Instruction < 0 {
		return nil, nil
	}
	last, err := t.Previous(ctx, f.Instruction, []index.Want{{What: index.RegisterSet, CPU: f.Item.CPU, Name: f.Item.Name}})
	if err != nil || last == nil {
		return nil, err
	}
	return last.Item.Digits, nil
}

// memory returns the value of an access to memory, and what was there in front of it.
func (b *before) memory(f index.Found) (value, was []byte, err error) {
	p, known := make([]byte, f.Item.Size), make([]index.Knowledge, f.Item.Size)
	layout := b.Execution.Digits()
	if len(f.Item.Digits) > 0 {
		for i := range p {
			if v, ok := layout.Byte(f.Item, uint64(i)); ok {
				p[i], known[i] = v, index.Known
			}
		}
		value = number(p, known, layout)
	}
	clear(p)
	clear(known)
	if f.Instruction != b.of {
		b.same, b.of = b.same[:0], f.Instruction
	}
	// One instruction may access a byte several times: the accesses in front of this one count, the last of them first.
	for _, it := range slices.Backward(b.same) {
		b.overlay(it, f.Item.Addr, p, known, layout)
	}
	b.same = append(b.same, f.Item)
	if f.Instruction >= 0 {
		if err := b.Trace.Memory(f.Instruction, f.Item.Addr, p, known, layout); err != nil {
			return nil, nil, err
		}
	}
	b.loaded(f.Item.Addr, p, known)
	if !slices.Contains(known, index.Known) {
		return value, nil, nil
	}
	return value, number(p, known, layout), nil
}

// overlay puts the bytes of an access over those that are not seen yet of a piece of memory.
func (t *Trace) overlay(it *index.Item, addr uint64, p []byte, known []index.Knowledge, l index.Layout) {
	for i := range it.Size {
		at := t.Offset(it.Addr+i, addr)
		if at >= uint64(len(p)) || known[at] != index.Unseen {
			continue
		}
		known[at] = index.Unknowable
		if v, ok := l.Byte(it, i); ok {
			p[at], known[at] = v, index.Known
		}
	}
}

// loaded fills in what the program held in the beginning, where no record has told of it.
func (t *Trace) loaded(addr uint64, p []byte, known []index.Knowledge) {
	if t.Execution.Program == nil {
		return
	}
	for i := range p {
		if known[i] != index.Unseen {
			continue
		}
		if v, ok := execution.Loaded(t.Execution.Program, addr+uint64(i)-t.Execution.Bias); ok {
			p[i], known[i] = v, index.Known
		}
	}
}

// number is the digits of bytes of memory as the number that a processor reads there, ? for those that are not known.
func number(p []byte, known []index.Knowledge, l index.Layout) []byte {
	const alphabet = "0123456789abcdef"
	digits := make([]byte, 0, 2*len(p))
	for i := range p {
		if !l.BigEndian {
			i = len(p) - 1 - i
		}
		if known[i] != index.Known {
			digits = append(digits, '?', '?')
			continue
		}
		digits = append(digits, alphabet[p[i]>>4], alphabet[p[i]&15])
	}
	return digits
}
