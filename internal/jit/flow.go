package jit

import (
	"slices"

	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
)

// All jumps go forward, so when the compiler comes to a mark it has seen all jumps that lead there.

// mark is a target of jumps.
type mark struct {
	label   asm.Label
	at      ax.Instruction // where the jumps lead
	reached bool           // by a jump that has been compiled
	height  int            // of the stack then
}

// arrive binds the mark at an instruction, if there is one, and joins the paths that lead there.
func (c *compiler) arrive(in ax.Instruction) {
	m := c.marks[in.Offset]
	if m == nil {
		return
	}
	switch {
	case !m.reached: // all that would jump here is dead, or has become something else
		return
	case c.alive:
		c.settle()
	default: // the jumps have settled what they left
		c.cells = slices.Repeat([]cell{{kind: temp}}, m.height)
		c.alive = true
	}
	c.Bind(m.label)
}

// jump compiles a goto. One to an end is that end: in a condition of several parts the flags then decide where they are set.
func (c *compiler) jump(in ax.Instruction) {
	if m := c.marks[int(in.Operand)]; m.at.Op == ax.OpEnd {
		c.end(m.at, false)
		return
	}
	c.settle()
	c.Jmp(c.reach(in))
	c.alive = false
}

// end compiles an end; last tells that the code ends there.
func (c *compiler) end(in ax.Instruction, last bool) {
	c.finish(c, in)
	if c.alive && !last {
		c.Jmp(c.done)
	}
	c.alive = false
}

// reach is the label of a jump's target, which can now be reached.
func (c *compiler) reach(in ax.Instruction) asm.Label {
	m := c.marks[int(in.Operand)]
	m.reached, m.height = true, len(c.cells)
	return m.label
}

// branch compiles a jump that is taken if the top cell is not 0, or, if it is inverted, if it is.
func (c *compiler) branch(in ax.Instruction, inverted bool) {
	top := len(c.cells) - 1
	v := c.cells[top]
	cond := asm.CondNE
	switch v.kind {
	case constant:
		c.cells = c.cells[:top]
		if v.disp != 0 != inverted {
			c.jump(in)
		}
		return
	case flags:
		cond = v.cond
	default:
		c.truth(top)
	}
	if inverted {
		cond = cond.Not()
	}
	c.cells = c.cells[:top]
	c.settle() // on both ways: a cell has one description at a time
	c.Jcc(cond, c.reach(in))
}
