package expr

import (
	"tracewell/ax"
	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
)

// Error is a fault in the text of an expression, or in a text that contains one, with the part that is wrong. It is what every
// exported function that parses or compiles an expression returns.
type Error struct {
	Text       string // the whole expression
	Start, End int    // of the part that is wrong, in bytes of Text; End may equal Start
	Problem    string // what is wrong, in one line: "there is no qq"
	Hint       string // what to do about it: "did you mean q?"; "" where nothing is known
	Unknown    string // the name that the scope does not have; "" if the fault is another
}

// Error returns the problem, Text with the part marked by ^~~~ below it, and the hint, each on a line of its own.
func (e *Error) Error() string { return (*cexpr.Error)(e).Error() }

// Condition compiles a condition to the bytecode of its value, which is not 0 where it holds. The error is an *Error.
func Condition(text string, s Scope) (bytecode []byte, err error) {
	c := newCompiler(text, s)
	defer rescue(&err)
	root := c.parse()
	return c.bytecode(root, c.scalar(root).code), nil
}

// Told compiles an expression to the bytecode of what tells one value from another: its 64 bits or, for a pointer to characters,
// the text there, which tracenz records, at most limit bytes of it. The error, an *Error, is about an expression of which more or
// something else would have to be told.
func Told(text string, limit uint64, s Scope) (bytecode []byte, err error) {
	c := newCompiler(text, s)
	defer rescue(&err)
	root := c.parse()
	v := c.value(root)
	switch t := v.typ; {
	case t.Kind == ctype.Pointer && t.Elem != nil && t.Elem.Char && t.Elem.Size == 1:
		return c.bytecode(root, c.scalarOf(root, v).code, number(limit), op(ax.OpTracenz)), nil
	case t.Kind == ctype.Integer && t.Size <= 8, t.Kind == ctype.Bool, t.Kind == ctype.Pointer && t.Elem != nil && t.Elem.Size != 1:
		return c.bytecode(root, c.scalarOf(root, v).code), nil
	}
	c.fail(root, "it is more than a number", "")
	return nil, nil
}

// Evaluate compiles what a teval action does, "$count = $count + 1", to bytecode that does it: expressions with commas
// between them, whose assignments are to trace state variables. The error is an *Error.
func Evaluate(text string, s Scope) (bytecode []byte, err error) {
	c := newCompiler(text, s)
	defer rescue(&err)
	root := c.parse()
	return c.bytecode(root, c.scalar(root).code, op(ax.OpPop)), nil
}

// bytecode is the bytes of code and of what follows it, as packets and trace files carry them.
func (c *compiler) bytecode(n *cexpr.Node, work code, more ...func(*ax.Builder)) []byte {
	p, err := build(work, more...)
	if err != nil {
		c.fail(n, err.Error(), "")
	}
	return p.Code()
}
