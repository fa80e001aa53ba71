package jit

import (
	"strings"

	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
)

// effect compiles the opcodes that record something.
func (c *compiler) effect(in ax.Instruction, top int) {
	var err error
	switch in.Op {
	case ax.OpTracev:
		if c.env.TraceVariable == nil {
			c.refuse(in, "nothing can be recorded here")
			return
		}
		err = c.env.TraceVariable(uint16(in.Operand))
	case ax.OpTraceQuick, ax.OpTrace16:
		if in.Operand > 0 {
			err = c.trace(in, c.env.TraceMemory, c.operand(top), Operand{asm.NoReg, int64(in.Operand)})
		}
	case ax.OpTrace:
		err = c.traceSized(in, c.env.TraceMemory, top)
	case ax.OpTracenz:
		err = c.traceSized(in, c.env.TraceString, top)
	case ax.OpPrintf:
		err = c.printf(in, top)
	}
	if err != nil {
		c.refuse(in, err.Error())
	}
}

// trace has the Env record memory.
func (c *compiler) trace(in ax.Instruction, record func(addr, size Operand) error, addr, size Operand) error {
	if record == nil {
		c.refuse(in, "nothing can be recorded here")
		return nil
	}
	return record(addr, size)
}

// traceSized has the Env record memory of a size that is on the stack, unless that is 0.
func (c *compiler) traceSized(in ax.Instruction, record func(addr, size Operand) error, top int) (err error) {
	addr := c.operand(top - 1)
	if v := c.cells[top]; v.kind == constant {
		if v.disp != 0 {
			err = c.trace(in, record, addr, c.operand(top))
		}
	} else {
		none, size := c.NewLabel(), c.force(top)
		c.Test(8, size, size)
		c.Jcc(asm.CondE, none)
		err = c.trace(in, record, addr, Operand{size, 0})
		c.Bind(none)
	}
	c.cells = c.cells[:top-1]
	return err
}

// printf has the Env record what is printed: the last argument is deepest, then come the others, the channel and the function.
func (c *compiler) printf(in ax.Instruction, top int) error {
	if c.env.Printf == nil {
		c.refuse(in, "nothing can be printed here")
		return nil
	}
	n := int(in.Operand)
	base := top - 1 - n
	args := make([]Operand, n)
	for i := range args {
		args[i] = c.operand(base + n - 1 - i)
	}
	channel, fn := c.operand(top-1), c.operand(top)
	format, _, _ := strings.Cut(in.Format, "\x00") // as the Machine cuts it, and C
	c.cells = c.cells[:base]
	return c.env.Printf(fn, channel, format, args)
}
