package jit

import (
	"fmt"
	"math"
	"slices"

	"tracewell/arch"
	asm "tracewell/internal/asm/amd64"
)

// cell is a cell of the stack, described rather than computed where that can be.
type cell struct {
	kind cellKind
	reg  arch.Reg // of the program, for program
	disp int64    // the constant; for program and temp what is to be added, at most maxDisp either way
	cond asm.Cond // for flags
}

type cellKind uint8

const (
	constant cellKind = iota
	program           // a register of the program, plus disp
	temp              // in the scratch register of the cell, plus disp
	flags             // 1 if the condition holds in the processor's flags just now, else 0. Only the top can be that.
)

// maxDisp leaves room for what places relative to the stack pointer add within the 32 bits of a displacement.
const maxDisp = math.MaxInt32 / 2

// fixed are the registers that some instructions have for their operands.
var fixed = []asm.Reg{asm.RAX, asm.RCX, asm.RDX}

// scratch is the register of cell n.
func (c *compiler) scratch(n int) asm.Reg {
	c.demand.Scratch = max(c.demand.Scratch, n+1)
	if n >= len(c.env.Scratch) {
		c.fail(fmt.Errorf("%d scratch registers do not suffice", len(c.env.Scratch)))
		return asm.RAX
	}
	return c.env.Scratch[n]
}

// fix notes that the fixed registers change.
func (c *compiler) fix() {
	c.demand.Fixed = true
	for _, r := range fixed {
		if !c.dry && slices.Contains(c.env.Scratch, r) {
			c.fail(fmt.Errorf("%v cannot be a scratch register of an expression that divides or shifts", r))
		}
	}
}

// place is where a register of the program is.
func (c *compiler) place(r arch.Reg) Place {
	p := c.env.Register(r)
	if p.kind == sum && !c.dry && slices.Contains(c.env.Scratch, p.reg) {
		c.fail(fmt.Errorf("register %d of the program is in %v, which is a scratch register", r, p.reg))
	}
	c.inFixed = c.inFixed || p.kind == sum && slices.Contains(fixed, p.reg)
	return p
}

// into puts cell n into a register that no other cell is in. It leaves the flags alone and the description as it is.
func (c *compiler) into(n int, dst asm.Reg) {
	switch v := c.cells[n]; v.kind {
	case constant:
		c.MovImm(dst, v.disp)
	case program:
		switch p := c.place(v.reg); p.kind {
		case sum:
			Operand{p.reg, int64(p.disp) + v.disp}.Load(c.Assembler, dst)
		default:
			c.Load(p.width, false, dst, p.mem)
			Operand{dst, v.disp}.Load(c.Assembler, dst)
		}
	case temp:
		Operand{c.scratch(n), v.disp}.Load(c.Assembler, dst)
	case flags: // movzx, since clearing dst first would change the flags
		c.Setcc(v.cond, dst)
		c.Load(1, false, dst, dst)
	}
}

// force puts cell n into its scratch register.
func (c *compiler) force(n int) asm.Reg {
	r := c.scratch(n)
	c.into(n, r)
	c.cells[n] = cell{kind: temp}
	return r
}

// settle puts all cells into their scratch registers, as they must be where control joins. It leaves the flags alone.
func (c *compiler) settle() {
	for n := range c.cells {
		c.force(n)
	}
}

// operand is cell n for use in an address or by code of the Env, computed no further than needed.
func (c *compiler) operand(n int) Operand {
	switch v := c.cells[n]; v.kind {
	case constant:
		return Operand{asm.NoReg, v.disp}
	case program:
		if p := c.place(v.reg); p.kind == sum {
			return Operand{p.reg, int64(p.disp) + v.disp}
		}
		c.cells[n].disp = 0
		r := c.force(n)
		c.cells[n].disp = v.disp
		return Operand{r, v.disp}
	case temp:
		return Operand{c.scratch(n), v.disp}
	default:
		return Operand{c.force(n), 0}
	}
}

// source is cell n as the second operand of an instruction: an immediate, or a register or memory where it already is.
func (c *compiler) source(n int) (o asm.Operand, imm int32, isImm bool) {
	switch v := c.cells[n]; {
	case v.kind == constant && v.disp == int64(int32(v.disp)):
		return nil, int32(v.disp), true
	case v.kind == program && v.disp == 0:
		p := c.place(v.reg)
		if p.kind == sum && p.disp == 0 && !(c.dry && p.reg == asm.RSP) { // which will have moved
			return p.reg, 0, false
		}
		if p.kind == stored && p.width == 8 {
			return p.mem, 0, false
		}
	}
	return c.force(n), 0, false
}

// exchange swaps two cells.
func (c *compiler) exchange(n, m int) {
	switch a, b := c.cells[n].kind == temp, c.cells[m].kind == temp; {
	case a && b:
		c.Xchg(8, c.scratch(n), c.scratch(m))
	case a:
		c.Mov(8, c.scratch(m), c.scratch(n))
	case b:
		c.Mov(8, c.scratch(n), c.scratch(m))
	}
	c.cells[n], c.cells[m] = c.cells[m], c.cells[n]
}

// push adds a cell.
func (c *compiler) push(v cell) { c.cells = append(c.cells, v) }

// copy pushes what cell n is.
func (c *compiler) copy(n int) {
	if c.cells[n].kind == temp {
		c.Mov(8, c.scratch(len(c.cells)), c.scratch(n))
	}
	c.push(c.cells[n])
}

// compare sets the flags by cell n compared with cell n+1, where they are if that can be.
func (c *compiler) compare(n int) {
	right, imm, isImm := c.source(n + 1)
	left, _, leftImm := c.source(n)
	_, leftMem := left.(asm.Mem)
	_, rightMem := right.(asm.Mem)
	if leftImm || leftMem && rightMem {
		left, leftMem = c.force(n), false
	}
	switch {
	case isImm:
		c.ArithImm(asm.Cmp, 8, left, imm)
	case leftMem:
		c.ArithMem(asm.Cmp, 8, left.(asm.Mem), right.(asm.Reg))
	default:
		c.Arith(asm.Cmp, 8, left.(asm.Reg), right)
	}
}

// truth sets the zero flag if cell n is 0.
func (c *compiler) truth(n int) {
	o, _, isImm := c.source(n)
	if isImm {
		o = c.force(n)
	}
	if r, ok := o.(asm.Reg); ok {
		c.Test(8, r, r)
		return
	}
	c.ArithImm(asm.Cmp, 8, o, 0)
}
