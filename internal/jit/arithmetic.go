package jit

import (
	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
)

// logNot leaves its result in the flags, and turns a comparison round without an instruction.
func (c *compiler) logNot(in ax.Instruction, top int) {
	switch v := &c.cells[top]; v.kind {
	case constant:
		v.disp, _ = in.Fold(v.disp, 0)
	case flags:
		v.cond = v.cond.Not()
	default:
		c.truth(top)
		*v = cell{kind: flags, cond: asm.CondE}
	}
}

// bitNot has no lazy form: nothing that GDB compiles has it in a place where one would pay.
func (c *compiler) bitNot(in ax.Instruction, top int) {
	if v := &c.cells[top]; v.kind == constant {
		v.disp, _ = in.Fold(v.disp, 0)
		return
	}
	c.Unary(asm.Not, 8, c.force(top))
}

// extend compiles both extensions. Their widths are 8, 16 and 32 bits, except for bit-fields.
func (c *compiler) extend(in ax.Instruction, n int) {
	bits, signed := in.Operand, in.Op == ax.OpExt
	v := &c.cells[n]
	switch {
	case v.kind == constant:
		v.disp, _ = in.Fold(v.disp, 0)
	case bits >= 64:
	case v.kind == flags && (bits > 1 || bits == 1 && !signed): // 0 and 1 stay what they are
	case bits == 0:
		*v = cell{kind: constant}
	case bits == 8, bits == 16, bits == 32: // one instruction, from wherever the value is
		src, _, _ := c.source(n)
		c.Load(asm.Width(bits/8), signed, c.scratch(n), src)
		*v = cell{kind: temp}
	default:
		r, right := c.force(n), asm.Shr
		if signed {
			right = asm.Sar
		}
		c.Shift(asm.Shl, 8, r, uint8(64-bits))
		c.Shift(right, 8, r, uint8(64-bits))
	}
}

// commutes are the binary opcodes whose operands can change places, so that a constant comes second.
var commutes = map[ax.Op]bool{
	ax.OpAdd: true, ax.OpMul: true, ax.OpBitAnd: true, ax.OpBitOr: true, ax.OpBitXor: true, ax.OpEqual: true,
	ax.OpLessSigned: true, ax.OpLessUnsigned: true, // with the condition mirrored
}

// binary compiles an opcode that leaves one cell, n, of the cells n and n+1.
func (c *compiler) binary(in ax.Instruction, n int) {
	if c.cells[n].kind == constant && c.cells[n+1].kind == constant {
		if v, ok := in.Fold(c.cells[n].disp, c.cells[n+1].disp); ok {
			c.leave(n, cell{kind: constant, disp: v})
			return
		}
	}
	mirrored := c.cells[n].kind == constant && commutes[in.Op]
	if mirrored {
		c.exchange(n, n+1)
	}
	switch in.Op {
	case ax.OpAdd, ax.OpSub, ax.OpBitAnd, ax.OpBitOr, ax.OpBitXor:
		if !c.displaced(in, n) {
			c.arith(in, n)
		}
	case ax.OpMul:
		c.multiply(n)
	case ax.OpEqual, ax.OpLessSigned, ax.OpLessUnsigned:
		c.compare(n)
		cond := conditions[in.Op]
		if mirrored {
			cond = mirrors[in.Op]
		}
		c.leave(n, cell{kind: flags, cond: cond})
	case ax.OpLsh, ax.OpRshSigned, ax.OpRshUnsigned:
		c.shift(in, n)
	default:
		c.divide(in, n)
	}
}

// leave makes v all that is left of cells n and n+1.
func (c *compiler) leave(n int, v cell) { c.cells = append(c.cells[:n], v) }

// displaced keeps the sum with a constant in the description of a cell, if it can.
func (c *compiler) displaced(in ax.Instruction, n int) bool {
	v, by := c.cells[n], c.cells[n+1]
	if by.kind != constant || v.kind != program && v.kind != temp || by.disp > maxDisp || by.disp < -maxDisp {
		return false
	}
	switch in.Op {
	case ax.OpAdd:
		v.disp += by.disp
	case ax.OpSub:
		v.disp -= by.disp
	default:
		return false
	}
	if v.disp > maxDisp || v.disp < -maxDisp {
		return false
	}
	c.leave(n, v)
	return true
}

// ariths are the opcodes with an instruction of their own.
var ariths = map[ax.Op]asm.Arith{
	ax.OpAdd: asm.Add, ax.OpSub: asm.Sub, ax.OpBitAnd: asm.And, ax.OpBitOr: asm.Or, ax.OpBitXor: asm.Xor,
}

// conditions are those of the flags after a comparison, and mirrors those with the operands exchanged. GDB has no other opcodes to
// compare with: for a greater number it swaps the cells.
var (
	conditions = map[ax.Op]asm.Cond{ax.OpEqual: asm.CondE, ax.OpLessSigned: asm.CondL, ax.OpLessUnsigned: asm.CondB}
	mirrors    = map[ax.Op]asm.Cond{ax.OpEqual: asm.CondE, ax.OpLessSigned: asm.CondG, ax.OpLessUnsigned: asm.CondA}
)

// arith compiles an opcode that has an instruction of its own. The second operand can stay where it is; the first must be in the
// register of its cell, which is where the result goes.
func (c *compiler) arith(in ax.Instruction, n int) {
	src, imm, isImm := c.source(n + 1)
	r := c.force(n)
	if isImm {
		c.ArithImm(ariths[in.Op], 8, r, imm)
	} else {
		c.Arith(ariths[in.Op], 8, r, src)
	}
	c.leave(n, cell{kind: temp})
}

// multiply compiles mul. The lower 64 bits of a product are the same for signed and unsigned operands.
func (c *compiler) multiply(n int) {
	src, imm, isImm := c.source(n + 1)
	r := c.force(n)
	if isImm {
		c.ImulImm(8, r, r, imm)
	} else {
		c.Imul(8, r, src)
	}
	c.leave(n, cell{kind: temp})
}

// shifts are the instructions of the shift opcodes.
var shifts = map[ax.Op]asm.Shift{ax.OpLsh: asm.Shl, ax.OpRshSigned: asm.Sar, ax.OpRshUnsigned: asm.Shr}

// shift compiles a shift. The processor takes counts modulo 64, where the language has counts of 64 and more shift everything out.
func (c *compiler) shift(in ax.Instruction, n int) {
	op := shifts[in.Op]
	if v := c.cells[n+1]; v.kind == constant {
		count := uint64(v.disp)
		switch {
		case count < 64:
			c.Shift(op, 8, c.force(n), uint8(count))
			c.leave(n, cell{kind: temp})
		case op == asm.Sar:
			c.Shift(op, 8, c.force(n), 63)
			c.leave(n, cell{kind: temp})
		default:
			c.leave(n, cell{kind: constant})
		}
		return
	}
	c.fix()
	r := c.force(n)
	c.into(n+1, asm.RCX)
	if op == asm.Sar { // at most 63, which leaves copies of the sign
		c.MovImm(asm.RAX, 63)
		c.Arith(asm.Cmp, 8, asm.RCX, asm.RAX)
		c.Cmov(asm.CondA, 8, asm.RCX, asm.RAX)
		c.ShiftCL(op, 8, r)
	} else {
		c.ShiftCL(op, 8, r)
		c.MovImm(asm.RAX, 0)
		c.ArithImm(asm.Cmp, 8, asm.RCX, 63)
		c.Cmov(asm.CondA, 8, r, asm.RAX)
	}
	c.leave(n, cell{kind: temp})
}

// divide compiles a division. The processor raises an exception for the most negative number by -1, where the language has a
// result, so a signed division by -1 is a negation.
func (c *compiler) divide(in ax.Instruction, n int) {
	c.fix()
	signed := in.Op == ax.OpDivSigned || in.Op == ax.OpRemSigned
	by := c.cells[n+1]
	divisor := c.force(n + 1)
	if by.kind != constant || by.disp == 0 {
		c.Test(8, divisor, divisor)
		c.Jcc(asm.CondE, c.failed(in, ax.ErrDivideByZero))
	}
	c.into(n, asm.RAX)
	end := c.NewLabel()
	if signed {
		other := c.NewLabel()
		c.ArithImm(asm.Cmp, 8, divisor, -1)
		c.JccShort(asm.CondNE, other)
		c.Unary(asm.Neg, 8, asm.RAX)
		c.MovImm(asm.RDX, 0)
		c.JmpShort(end)
		c.Bind(other)
		c.Cqo()
		c.Unary(asm.Idiv, 8, divisor)
	} else {
		c.MovImm(asm.RDX, 0)
		c.Unary(asm.Div, 8, divisor)
	}
	c.Bind(end)
	result := asm.RAX
	if in.Op == ax.OpRemSigned || in.Op == ax.OpRemUnsigned {
		result = asm.RDX
	}
	c.Mov(8, c.scratch(n), result)
	c.leave(n, cell{kind: temp})
}
