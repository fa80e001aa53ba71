//go:build linux && amd64

package jit

import (
	"slices"

	"tracewell/ax"
)

// generator makes programs. Most of what it makes works on memory that can be read and does not fail, and all of it goes forward.
type generator struct {
	*bench
	ax.Builder
	height  int
	pending []target
}

// target is a label that jumps have named, with the height of the stack that it needs.
type target struct {
	label  ax.Label
	height int
}

// program makes one.
func (b *bench) program() *ax.Program {
	g := &generator{bench: b}
	if b.IntN(3) == 0 {
		g.walk(3 + b.IntN(40))
	} else {
		for range 1 + b.IntN(2) {
			g.statement(1 + b.IntN(4))
		}
	}
	g.Emit(ax.OpEnd)
	p, err := g.Program()
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

var (
	binaries = []ax.Op{ax.OpAdd, ax.OpSub, ax.OpMul, ax.OpBitAnd, ax.OpBitOr, ax.OpBitXor, ax.OpEqual, ax.OpLessSigned, ax.OpLessUnsigned,
		ax.OpLsh, ax.OpRshSigned, ax.OpRshUnsigned, ax.OpDivSigned, ax.OpDivUnsigned, ax.OpRemSigned, ax.OpRemUnsigned}
	refs      = []ax.Op{ax.OpRef8, ax.OpRef16, ax.OpRef32, ax.OpRef64}
	bitCounts = []uint64{0, 1, 7, 8, 16, 31, 32, 33, 63, 64, 65, 255}
	sizes     = []uint64{0, 1, 4, 8, 200}
)

func (g *generator) one(list []uint64) uint64 { return list[g.IntN(len(list))] }

// statement is what GDB's compiler makes of an expression, and of actions with one.
func (g *generator) statement(depth int) {
	switch g.IntN(6) {
	case 0:
		g.pointer(depth)
		g.Emit(ax.OpConst8, g.one(sizes))
		g.Emit(ax.OpTrace)
	case 1:
		g.pointer(depth)
		g.expression(0)
		g.Emit(ax.OpTracenz)
	case 2:
		g.pointer(depth)
		g.Emit(ax.OpTraceQuick, g.one(sizes))
		g.Emit(ax.OpPop)
	default:
		g.expression(depth)
		if g.IntN(3) == 0 {
			g.Emit(ax.OpSetv, g.settable())
		}
	}
}

// variable is the number of one: stored, special, or missing.
func (g *generator) variable() uint64 {
	return g.one([]uint64{0, 1, 2, 3, 3, 3, knownVariable, computedVariable, 99})
}

// settable is a variable that can be set.
func (g *generator) settable() uint64 { return g.one([]uint64{0, 1, 2, 3, 99}) }

// pointer pushes an address, which mostly can be read.
func (g *generator) pointer(depth int) {
	g.expression(depth)
	if g.IntN(8) == 0 {
		return
	}
	g.Emit(ax.OpConst16, 0xff8)
	g.Emit(ax.OpBitAnd)
	g.Const(int64(g.memory.Addr(readable)))
	g.Emit(ax.OpAdd)
	if g.IntN(3) == 0 {
		g.Emit(ax.OpConst8, uint64(g.IntN(9)))
		g.Emit(ax.OpAdd)
	}
}

// leaf pushes a value.
func (g *generator) leaf() {
	switch g.IntN(8) {
	case 0, 1, 2:
		g.Const(int64(g.number()))
	case 3:
		g.Emit(ax.OpGetv, g.variable())
	case 4: // a register plus a constant
		g.Emit(ax.OpReg, uint64(g.IntN(16)))
		g.Const(int64(g.number()))
		g.Emit(binaries[g.IntN(2)])
	default:
		g.Emit(ax.OpReg, uint64(g.IntN(19)))
	}
}

// expression pushes one value.
func (g *generator) expression(depth int) {
	if depth <= 0 {
		g.leaf()
		return
	}
	g.expression(depth - 1 - g.IntN(2))
	switch n := g.IntN(24); {
	case n < 10:
		g.expression(depth - 1 - g.IntN(2))
		g.Emit(binaries[g.IntN(len(binaries))])
	case n < 12:
		g.Emit([]ax.Op{ax.OpLogNot, ax.OpBitNot}[g.IntN(2)])
	case n < 14:
		g.Emit([]ax.Op{ax.OpExt, ax.OpZeroExt}[g.IntN(2)], g.one(bitCounts))
	case n < 17:
		g.Emit(ax.OpPop)
		g.pointer(depth - 1)
		size := g.IntN(4)
		g.Emit(refs[size])
		if g.IntN(2) == 0 {
			g.Emit([]ax.Op{ax.OpExt, ax.OpZeroExt}[g.IntN(2)], 8<<size)
		}
	case n == 17:
		g.Emit(ax.OpDup)
		g.Emit(binaries[g.IntN(len(binaries))])
	case n == 18:
		g.expression(depth - 1)
		g.Emit(ax.OpSwap)
		g.Emit(binaries[g.IntN(len(binaries))])
	case n == 19:
		g.expression(depth - 1)
		g.expression(depth - 2)
		g.Emit(ax.OpRot)
		g.Emit(binaries[g.IntN(len(binaries))])
		g.Emit(binaries[g.IntN(len(binaries))])
	case n == 20:
		g.expression(depth - 1)
		g.Emit(ax.OpPick, uint64(g.IntN(2)))
		g.Emit(binaries[g.IntN(len(binaries))])
		g.Emit(binaries[g.IntN(len(binaries))])
	case n == 21:
		g.Emit(ax.OpSetv, g.settable())
	default: // a ? b : c
		yes, end := g.NewLabel(), g.NewLabel()
		g.Jump(ax.OpIfGoto, yes)
		g.expression(depth - 1)
		g.Jump(ax.OpGoto, end)
		g.Bind(yes)
		g.expression(depth - 1)
		g.Bind(end)
	}
}

// walk appends n instructions of any kind, with jumps across one another that GDB would not make.
func (g *generator) walk(n int) {
	for range n {
		if len(g.pending) > 0 && g.IntN(6) == 0 {
			g.land(true)
		}
		switch pick := g.IntN(14); {
		case g.height == 0 || g.height < 9 && pick < 5:
			g.leaf()
			g.height++
		case pick == 5:
			t := target{g.NewLabel(), g.height - 1}
			g.Jump(ax.OpIfGoto, t.label)
			g.height--
			g.pending = append(g.pending, t)
		case pick == 6 && len(g.pending) > 0: // what follows is reached by a jump only
			t := target{g.NewLabel(), g.height}
			g.Jump(ax.OpGoto, t.label)
			g.land(false)
			g.pending = append(g.pending, t)
		case pick == 7:
			g.effect()
		case pick < 10 && g.height >= 2:
			g.Emit(binaries[g.IntN(len(binaries))])
			g.height--
		default:
			g.move()
		}
	}
	for len(g.pending) > 0 {
		g.land(true)
	}
}

// land binds a pending label, at the height that it needs if control comes from above.
func (g *generator) land(fallsIn bool) {
	i := g.IntN(len(g.pending))
	t := g.pending[i]
	g.pending = slices.Delete(g.pending, i, i+1)
	for ; fallsIn && g.height > t.height; g.height-- {
		g.Emit(ax.OpPop)
	}
	for ; fallsIn && g.height < t.height; g.height++ {
		g.leaf()
	}
	g.height = t.height
	g.Bind(t.label)
}

// effect records or sets something.
func (g *generator) effect() {
	switch pick := g.IntN(6); {
	case pick == 0:
		g.Emit(ax.OpTracev, g.variable())
	case pick == 1:
		g.Emit(ax.OpTrace16, g.one(sizes))
	case pick == 2 && g.height >= 2:
		g.Emit([]ax.Op{ax.OpTrace, ax.OpTracenz}[g.IntN(2)])
		g.height -= 2
	case pick == 3 && g.height >= 2:
		n := g.IntN(min(g.height-1, 6))
		g.Printf(n, "%d\x00and more")
		g.height -= n + 2
	default:
		g.Emit(ax.OpSetv, g.settable())
	}
}

// move appends an opcode that moves or changes cells.
func (g *generator) move() {
	switch pick := g.IntN(8); {
	case pick == 0:
		g.Emit(ax.OpPop)
		g.height--
	case pick == 1 && g.height < 9:
		g.Emit(ax.OpPick, uint64(g.IntN(g.height)))
		g.height++
	case pick == 2 && g.height < 9:
		g.Emit(ax.OpDup)
		g.height++
	case pick == 3 && g.height >= 2:
		g.Emit(ax.OpSwap)
	case pick == 4 && g.height >= 3:
		g.Emit(ax.OpRot)
	case pick == 5:
		g.Emit([]ax.Op{ax.OpLogNot, ax.OpBitNot}[g.IntN(2)])
	case pick == 6:
		g.Emit([]ax.Op{ax.OpExt, ax.OpZeroExt}[g.IntN(2)], g.one(bitCounts))
	default:
		g.pointer(0)
		g.Emit(ax.OpAdd)
		g.Emit(ax.OpPop)
		g.pointer(0)
		g.Emit(refs[g.IntN(4)])
	}
}
