package expr

import (
	"tracewell/ax"
	"tracewell/internal/cexpr"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
	"tracewell/trace"
)

// contents collects what a value has elsewhere: the elements of containers in it. The value itself is collected already, with all
// that leads to it. What cannot be compiled is no error, as the value is there.
func (c *collector) contents(n *cexpr.Node, v value) {
	if v.field != nil || v.computed() {
		return
	}
	_ = attempt(func() {
		var object container.Object = placed{c.compiler, n, v}
		var start code = func(*ax.Builder) error { return nil }
		height := 0
		// An address is computed once: it stays below all else on the stack.
		if at, inMemory := v.place.(Memory); inMemory {
			object, start, height = container.AtBottom, at.Emit, 1
		}
		for _, add := range c.shapes.Collect(v.typ, c.scope.Language(), object, height, c.limits) {
			p, err := build(start, add)
			if err != nil {
				c.fail(n, err.Error(), "")
			}
			c.result.Registers = append(c.result.Registers, p.Requirements().Registers...)
			c.result.Memory = append(c.result.Memory, trace.Action{Kind: trace.CollectExpression, Code: p.Code()})
		}
	})
}

// placed is a value that does not lie in memory as a container.Object.
type placed struct {
	c *compiler
	n *cexpr.Node
	v value
}

// Address implements container.Object. Nothing in a register has one; what an array in a register leads to is not collected.
func (p placed) Address(*ax.Builder, int, int) bool { return false }

// Word implements container.Object. The stack's height does not matter, as the place is found without it.
func (p placed) Word(b *ax.Builder, _, offset int, t *ctype.Type) {
	if err := p.c.load(p.n, p.member(offset, t))(b); err != nil {
		p.c.fail(p.n, err.Error(), "")
	}
}

// Part implements container.Object.
func (p placed) Part(offset int, t *ctype.Type) container.Object {
	return placed{p.c, p.n, p.member(offset, t)}
}

// member is the part of the value that begins so many bytes from its start.
func (p placed) member(offset int, t *ctype.Type) value {
	return value{typ: t, place: part(p.v.place, offset, t.Size, p.v.typ.Size, p.c.scope.Order())}
}
