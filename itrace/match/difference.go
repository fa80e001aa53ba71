package match

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"tracewell/internal/text"
	"tracewell/itrace"
)

func appendHex(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 16) }

// rootCause is a difference, and where it comes in the order of the reference: the line that it is at or before.
type rootCause struct {
	Difference
	order int64
}

// consequence counts a difference that follows from an earlier one. If it is to be listed, too, tell notes it.
func (c *comparison) consequence(tell func()) {
	c.report.Consequences++
	if len(c.consequences) < c.options.Consequences {
		c.following = true
		tell()
		c.following = false
	}
}

// listedConsequences are those that were noted, in the order of the reference.
func (c *comparison) listedConsequences() (list []Consequence) {
	slices.SortStableFunc(c.consequences, func(d, e *rootCause) int { return cmp.Compare(d.order, e.order) })
	root := 0
	for _, d := range c.consequences {
		for root+1 < len(c.rootCauses) && c.rootCauses[root+1].order <= d.order {
			root++
		}
		list = append(list, Consequence{root, d.Difference})
	}
	return list
}

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

// order is where the groups at hand are in the order of the reference.
func (a *aligner) order() int64 {
	if q := &a.queue[reference]; q.len() > 0 {
		return q.at(0).line
	}
	return math.MaxInt64
}

// found notes a root cause at the groups at hand.
func (c *comparison) found(a *aligner, class Class, at sides, what string) *Difference {
	return c.foundAt(a, class, at, what, a.order(), a.view())
}

// foundAt notes a root cause at an earlier place.
func (c *comparison) foundAt(a *aligner, class Class, at sides, what string, order int64, v view) *Difference {
	var context *Context
	if len(c.rootCauses) < c.options.Described && !c.following {
		context = c.context(a, v)
	}
	d := c.note(a, class, order, at, context)
	d.What = what
	return d
}

// note notes a root cause, or a consequence. Of too many root causes those that come first in the reference are kept.
func (c *comparison) note(a *aligner, class Class, order int64, at sides, context *Context) *Difference {
	r := &rootCause{Difference{Class: class, CPU: a.cpu, Reference: at[reference], Other: at[other], Context: context}, order}
	if c.following {
		r.Context = nil // a tail has one from where it began
		c.consequences = append(c.consequences, r)
		return &r.Difference
	}
	c.report.Counts[class]++
	c.first = min(c.first, order)
	if len(c.rootCauses) < c.options.MaxDifferences {
		c.rootCauses = append(c.rootCauses, r)
		return &r.Difference
	}
	last := slices.MaxFunc(c.rootCauses, func(r, s *rootCause) int { return cmp.Compare(r.order, s.order) })
	if order < last.order {
		*last = *r
		return &last.Difference
	}
	return &r.Difference
}

// field tells of a difference of two instruction records.
func (c *comparison) field(a *aligner, class Class, x, y *group) {
	d := c.found(a, class, sides{c.head(reference, x), c.head(other, y)}, "")
	d.Expected, d.Got = c.fieldText(class, reference, x), c.fieldText(class, other, y)
}

// fieldText is what an instruction record says, by the class of a difference in it.
func (c *comparison) fieldText(class Class, side int, g *group) string {
	r := c.quoted(side, g)
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
	case ClassTrapped:
		if g.trapped {
			return "trapped"
		}
		return "completed"
	case ClassTime:
		return strconv.FormatUint(g.time, 10) + suffix(" ", r.Scale)
	case ClassID:
		return strconv.FormatUint(g.id, 10)
	}
	return string(g.word(g.words))
}

// quoted is the record of an instruction as its line says it. Of one that the line alone does not tell it is what the group has of
// it.
func (c *comparison) quoted(side int, g *group) itrace.Record {
	for _, r := range c.sides[side].input.Dialect.Decode(g.firstLine()) {
		if r.Kind == itrace.Instruction && r.Addr == g.pc && r.Value == g.opcode {
			return r
		}
	}
	return itrace.Record{Digits: g.opcodeDigits(), Mode: []byte(c.names.word(g.mode >> 8)), State: byte(g.mode)}
}

func suffix(separator string, word []byte) string {
	if len(word) == 0 || word[0] == 0 {
		return ""
	}
	return separator + string(word)
}

// place names the register or address of an effect.
func (c *comparison) place(e *effect) string {
	switch e.kind {
	case writesRegister:
		return c.names.word(uint32(e.at))
	case readsRegister:
		return "read of " + c.names.word(uint32(e.at))
	case happens:
		return itrace.EventKind(e.at).String()
	}
	access := "read"
	if e.kind == stores {
		access = "write"
	}
	if e.size == 0 {
		return fmt.Sprintf("%s at 0x%x", access, e.at)
	}
	return fmt.Sprintf("%s of %d at 0x%x", access, e.size, e.at)
}

// class is that of a difference in an effect.
func (e *effect) class() Class {
	switch e.kind {
	case loads, stores:
		return ClassMemory
	case happens:
		return ClassEvent
	}
	return ClassRegister
}

// wrong tells of an effect that is not the same on both sides.
func (c *comparison) wrong(a *aligner, x *group, e *effect, y *group, f *effect) {
	d := c.found(a, e.class(), sides{c.effect(reference, x, e), c.effect(other, y, f)}, c.place(e))
	c.setValues(d, x, e, y, f)
}

// wrongLate tells of an effect that one side has shown earlier with another value.
func (c *comparison) wrongLate(a *aligner, side int, early *lateEffect, g *group, e *effect) {
	var at sides
	at[1-side], at[side] = c.effect(1-side, early.group, &early.effect), c.effect(side, g, e)
	d := c.foundAt(a, e.class(), at, c.place(e), early.of.order, early.of.view)
	if side == reference {
		c.setValues(d, g, e, early.group, &early.effect)
	} else {
		c.setValues(d, early.group, &early.effect, g, e)
	}
}

func (c *comparison) setValues(d *Difference, x *group, e *effect, y *group, f *effect) {
	d.Expected, d.Got = string(x.digitsOf(e)), string(y.digitsOf(f))
	if !samePlace(e, f) || e.size != f.size {
		d.Expected, d.Got = d.Expected+" by "+c.place(e), d.Got+" by "+c.place(f)
	}
}

// absent tells of an effect that the other side never shows.
func (c *comparison) absent(a *aligner, side int, l *lateEffect) {
	var at sides
	at[side] = c.effect(side, l.group, &l.effect)
	d := c.foundAt(a, l.effect.class(), at, c.place(&l.effect), l.of.order, l.of.view)
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
	d := c.foundAt(a, ClassReordered, at, c.place(e), early.of.order, early.of.view)
	d.Note = fmt.Sprintf("%s later than in the %s", text.Plural(by, "record"), [2]string{"other trace", "reference"}[side])
}

// disordered tells of effects whose order makes another outcome.
func (c *comparison) disordered(a *aligner, x, y *group, at disorder) {
	e, f := &x.effects[at.effects[reference]], &y.effects[at.effects[other]]
	d := c.found(a, ClassReordered, sides{c.effect(reference, x, e), c.effect(other, y, f)}, c.place(e))
	if d.Note = "the last of several writes"; e.kind == loads {
		d.Note = "a write of the same bytes comes before it on one side and behind it on the other"
		return
	}
	c.setValues(d, x, e, y, f)
}

// parted tells of a stretch that is to be passed over. It returns nil if it is a consequence, or excused by a rule. A run of a
// handler that may yet come on the other side is excused as well, and what it returns is in no report as long as it may.
func (c *comparison) parted(a *aligner, s stretch) (d *Difference, excused bool) {
	class, note := a.nameStretch(s)
	if a.excused(class, s) {
		return nil, true
	}
	var moved *run
	if class == ClassHandler && c.rules.named[RuleInterrupts] != nil {
		if excused, moved = a.moved(s.side()); excused && moved == nil {
			return nil, true
		}
	}
	if moved == nil && (a.led() || a.strayed(s)) {
		c.consequence(func() { c.stretch(a, class, note, s, nil) })
		return nil, false
	}
	return c.stretch(a, class, note, s, moved), excused
}

// stretch notes a stretch that is passed over, or keeps it with the run of a handler that may yet come on the other side.
func (c *comparison) stretch(a *aligner, class Class, note string, s stretch, moved *run) (d *Difference) {
	var at sides
	for side := range at {
		if q := &a.queue[side]; q.len() > 0 {
			at[side] = c.head(side, q.at(0))
		}
	}
	v := a.view()
	v.over = s
	if moved != nil {
		d, moved.order = &moved.Difference, a.order()
		d.Reference, d.Other = at[reference], at[other]
		if len(a.runs) < c.options.Described {
			d.Context = c.context(a, v)
		}
	} else {
		d = c.foundAt(a, class, at, "", a.order(), v)
	}
	d.Note = note
	for side, name := range [2]string{"reference", "other"} {
		if s.groups[1-side] == 0 {
			d.Side = name
		}
	}
	if class == ClassPC && a.queue[reference].at(0).pc != a.queue[other].at(0).pc {
		d.Expected = c.fieldText(ClassPC, reference, a.queue[reference].at(0))
		d.Got = c.fieldText(ClassPC, other, a.queue[other].at(0))
	}
	return d
}
