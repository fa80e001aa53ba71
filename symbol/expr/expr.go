package expr

import (
	"tracewell/ax"
	"tracewell/internal/cexpr"
)

// Error is what is wrong with an expression, with the part marked.
type Error = cexpr.Error

// Condition compiles a condition to the bytecode of its value, which is not 0 where it holds. The error is an *Error.
func Condition(text string, s Scope) (bytecode []byte, err error) {
	c := newCompiler(text, s)
	defer rescue(&err)
	root := c.parse()
	return c.bytecode(root, c.scalar(root).code), nil
}

// Evaluate compiles what a teval action does, "$count = $count + 1", to bytecode that does it: expressions with commas
// between them, whose assignments are to trace state variables. The error is an *Error.
func Evaluate(text string, s Scope) (bytecode []byte, err error) {
	c := newCompiler(text, s)
	defer rescue(&err)
	root := c.parse()
	return c.bytecode(root, c.scalar(root).code, op(ax.OpPop)), nil
}

// bytecode is that of code and what follows it.
func (c *compiler) bytecode(n *cexpr.Node, work code, more ...func(*ax.Builder)) []byte {
	p, err := build(work, more...)
	if err != nil {
		c.fail(n, err.Error(), "")
	}
	return p.Code()
}
