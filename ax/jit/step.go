package jit

import (
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
)

// keepsFlags are the opcodes that can work on a cell that is in the flags. All others have it computed first.
var keepsFlags = map[ax.Op]bool{
	ax.OpLogNot: true, ax.OpIfGoto: true, ax.OpEnd: true, ax.OpExt: true, ax.OpZeroExt: true, ax.OpPop: true,
}

// step compiles one instruction; last tells that none follows.
func (c *compiler) step(in ax.Instruction, last bool) {
	top := len(c.cells) - 1
	if top >= 0 && c.cells[top].kind == flags && !keepsFlags[in.Op] {
		c.force(top)
	}
	switch in.Op {
	case ax.OpConst8, ax.OpConst16, ax.OpConst32, ax.OpConst64:
		c.push(cell{kind: constant, disp: int64(in.Operand)})
	case ax.OpReg:
		c.register(in)
	case ax.OpLogNot:
		c.logNot(in, top)
	case ax.OpBitNot:
		c.bitNot(in, top)
	case ax.OpExt, ax.OpZeroExt:
		c.extend(in, top)
	case ax.OpRef8, ax.OpRef16, ax.OpRef32, ax.OpRef64:
		c.ref(in, top, false)
	case ax.OpDup:
		c.copy(top)
	case ax.OpPick:
		c.copy(top - int(in.Operand))
	case ax.OpPop:
		c.cells = c.cells[:top]
	case ax.OpSwap:
		c.exchange(top-1, top)
	case ax.OpRot: // a b c becomes c a b
		c.exchange(top-1, top)
		c.exchange(top-2, top-1)
	case ax.OpGetv:
		c.getv(in)
	case ax.OpSetv:
		c.setv(in, top)
	case ax.OpGoto:
		c.jump(in)
		c.alive = false
	case ax.OpIfGoto:
		c.ifGoto(in, top)
	case ax.OpTrace, ax.OpTracenz, ax.OpTraceQuick, ax.OpTrace16, ax.OpTracev, ax.OpPrintf:
		c.effect(in, top)
	case ax.OpEnd:
		c.finish(c, in)
		if c.alive = false; !last {
			c.Jmp(c.done)
		}
	default:
		c.binary(in, top-1)
	}
}

// fused compiles a load together with the extension that follows it, if it does so.
func (c *compiler) fused(in, next ax.Instruction) bool {
	if in.Op < ax.OpRef8 || in.Op > ax.OpRef64 || next.Op != ax.OpExt && next.Op != ax.OpZeroExt {
		return false
	}
	if next.Operand != 8<<(in.Op-ax.OpRef8) {
		return false
	}
	top := len(c.cells) - 1
	if c.cells[top].kind == flags {
		c.force(top)
	}
	c.ref(in, top, next.Op == ax.OpExt)
	return true
}

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

// jump leads to the target of in. The flags stay.
func (c *compiler) jump(in ax.Instruction) {
	c.settle()
	c.Jmp(c.mark(in))
}

// mark is the label of a jump's target, which has now been reached.
func (c *compiler) mark(in ax.Instruction) asm.Label {
	m := c.marks[int(in.Operand)]
	m.reached, m.height = true, len(c.cells)
	return m.label
}

func (c *compiler) ifGoto(in ax.Instruction, top int) {
	v := c.cells[top]
	cond := asm.CondNE
	switch v.kind {
	case constant:
		c.cells = c.cells[:top]
		if v.disp != 0 {
			c.jump(in)
			c.alive = false
		}
		return
	case flags:
		cond = v.cond
	default:
		c.truth(top)
	}
	c.cells = c.cells[:top]
	c.settle()
	c.Jcc(cond, c.mark(in))
}

// ref loads from the address in the top cell.
func (c *compiler) ref(in ax.Instruction, top int, signed bool) {
	addr := c.operand(top)
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
