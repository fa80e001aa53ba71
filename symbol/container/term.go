package container

import (
	"tracewell/ax"
	"tracewell/symbol/ctype"
)

// term is code that pushes one number, computed from an object and a cursor, which is the place of an element or its number.
type term func(e *emitter)

// emitter puts terms together to a program. The height of the stack is known everywhere, so that an object or a cursor that lies
// deeper can be picked.
type emitter struct {
	*ax.Builder
	height int
	object Object
	cursor int  // where it lies on the stack
	traced bool // what is loaded is recorded
}

// Object is the container that terms are about. Both methods append code that pushes a number.
type Object interface {
	// Address pushes where a part begins that many bytes from the object's start. It is false if the object is not in memory.
	Address(b *ax.Builder, height, offset int) bool
	// Word pushes an integer of the object, extended by the sign of its type.
	Word(b *ax.Builder, height, offset int, t *ctype.Type)
	// Part is the object that begins that many bytes from this one's start.
	Part(offset int, t *ctype.Type) Object
}

// onStack is an object whose address lies on the stack.
type onStack struct{ at, offset int }

// AtBottom is an object whose address is the lowest cell of the stack.
var AtBottom Object = onStack{}

func (o onStack) Address(b *ax.Builder, height, offset int) bool {
	b.Emit(ax.OpPick, uint64(height-1-o.at))
	if offset += o.offset; offset != 0 {
		b.Const(int64(offset))
		b.Emit(ax.OpAdd)
	}
	return true
}

func (o onStack) Word(b *ax.Builder, height, offset int, t *ctype.Type) {
	o.Address(b, height, offset)
	fetch(b, t)
}

func (o onStack) Part(offset int, _ *ctype.Type) Object { return onStack{o.at, o.offset + offset} }

// fetch replaces an address by the integer there.
func fetch(b *ax.Builder, t *ctype.Type) {
	switch t.Size {
	case 1:
		b.Emit(ax.OpRef8)
	case 2:
		b.Emit(ax.OpRef16)
	case 4:
		b.Emit(ax.OpRef32)
	default:
		b.Emit(ax.OpRef64)
	}
	if t.Signed && t.Size < 8 {
		b.Emit(ax.OpExt, uint64(8*t.Size))
	}
}

// emit appends an operation that changes the height by so much.
func (e *emitter) emit(change int, op ax.Op, operand ...uint64) {
	e.Emit(op, operand...)
	e.height += change
}

// push appends a constant.
func (e *emitter) push(n int) {
	e.Const(int64(n))
	e.height++
}

// jump appends a jump, which takes a number off the stack if it is conditional.
func (e *emitter) jump(op ax.Op, to ax.Label) {
	e.Jump(op, to)
	if op == ax.OpIfGoto {
		e.height--
	}
}

// number is a constant.
func number(n int) term { return func(e *emitter) { e.push(n) } }

// word is an integer within the object.
func word(f ctype.Field) term {
	return func(e *emitter) {
		e.object.Word(e.Builder, e.height, f.Offset, f.Type)
		e.height++
	}
}

// inside is the address of a part of the object.
func inside(offset int) term {
	return func(e *emitter) {
		if !e.object.Address(e.Builder, e.height, offset) {
			e.Const(0) // an object in registers has no parts that anything could point to
		}
		e.height++
	}
}

// cursor is the place or the number of the element.
func cursor(e *emitter) { e.emit(1, ax.OpPick, uint64(e.height-1-e.cursor)) }

// load is an integer in memory.
func load(addr term, t *ctype.Type) term {
	return func(e *emitter) {
		addr(e)
		if e.traced {
			e.emit(0, ax.OpTraceQuick, uint64(t.Size))
		}
		fetch(e.Builder, t)
	}
}

// peek is an integer in memory that is recorded anyway, as the owner of the elements.
func peek(addr term, t *ctype.Type) term {
	return func(e *emitter) {
		addr(e)
		fetch(e.Builder, t)
	}
}

// clamped is a number brought into the range from 0 to most.
func clamped(t term, most uint64) term {
	return func(e *emitter) {
		t(e)
		Clamp(e.Builder, most)
	}
}

// with is an operation on two numbers.
func (t term) with(op ax.Op, u term) term {
	return func(e *emitter) {
		t(e)
		u(e)
		e.emit(-1, op)
	}
}

func (t term) plus(n int) term {
	if n == 0 {
		return t
	}
	return t.with(ax.OpAdd, number(n))
}

func (t term) minus(u term) term { return t.with(ax.OpSub, u) }
func (t term) times(n int) term  { return t.with(ax.OpMul, number(n)) }
func (t term) equals(u term) term {
	return t.with(ax.OpEqual, u)
}

// not is 1 for 0, and 0 for any other number.
func (t term) not() term {
	return func(e *emitter) {
		t(e)
		e.emit(0, ax.OpLogNot)
	}
}

// choose is one of two numbers.
func choose(condition, yes, no term) term {
	return func(e *emitter) {
		chosen, done := e.NewLabel(), e.NewLabel()
		condition(e)
		e.jump(ax.OpIfGoto, chosen)
		no(e)
		e.jump(ax.OpGoto, done)
		e.height-- // on the other way it is not there yet
		e.Bind(chosen)
		yes(e)
		e.Bind(done)
	}
}

// follow takes steps, at most so many, while a condition of where it is holds. Both have that for their cursor.
func follow(start, while, step term, most int) term {
	return func(e *emitter) {
		outer := e.cursor
		again, done := e.NewLabel(), e.NewLabel()
		start(e)
		e.cursor = e.height - 1
		e.push(most)
		e.Bind(again)
		while.not()(e)
		e.jump(ax.OpIfGoto, done)
		e.push(1)
		e.emit(-1, ax.OpSub)
		e.emit(1, ax.OpDup)
		e.emit(0, ax.OpLogNot)
		e.jump(ax.OpIfGoto, done)
		step(e)
		e.advance()
		e.jump(ax.OpGoto, again)
		e.Bind(done)
		e.emit(-1, ax.OpPop)
		e.cursor = outer
	}
}

// advance makes next, rounds of place, rounds, next.
func (e *emitter) advance() {
	for _, op := range []ax.Op{ax.OpSwap, ax.OpRot, ax.OpSwap, ax.OpPop, ax.OpSwap} {
		e.Emit(op)
	}
	e.height--
}

// Clamp brings the number on the stack into the range from 0 to most: a length that the program has may be garbage before it is
// initialized, and a frame must not be filled by it.
func Clamp(b *ax.Builder, most uint64) {
	// The agent has no operations for minimum and maximum. What is no number up to the bound becomes the bound, or 0 if it has a
	// sign: the bound in all bits of ~(n >> 63).
	within := b.NewLabel()
	b.Emit(ax.OpDup)
	b.Const(int64(most) + 1)
	b.Emit(ax.OpLessUnsigned)
	b.Jump(ax.OpIfGoto, within)
	b.Const(63)
	b.Emit(ax.OpRshSigned)
	b.Emit(ax.OpBitNot)
	b.Const(int64(most))
	b.Emit(ax.OpBitAnd)
	b.Bind(within)
}
