// Package definition makes tracepoints of a plan and the names of the program that is traced: it finds the locations, compiles
// conditions and actions for each of them, and adds what readers of the frames need besides. It knows neither processes nor
// servers: whoever traces says which files a process consists of, and when there are more of them.
//
// Names mean something else at each address, so every location of a tracepoint has conditions and actions of its own. What can be
// collected at some of its locations only is a warning; what can be collected at none is an error, before the program runs.
//
// Readers of trace files require more than the user asked for. GDB takes a frame to have been made at the address of its
// tracepoint, unless the frame has the pc: so the pc is collected where it may be another. And the source of the actions, which a
// trace file carries as text, has to be what GDB's own commands accept (gdb.go).
package definition

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/record/plan"
	"tracewell/symbol"
	"tracewell/symbol/expr"
	"tracewell/tdesc"
	"tracewell/trace"
)

// compiler makes tracepoints of a plan's, one for each address.
type compiler struct {
	plan      *plan.Plan
	layout    *tdesc.Layout
	isa       *arch.ISA
	variables map[string]trace.VariableNumber
	defined   []trace.Variable // what a target has to be told of them
	foreign   map[string]bool  // expressions that GDB cannot collect
	builtins  []string
}

// newCompiler numbers the plan's trace state variables in the order of their definition, behind $trace_timestamp, which every
// target has. The target's built-in variables have the numbers of trace.Builtin; a variable of the plan with such a name is meant
// to be the built-in one unless it begins with a value of its own.
func newCompiler(p *plan.Plan, layout *tdesc.Layout, isa *arch.ISA, builtins []string) *compiler {
	c := &compiler{
		plan: p, layout: layout, isa: isa, variables: make(map[string]trace.VariableNumber), foreign: make(map[string]bool),
		builtins: builtins,
	}
	for _, name := range slices.Concat(builtins, []string{trace.TimestampName}) {
		v, _ := trace.Builtin(name)
		c.variables[name] = v.Number
		if v.Number != trace.Timestamp && p.Mentions("$"+name) {
			c.defined = append(c.defined, v)
		}
	}
	for i, v := range p.Variables {
		if _, isBuiltin := c.variables[v.Name]; isBuiltin && v.Initial == 0 {
			continue
		}
		defined := trace.Variable{Number: trace.Timestamp + 1 + trace.VariableNumber(i), Initial: v.Initial, Name: v.Name}
		c.defined = slices.DeleteFunc(c.defined, func(b trace.Variable) bool { return b.Name == v.Name })
		c.defined, c.variables[v.Name] = append(c.defined, defined), defined.Number
	}
	return c
}

// checkSets refuses code that sets a built-in variable, as it would have no effect.
func (c *compiler) checkSets(code []byte) error {
	program, err := ax.Decode(code)
	if err != nil {
		return err
	}
	for in := range program.Instructions() {
		if in.Op != ax.OpSetv {
			continue
		}
		for name, n := range c.variables {
			if b, isBuiltin := trace.Builtin(name); isBuiltin && b.Number == n && uint64(n) == in.Operand {
				return fmt.Errorf("$%s is built in: it cannot be set", name)
			}
		}
	}
	return nil
}

// draft is a tracepoint for one location before it is known whether its other locations lack the same.
type draft struct {
	trace.Tracepoint
	location symbol.Location
	warnings []error   // variables of groups that cannot be collected
	lacking  []lacking // expressions that cannot
}

// lacking is an expression of the plan and why it cannot be collected at a location. It becomes an error only if no other
// location of the tracepoint can collect it.
type lacking struct {
	text plan.Text
	err  error
}

// lacks returns why a draft does not collect an expression, nil if it does.
func (d *draft) lacks(text plan.Text) error {
	for _, l := range d.lacking {
		if l.text == text {
			return l.err
		}
	}
	return nil
}

// compile makes the tracepoint for one location, with the names that are in scope there. The while-stepping action has a list of
// its own, whose actions run at each step: names mean there what they mean at the tracepoint, as in GDB.
func (c *compiler) compile(t *plan.Tracepoint, at symbol.Location, s scope) (d *draft, err error) {
	d = &draft{location: at, Tracepoint: trace.Tracepoint{
		Number: t.Number, Addr: at.Addr, Enabled: !t.Disabled, Pass: t.Pass,
		Source: trace.Source{At: t.Location.Value, Cond: t.Condition.Value},
	}}
	if t.Condition.Value != "" {
		if d.Condition, err = expr.Condition(t.Condition.Value, s); err == nil {
			err = c.checkSets(d.Condition)
		}
		if err != nil {
			return nil, t.Condition.Explain(err)
		}
	}
	if t.Repeats {
		d.Repeats, d.Alike = alike(t.Alike, s)
	}
	b := actionBuilder{compiler: c, scope: s}
	implied, absent := b.addImplied(t, at)
	for _, a := range c.plan.AllActions(t) {
		if a.Kind != plan.Step {
			if err := b.add(a); err != nil {
				return nil, err
			}
			continue
		}
		steps := actionBuilder{compiler: c, scope: s}
		for _, a := range a.Body {
			if err := steps.add(a); err != nil {
				return nil, err
			}
		}
		d.Step, d.StepActions = a.Steps, steps.finish()
		b.warnings, b.lacking = append(b.warnings, steps.warnings...), append(b.lacking, steps.lacking...)
	}
	d.Actions, d.warnings, d.lacking = b.finish(), b.warnings, b.lacking
	d.Source.Commands = append(absent, plan.Commands(append(implied, c.plan.AllActions(t)...), c.dialect)...)
	switch {
	case t.Entry != 0:
		d.Source.At = "*" + at.Addr.String()
		d.Source.Commands = slices.Insert(d.Source.Commands, 0, t.ReturnsComment())
	case at.Call != "" || at.Probe != nil:
		d.Source.At = "*" + at.Addr.String()
		d.Source.Commands = slices.Insert(d.Source.Commands, 0, t.PlaceComment())
	}
	return d, nil
}

// mostTold is how many bytes of a text tell it from others.
const mostTold = 200

// alike compiles the expressions by which hits are told apart, false if one is neither a number nor a text.
func alike(list []plan.Text, s scope) (ok bool, codes [][]byte) {
	for _, text := range list {
		code, err := expr.Told(text.Value, mostTold, s)
		if err != nil {
			return false, nil
		}
		codes = append(codes, code)
	}
	return true, codes
}

// actionBuilder makes the actions of a list, in their order. What is collected goes together until something is evaluated, after
// which the same expression may collect something else: a trace state variable that teval has set.
type actionBuilder struct {
	*compiler
	scope    scope
	pending  []*expr.Collection
	actions  []trace.Action
	warnings []error
	lacking  []lacking
}

// add compiles an action. What cannot be collected is noted, as it may be there at another location; what cannot be evaluated is
// an error, because the run would compute something else without it.
func (b *actionBuilder) add(a plan.Action) error {
	for _, text := range a.Expressions {
		var err error
		switch a.Kind {
		case plan.Collect:
			if err := b.collect(a, text); err != nil {
				b.lacking = append(b.lacking, lacking{text, text.Explain(err)})
			}
		case plan.Evaluate:
			b.flush()
			var code []byte
			if code, err = expr.Evaluate(text.Value, b.scope); err == nil {
				err = b.checkSets(code)
			}
			b.actions = append(b.actions, trace.Action{Kind: trace.CollectExpression, Code: code})
		default:
			err = fmt.Errorf("action %q cannot stand here", a.Kind)
		}
		if err != nil {
			return text.Explain(err)
		}
	}
	return nil
}

// collect compiles one expression of a collect action. The modifier /s is the action's in the plan and the expression's in
// package expr, which reads it as GDB does. Variables of $locals and $args that cannot be had are warnings: the user has not
// named them.
func (b *actionBuilder) collect(a plan.Action, text plan.Text) error {
	modifier := ""
	if a.String {
		modifier = "/s "
		if a.Limit > 0 {
			modifier = fmt.Sprintf("/s%d ", a.Limit)
		}
	}
	c, err := expr.Collect(modifier+text.Value, b.scope, b.plan.Settings.Contents)
	if err != nil {
		return withoutPrefix(err, modifier)
	}
	for _, m := range c.Missing {
		b.warnings = append(b.warnings, text.Explain(fmt.Errorf("%s cannot be collected: %s", m.Name, m.Reason)))
	}
	b.noteForeign(text, c)
	b.addPointed(c)
	b.pending = append(b.pending, c)
	return nil
}

// withoutPrefix makes an error refer to the text behind a prefix: the user wrote /s with the action and not in the expression.
func withoutPrefix(err error, prefix string) error {
	var marked *expr.Error
	if !errors.As(err, &marked) || !strings.HasPrefix(marked.Text, prefix) {
		return err
	}
	moved := *marked
	moved.Text = moved.Text[len(prefix):]
	moved.Start, moved.End = max(0, moved.Start-len(prefix)), max(0, moved.End-len(prefix))
	return &moved
}

// flush makes actions of what is to be collected so far: one mask of registers for all, then memory, as GDB joins the expressions
// of a collect line.
func (b *actionBuilder) flush() {
	if len(b.pending) > 0 {
		b.actions = append(b.actions, expr.Actions(b.pending...)...)
		b.pending = nil
	}
}

// finish returns the actions of the list.
func (b *actionBuilder) finish() []trace.Action {
	b.flush()
	return b.actions
}

// severalPlaces returns the numbers that tracepoints at more than one address have. Without any registers readers of a trace file
// could not tell where their frames were made: GDB takes it to be the address of the tracepoint, and of several locations the
// first.
func severalPlaces(lists ...[]trace.Tracepoint) map[trace.Number]bool {
	first, several := make(map[trace.Number]arch.Addr), make(map[trace.Number]bool)
	for _, list := range lists {
		for i := range list {
			d := &list[i]
			if at, known := first[d.Number]; !known {
				first[d.Number] = d.Addr
			} else if at != d.Addr {
				several[d.Number] = true
			}
		}
	}
	return several
}

// withRegisters adds the pc to a list of actions that collects registers, or must. A frame with a register block has all
// registers up to its length, and GDB takes the pc from there.
func (c *compiler) withRegisters(actions []trace.Action, must bool) []trace.Action {
	registers := registersOf(actions)
	if len(registers) == 0 && !must {
		return actions
	}
	rest := slices.DeleteFunc(slices.Clone(actions), func(a trace.Action) bool { return a.Kind == trace.CollectRegisters })
	return slices.Insert(rest, 0, trace.Action{Kind: trace.CollectRegisters, Mask: mask(append(registers, c.isa.PC))})
}

// registersOf returns the registers that actions collect by mask. Bytecode collects none: expr adds those that it reads to the
// mask.
func registersOf(actions []trace.Action) (registers []arch.Reg) {
	for _, a := range actions {
		if a.Kind == trace.CollectRegisters {
			registers = append(registers, a.Registers()...)
		}
	}
	return registers
}

// mask is the mask of an R action: bit n of the number that the bytes make, highest first, is register n.
func mask(registers []arch.Reg) []byte {
	highest := slices.Max(registers)
	m := make([]byte, highest/8+1)
	for _, r := range registers {
		m[len(m)-1-int(r/8)] |= 1 << (r % 8)
	}
	return m
}

// extent is how long a register block must be, in bytes, for the registers that a tracepoint collects: blocks are prefixes of the
// g packet.
func (c *compiler) extent(d *trace.Tracepoint) int {
	length := 0
	for _, r := range append(registersOf(d.Actions), registersOf(d.StepActions)...) {
		if slot := c.layout.ByNumber(r); slot != nil {
			length = max(length, slot.Offset+slot.Size)
		}
	}
	return length
}
