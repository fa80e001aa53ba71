package jit

import (
	"tracewell/arch"
	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
)

// register pushes a register of the program. What must be computed is computed here, since that may change the flags.
func (c *compiler) register(in ax.Instruction) {
	r := arch.Reg(in.Operand)
	switch p := c.place(r); p.kind {
	case nowhere:
		c.refuse(in, "the register is not available as an integer")
	case sum, stored:
		c.push(cell{kind: program, reg: r})
	default:
		c.value(p)
	}
}

// value pushes what is at a place that no cell describes.
func (c *compiler) value(p Place) {
	switch p.kind {
	case nowhere:
		c.push(cell{kind: constant})
		return
	case known:
		c.push(cell{kind: constant, disp: p.value})
		return
	}
	r := c.scratch(len(c.cells))
	switch p.kind {
	case sum:
		Operand{p.reg, int64(p.disp)}.Load(c.Assembler, r)
	case stored:
		c.Load(p.width, false, r, p.mem)
	case computed:
		if !c.dry {
			p.emit(r)
		}
	}
	c.push(cell{kind: temp})
}

// getv reads a variable at once: it may change before the value is used.
func (c *compiler) getv(in ax.Instruction) { c.value(c.env.Variable(uint16(in.Operand))) }

// setv writes a variable at once, and leaves the value on the stack. Whoever makes a pad holds the lock of the variables meanwhile:
// nothing here is atomic.
func (c *compiler) setv(in ax.Instruction, top int) {
	switch p := c.env.Variable(uint16(in.Operand)); {
	case p.kind == nowhere: // setting what does not exist does nothing
	case p.kind != stored || p.width != 8:
		c.refuse(in, "the variable cannot be set")
	default:
		if v := c.cells[top]; v.kind == constant && v.disp == int64(int32(v.disp)) {
			c.StoreImm(8, p.mem, int32(v.disp))
			return
		}
		c.Store(8, p.mem, c.force(top))
	}
}

// ref loads from the address in the top cell, at once: whether memory can be read is part of what an expression means, so even a
// value that nothing uses is read. The address stays in its register until the load has succeeded, for whoever handles a fault.
func (c *compiler) ref(in ax.Instruction, top int, signed bool) {
	addr := c.operand(top)
	// An address of 64 bits does not fit into an instruction; that of a global in a program that is not relocated does.
	if addr.Base == asm.NoReg && addr.Disp != int64(int32(addr.Disp)) {
		addr = Operand{c.force(top), 0}
	}
	size := 1 << (in.Op - ax.OpRef8)
	access := Access{Addr: addr, Size: size, Op: in.Op, Offset: in.Offset}
	if c.env.Guard != nil {
		c.env.Guard(access)
	}
	r, from := c.scratch(top), c.Len()
	c.Load(asm.Width(size), signed, r, addr.Mem())
	if c.env.Fault != nil {
		c.env.Fault(from, c.Len(), access)
	}
	c.cells[top] = cell{kind: temp}
}
