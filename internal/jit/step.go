package jit

import "tracewell/ax"

// keepsFlags are the opcodes that can work on a cell that is in the flags. All others have it computed first.
var keepsFlags = map[ax.Op]bool{
	ax.OpLogNot: true, ax.OpIfGoto: true, ax.OpGoto: true, ax.OpEnd: true, ax.OpExt: true, ax.OpZeroExt: true, ax.OpPop: true,
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
	case ax.OpIfGoto:
		c.branch(in, false)
	case ax.OpTrace, ax.OpTracenz, ax.OpTraceQuick, ax.OpTrace16, ax.OpTracev, ax.OpPrintf:
		c.effect(in, top)
	case ax.OpEnd:
		c.end(in, last)
	default:
		c.binary(in, top-1)
	}
}

// fused compiles two instructions as one, if they are a pair for which it can: a load and the extension to all of a cell, or a jump
// over a jump, which GDB makes for each part of a condition.
func (c *compiler) fused(in, next ax.Instruction) bool {
	switch {
	case in.Op >= ax.OpRef8 && in.Op <= ax.OpRef64 && (next.Op == ax.OpExt || next.Op == ax.OpZeroExt):
		if next.Operand != 8<<(in.Op-ax.OpRef8) {
			return false
		}
		top := len(c.cells) - 1
		if c.cells[top].kind == flags {
			c.force(top)
		}
		c.ref(in, top, next.Op == ax.OpExt)
	case in.Op == ax.OpIfGoto && next.Op == ax.OpGoto && int(in.Operand) == next.Offset+next.Size():
		c.branch(next, true)
	default:
		return false
	}
	return true
}

// onlyRecorded reports whether the next three instructions push a variable, record it and pop it, as GDB's do for an action that
// collects a variable. Its value need not be read then: that of a thread's id takes a system call.
func (c *compiler) onlyRecorded(rest []ax.Instruction) bool {
	return len(rest) > 2 && rest[0].Op == ax.OpGetv && rest[1].Op == ax.OpTracev && rest[2].Op == ax.OpPop &&
		c.marks[rest[1].Offset] == nil && c.marks[rest[2].Offset] == nil
}
