package match

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

func appendHex(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 16) }

// consequence counts a difference that follows from an earlier one.
func (c *comparison) consequence() { c.report.Consequences++ }

// sides are the positions of a difference: of both sides, or of the one that has what the other has not.
type sides [2]*Position

// position tells where a line of a group is.
func (c *comparison) position(side int, g *group, line, offset int64, text []byte) *Position {
	return &Position{File: c.sides[side].input.Name, Line: line, Offset: offset, Instruction: g.index, Text: string(text)}
}

func (c *comparison) head(side int, g *group) *Position {
	return c.position(side, g, g.line, g.offset, g.firstLine())
}

func (c *comparison) effect(side int, g *group, e *effect) *Position {
	return c.position(side, g, e.line, e.offset, g.lineOf(e))
}

// positions are those of an instruction that one side has.
func (a *aligner) positions(side int, g *group) (at sides) {
	at[side] = a.c.head(side, g)
	return at
}

// found notes a root. Its context is that of the groups at hand.
func (c *comparison) found(a *aligner, class Class, at sides, what string) *Difference {
	d := &Difference{Class: class, CPU: a.cpu, Reference: at[reference], Other: at[other], What: what}
	c.report.Counts[class]++
	if len(c.differences) < c.options.MaxDifferences {
		if len(c.differences) < describedDifferences {
			d.Context = c.context(a)
		}
		c.differences = append(c.differences, d)
	}
	if c.options.FirstOnly {
		c.enough = true
	}
	return d
}

// describedDifferences is how many differences get a context.
const describedDifferences = 20

// field tells of a difference of two instruction records.
func (c *comparison) field(a *aligner, class Class, x, y *group) {
	d := c.found(a, class, sides{c.head(reference, x), c.head(other, y)}, "")
	d.Expected, d.Got = c.fieldText(class, x), c.fieldText(class, y)
}

// fieldText is what an instruction record says, by the class of a difference in it.
func (c *comparison) fieldText(class Class, g *group) string {
	r, _ := c.parsed(g)
	switch class {
	case ClassPC:
		return "0x" + strconv.FormatUint(g.pc, 16)
	case ClassOpcode:
		return string(r.Digits)
	case ClassMode:
		return string(r.Mode) + suffix("_", r.Security) + suffix(" ", []byte{r.State})
	case ClassSkipped:
		if g.skipped {
			return "skipped"
		}
		return "executed"
	case ClassTime:
		return strconv.FormatUint(g.time, 10) + suffix(" ", r.Scale)
	case ClassID:
		return strconv.FormatUint(g.id, 10)
	}
	return string(r.Disasm)
}

func suffix(separator string, word []byte) string {
	if len(word) == 0 || word[0] == 0 {
		return ""
	}
	return separator + string(word)
}

// place names the register or address of an effect.
func (c *comparison) place(e *effect) string {
	if e.kind == writesRegister {
		return c.names.word(uint32(e.at))
	}
	access := "read"
	if e.kind == stores {
		access = "write"
	}
	return fmt.Sprintf("%s of %d at 0x%x", access, e.size, e.at)
}

// wrong tells of an effect that is not the same on both sides.
func (c *comparison) wrong(a *aligner, class Class, x *group, e *effect, y *group, f *effect) {
	d := c.found(a, class, sides{c.effect(reference, x, e), c.effect(other, y, f)}, c.place(e))
	d.Expected, d.Got = string(x.digitsOf(e)), string(y.digitsOf(f))
	if !samePlace(e, f) || e.size != f.size {
		d.Expected, d.Got = d.Expected+" by "+c.place(e), d.Got+" by "+c.place(f)
	}
}

// absent tells of an effect that the other side never shows.
func (c *comparison) absent(a *aligner, side int, l *lateEffect) {
	var at sides
	at[side] = c.effect(side, l.group, &l.effect)
	class := ClassRegister
	if l.effect.kind != writesRegister {
		class = ClassMemory
	}
	d := c.found(a, class, at, c.place(&l.effect))
	if side == reference {
		d.Expected, d.Note = string(l.group.digitsOf(&l.effect)), "the other trace lacks it"
	} else {
		d.Got, d.Note = string(l.group.digitsOf(&l.effect)), "the reference lacks it"
	}
}

// reordered tells of an effect that comes later than the window allows, or behind a later one of the same register.
func (c *comparison) reordered(a *aligner, side int, early *lateEffect, g *group, e *effect, by int64) {
	var at sides
	at[1-side], at[side] = c.effect(1-side, early.group, &early.effect), c.effect(side, g, e)
	d := c.found(a, ClassReordered, at, c.place(e))
	d.Note = fmt.Sprintf("%d records later than in the %s", by, [2]string{"other trace", "reference"}[side])
}

// parted tells of a stretch that is passed over.
func (c *comparison) parted(a *aligner, s stretch) {
	if a.led() {
		c.consequence()
		return
	}
	missing, extra := s.groups[reference], s.groups[other]
	var at sides
	for side := range at {
		if q := &a.queue[side]; q.len() > 0 && (s.groups[side] > 0 || s.groups[1-side] > 0 && q.len() > s.groups[side]) {
			at[side] = c.head(side, q.at(0))
		}
	}
	class, note := a.nameStretch(missing, extra)
	d := c.found(a, class, at, "")
	d.Note = note
	if class == ClassPC && at[reference] != nil && at[other] != nil {
		d.Expected, d.Got = c.fieldText(ClassPC, a.queue[reference].at(0)), c.fieldText(ClassPC, a.queue[other].at(0))
	}
	d.Groups = int64(missing + extra)
	for side, n := range s.groups {
		for i := range n {
			d.Records += int64(1 + len(a.queue[side].at(i).effects))
		}
	}
}

// nameStretch says what a stretch seems to be.
func (a *aligner) nameStretch(missing, extra int) (Class, string) {
	if missing > 0 && extra > 0 {
		return ClassPC, fmt.Sprintf("the traces go different ways, for %d and %d instructions", missing, extra)
	}
	side, n, lacks := reference, missing, "the other trace lacks"
	if extra > 0 {
		side, n, lacks = other, extra, "the reference lacks"
	}
	first := a.queue[side].at(0).pc
	switch {
	case a.loops(side, n):
		return ClassLoop, fmt.Sprintf("%s %d instructions of a loop at 0x%x", lacks, n, first)
	case a.handles(side, n):
		return ClassHandler, fmt.Sprintf("%s a handler at 0x%x of %d instructions", lacks, first, n)
	case side == reference:
		return ClassMissing, fmt.Sprintf("%s %d instructions", lacks, n)
	}
	return ClassExtra, fmt.Sprintf("%s %d instructions", lacks, n)
}

// context gives what surrounds the groups at hand.
func (c *comparison) context(a *aligner) *Context {
	context := &Context{Registers: c.values(a)}
	for side, lines := range [2]*[]Position{&context.Reference, &context.Other} {
		q := &a.queue[side]
		before := q.before()
		before = before[max(0, len(before)-c.options.Context):]
		after := q.groups[q.start:min(len(q.groups), q.start+followingGroups)]
		for _, g := range slices.Concat(before, after) {
			if g == nil {
				continue
			}
			if !g.bare {
				*lines = append(*lines, *c.head(side, g))
			}
			for i := range g.effects {
				*lines = append(*lines, *c.effect(side, g, &g.effects[i]))
			}
		}
	}
	return context
}

// followingGroups is how many instructions of each side a context has from the difference on.
const followingGroups = 4

// values gives the registers of both sides before the groups at hand, by name.
func (c *comparison) values(a *aligner) (values []Value) {
	for id := range a.state.registers {
		r := &a.state.registers[id]
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

func (c *comparison) writer(side int, h *held) *Position {
	if !h.known {
		return nil
	}
	return &Position{File: c.sides[side].input.Name, Line: h.writer.line, Offset: h.writer.offset, Instruction: h.writer.index}
}
