package check

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/tfile"
	"tracewell/trace"
)

// tracepoint is what the definitions say of one number.
type tracepoint struct {
	first     int64 // offset of the first piece
	locations int   // that could be read
	steps     bool
	collects  collection
}

// mention is where the lines speak of a tracepoint at an address.
// A tracepoint with several locations has pieces for each of its addresses, under one number.
type mention struct {
	first   int64 // offset of the first piece
	offset  int64 // of the last T piece
	defined bool  // there is one, be it malformed
	counted bool
}

// collection is what the actions of a tracepoint can put into a frame, at all its locations, stepping or not.
type collection struct {
	registers, memory, static bool
	longest                   uint64 // bytes that one action collects, anyLength if an expression decides
}

// defined checks the tracepoints as the definitions make them.
func (c *checker) defined() {
	for i := range c.header.Tracepoints {
		t := &c.header.Tracepoints[i]
		known := c.tracepoints[t.Number]
		// Frames tell the number and no address, so that what any location can collect is allowed in all frames of the
		// number.
		known.locations++
		known.steps = known.steps || t.Step > 0
		for _, a := range slices.Concat(t.Actions, t.StepActions) {
			known.collects.action(a)
		}
		if m := c.mentions[t.Key()]; m.defined {
			c.definition(t, m.offset)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(c.tracepoints)) {
		if number < 1 || number > trace.MaxNumber {
			c.add(ruleNumber, c.tracepoints[number].first, "a tracepoint has the number %d", number)
		}
	}
	c.ascending()
}

// ascending looks for tracepoints in the order of their numbers, which nobody who has seen GDB read it would choose.
func (c *checker) ascending() {
	if ts := c.header.Tracepoints; ascend(ts) {
		c.add(ruleTracepointOrder, c.tracepoints[ts[0].Number].first,
			"tracepoints are defined in ascending order, so that GDB makes tracepoint %d its first", ts[len(ts)-1].Number)
	}
}

// ascend reports whether tracepoints are in the order of their numbers, of which there are several.
// Equal numbers are locations of one tracepoint and in no order of their own.
func ascend(ts []trace.Tracepoint) bool {
	byNumber := func(a, b trace.Tracepoint) int { return cmp.Compare(a.Number, b.Number) }
	return len(ts) > 0 && ts[0].Number < ts[len(ts)-1].Number && slices.IsSortedFunc(ts, byNumber)
}

// definition checks a tracepoint at one location, the definition of which is at an offset.
func (c *checker) definition(t *trace.Tracepoint, at int64) {
	actions := slices.Concat(t.Actions, t.StepActions)
	// Frames of static tracepoints have S blocks, which GDB 13.1 cannot read from a file.
	if t.Static {
		c.add(ruleStatic, at, "tracepoint %d is static", t.Number)
	}
	if t.Source.At == "" {
		c.add(ruleNoLocation, at, "no source says where tracepoint %d is, at %v", t.Number, t.Addr)
	}
	if t.Condition != nil && t.Source.Cond == "" {
		c.add(ruleNoCondition, at, "no source says what the condition of tracepoint %d is", t.Number)
	}
	switch {
	case len(t.Source.Commands) == 0 && len(actions) > 0:
		c.add(ruleNoCommands, at, "no source says what tracepoint %d collects", t.Number)
	case t.Step > 0 && !slices.ContainsFunc(t.Source.Commands, stepping):
		c.add(ruleStepping, at, "no source says that tracepoint %d steps", t.Number)
	}
	for _, command := range t.Source.Commands {
		if collectsStrings(command) {
			c.add(ruleCollectStrings, at, "tracepoint %d has the action %q", t.Number, command)
			break
		}
	}
	c.program(t, at)
	c.expression(t, at, "condition", t.Condition)
	for _, a := range actions {
		c.action(t, at, a)
	}
}

// stepping reports whether a command is while-stepping, or one of its other names.
func stepping(command string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	// GDB takes any prefix of a command that is unambiguous; "wh" would be whatis or while, too.
	return word == "stepping" || word == "ws" || strings.HasPrefix("while-stepping", word) && len(word) > len("wh")
}

// collectsStrings reports whether a command is collect/s.
func collectsStrings(command string) bool {
	name, options, found := strings.Cut(strings.TrimSpace(command), "/")
	name = strings.TrimSpace(name)
	return found && name != "" && strings.HasPrefix("collect", name) && strings.HasPrefix(options, "s")
}

// action checks one action.
func (c *checker) action(t *trace.Tracepoint, at int64, a trace.Action) {
	switch a.Kind {
	case trace.CollectRegisters:
		for _, reg := range a.Registers() {
			c.register(t, at, reg)
		}
	case trace.CollectMemory:
		if a.Base != trace.Absolute {
			c.register(t, at, a.Base)
		}
	case trace.CollectExpression:
		c.expression(t, at, "action", a.Code)
	}
}

// action notes what one action can collect.
func (can *collection) action(a trace.Action) {
	switch a.Kind {
	case trace.CollectRegisters:
		can.registers = true
	case trace.CollectMemory:
		can.memory = true
		can.longest = max(can.longest, a.Length)
	case trace.CollectStatic:
		can.static = true
	case trace.CollectExpression:
		can.expression(a.Code)
	}
}

// expression notes that an expression may collect memory of any length.
// How much it records is computed when it runs; a length on the stack can be anything.
func (can *collection) expression(code []byte) {
	program, err := ax.Decode(code)
	if err != nil {
		can.memory, can.longest = true, anyLength
		return
	}
	for in := range program.Instructions() {
		switch in.Op {
		case ax.OpTrace, ax.OpTraceQuick, ax.OpTrace16, ax.OpTracenz:
			can.memory, can.longest = true, anyLength
		}
	}
}

// anyLength is the longest of a collection with expressions.
const anyLength = 1 << 62

// register looks a register up in the description.
// Without a description every number may be a register: GDB's own numbering of the machine is not known here.
func (c *checker) register(t *trace.Tracepoint, at int64, reg arch.Reg) {
	if c.layout != nil && c.layout.ByNumber(reg) == nil {
		c.tracepointFinding(ruleCodeRegister, t, at,
			"tracepoint %d reads register %d, which the description does not have", t.Number, reg)
	}
}

// expression checks bytecode, of which nil is none.
func (c *checker) expression(t *trace.Tracepoint, at int64, what string, code []byte) {
	if code == nil {
		return
	}
	program, err := ax.Decode(code)
	if err != nil {
		c.tracepointFinding(ruleBytecode, t, at, "%s of tracepoint %d: %v", what, t.Number, err)
		return
	}
	needs := program.Requirements()
	for _, flaw := range needs.Flaws {
		// Neither keeps an evaluator from running it: code that nothing jumps to, and a stack that is higher on one
		// way than on another.
		if flaw.Kind != ax.ErrDeadCode && flaw.Kind != ax.ErrHeight {
			c.tracepointFinding(ruleBytecode, t, at, "%s of tracepoint %d: %v", what, t.Number, flaw)
		}
	}
	for _, reg := range needs.Registers {
		c.register(t, at, reg)
	}
	for _, v := range needs.Variables {
		if c.variables[trace.VariableNumber(v)] == nil {
			c.tracepointFinding(ruleCodeVariable, t, at, "the %s of tracepoint %d uses variable %d, which is not defined",
				what, t.Number, v)
		}
	}
}

// tracepointFinding reports a breach once for each tracepoint and counts the others.
func (c *checker) tracepointFinding(rule *tfile.Rule, t *trace.Tracepoint, at int64, format string, args ...any) {
	key := fold{rule, t.Number}
	if !c.again(key, 1) {
		c.folded[key] = c.add(rule, at, format, args...)
	}
}
