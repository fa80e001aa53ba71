package expr

import (
	"strings"

	"tracewell/ax"
	"tracewell/internal/cexpr"
	"tracewell/trace"
)

// getVariable pushes a trace state variable. It may have changed since the hit began: actions run one after another.
func getVariable(n trace.VariableNumber) code {
	return func(b *ax.Builder) error {
		b.Emit(ax.OpGetv, uint64(n))
		return nil
	}
}

// variable is the trace state variable that an assignment is to. The hint is for what can be none.
func (c *compiler) variable(n *cexpr.Node, hint string) trace.VariableNumber {
	if n.Form == cexpr.NameForm && n.Token.Text[0] == '$' {
		if number, ok := c.scope.Variable(n.Token.Text[1:]); ok {
			return number
		}
	}
	if name := n.String(); n.Form == cexpr.NameForm && name[0] == '$' {
		hint = "it has to be defined: --tvariable '" + name + "', or tvariable " + name + " in a script"
	}
	c.fail(n, n.String()+" is no trace state variable, and only those can be set", hint)
	return 0
}

// assign is = and its kin. Only trace state variables can be assigned to, since a tracepoint must not change the program.
func (c *compiler) assign(n *cexpr.Node) value {
	hint := ""
	if n.Op == "=" {
		hint = "to compare, write =="
	}
	number := c.variable(n.Kids[0], hint)
	v := c.scalar(n.Kids[1])
	if operator := strings.TrimSuffix(n.Op, "="); operator != "" {
		v = c.operate(n, operator, value{typ: variableType, code: getVariable(number)}, v)
	}
	return value{typ: variableType, code: v.code.then(op(ax.OpSetv, uint64(number)))}
}

// step is ++ and --, before or behind their operand. Unlike in C the result of either is a value and cannot be assigned to.
func (c *compiler) step(n *cexpr.Node) value {
	number := c.variable(n.Kids[0], "")
	change, old := op(ax.OpAdd), getVariable(number)
	if n.Op == "--" {
		change = op(ax.OpSub)
	}
	set := op(ax.OpSetv, uint64(number))
	one := func(b *ax.Builder) { b.Const(1) }
	// x++ has the old value: it is duplicated below the new one, which OpSetv leaves on the stack.
	if n.Form == cexpr.StepBefore {
		return value{typ: variableType, code: old.then(one, change, set)}
	}
	return value{typ: variableType, code: old.then(op(ax.OpDup), one, change, set, op(ax.OpPop))}
}

// comma computes both operands and has the value of the second, which may be anything: a, s collects s. What the first one reads is
// read all the same.
func (c *compiler) comma(n *cexpr.Node) value {
	first, second := c.value(n.Kids[0]), c.value(n.Kids[1])
	// A structure is not loaded, so there is nothing to drop.
	if first.code == nil && !first.typ.Scalar() {
		return second
	}
	dropped := c.load(n.Kids[0], first).then(op(ax.OpPop))
	if m, ok := second.place.(Memory); ok {
		second.place = Memory{dropped.followed(m.Emit)}
		return second
	}
	s := c.scalarOf(n.Kids[1], second)
	return value{typ: s.typ, code: dropped.followed(s.code)}
}
