package match

import (
	"cmp"
	"slices"
)

// view is what the registers were before an instruction, and where that is on both sides: the groups before it.
type view struct {
	passed    [2]int64
	over      stretch // that begins there
	registers []register
}

// view is that of the groups at hand. It is without registers where nothing is to be shown of them, or they are too many.
func (a *aligner) view() view {
	v := view{passed: [2]int64{a.queue[reference].passed, a.queue[other].passed}}
	if len(a.c.rootCauses) < a.c.options.Described && !a.c.following && len(a.state.registers) <= mostShown {
		v.registers = slices.Clone(a.state.registers)
	}
	return v
}

const (
	mostShown        = 1 << 12 // registers
	mostShownEffects = 32      // of an instruction
)

// context gives what surrounds a difference.
func (c *comparison) context(a *aligner, v view) *Context {
	context := &Context{Reference: []Position{}, Other: []Position{}, Registers: c.values(v.registers)}
	for side, lines := range [2]*[]Position{&context.Reference, &context.Other} {
		q, over := &a.queue[side], v.over.groups[side]
		before := q.around(v.passed[side], c.options.Context, min(over, c.options.Following))
		behind := q.around(v.passed[side]+int64(over), 0, c.options.Following)
		for _, g := range slices.Concat(before, behind) {
			if g == nil {
				continue
			}
			last := int64(-1) // several may be on one line
			if !g.bare {
				*lines = append(*lines, *c.head(side, g))
				last = g.offset
			}
			for i := range min(len(g.effects), mostShownEffects) {
				if e := &g.effects[i]; e.offset != last {
					*lines = append(*lines, *c.effect(side, g, e))
					last = e.offset
				}
			}
		}
	}
	return context
}

// values gives the registers of both sides, by name.
func (c *comparison) values(registers []register) []Value {
	values := []Value{}
	for id := range registers {
		r := &registers[id]
		x, y := &r.sides[reference], &r.sides[other]
		if !x.known && !y.known {
			continue
		}
		v := Value{Register: c.names.word(uint32(id)), Reference: string(x.text()), Other: string(y.text()), Differs: r.differs}
		v.ReferenceWriter, v.OtherWriter = c.writer(reference, x), c.writer(other, y)
		values = append(values, v)
	}
	slices.SortFunc(values, func(v, w Value) int {
		return cmp.Or(cmp.Compare(len(v.Register), len(w.Register)), cmp.Compare(v.Register, w.Register))
	})
	return values
}

// writer is the instruction that wrote a register last. Its line is gone.
func (c *comparison) writer(side int, h *held) *Position {
	if !h.known {
		return nil
	}
	return &Position{File: c.sides[side].input.Name, Line: h.writer.line, Offset: h.writer.offset, Instruction: h.writer.index}
}
