package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tracewell/trace"
)

// Item is one option of a command line that belongs to tracepoints. Their order matters.
type Item struct {
	Option string // "--at"
	Value  string
}

// DefaultBacktrace is how many bytes of the stack are collected for a backtrace that says nothing of it.
const DefaultBacktrace = 8192

// belowStack is how much is collected below the stack pointer. In front of a return instruction CFI may still have registers there
// that were popped already, in what the ABI keeps from signal handlers or in what nothing has written over yet.
const belowStack = 128

// A piece of the stack has from minBacktrace to maxBacktrace bytes. The latter is the longest block of memory that a frame can
// have. A smaller number than the former is taken for the number of calls that somebody wants, as other tracers count.
const (
	minBacktrace = 64
	maxBacktrace = 0xffff
)

// options read the values of items into the tracepoint that they are for.
var options = map[string]func(*Tracepoint, Text) error{
	"--collect": func(t *Tracepoint, value Text) error { return t.do(collection(value)) },
	"--set":     func(t *Tracepoint, value Text) error { return t.do(evaluation(value)) },
	"--if": func(t *Tracepoint, value Text) error {
		switch {
		case t.Condition.Value != "":
			return value.fault("there is a condition already: join them by &&")
		case value.Value == "":
			return value.fault("there is no condition here")
		}
		t.Condition = value
		return nil
	},
	"--pass": func(t *Tracepoint, value Text) error {
		n, err := strconv.ParseUint(value.Value, 0, 63)
		switch {
		case err != nil || n == 0:
			return value.fault("a pass count is a number from 1 on")
		case t.Pass != 0:
			return value.fault("there is a pass count already")
		}
		t.Pass = n
		return nil
	},
	"--step":      stepOption,
	"--backtrace": backtraceOption,
}

func (t *Tracepoint) do(a Action, err error) error {
	if err == nil {
		t.Actions = append(t.Actions, a)
	}
	return err
}

// steps reports whether a tracepoint follows steps.
func (t *Tracepoint) steps() bool {
	return slices.ContainsFunc(t.Actions, func(a Action) bool { return a.Kind == Step })
}

// stepOption reads N or N:EXPRESSIONS. Without expressions it is the program counter that is collected after each step.
func stepOption(t *Tracepoint, value Text) error {
	if t.steps() {
		return value.fault("there are steps already")
	}
	end := strings.IndexByte(value.Value, ':')
	collected := whole(value.Origin, "$pc")
	if end < 0 {
		end = len(value.Value)
	} else {
		collected = value.part(end+1, len(value.Value))
	}
	n, err := steps(value.part(0, end))
	if err != nil {
		return err
	}
	body, err := collection(collected)
	return t.do(Action{Kind: Step, Steps: n, Body: []Action{body}}, err)
}

// backtraceOption reads a number of bytes. What it collects is enough for unwinding: the registers that tell where the frames
// of the calls are, and the innermost part of the stack.
func backtraceOption(t *Tracepoint, value Text) error {
	n := uint64(DefaultBacktrace)
	if value.Value != "" {
		var err error
		if n, err = strconv.ParseUint(value.Value, 0, 64); err != nil || n < minBacktrace || n > maxBacktrace {
			return value.fault("a backtrace takes from %d to %d bytes of the stack, whatever the number of calls",
				minBacktrace, maxBacktrace)
		}
	}
	if err := t.do(collection(whole(value.Origin, "$pc, $sp, $fp"))); err != nil {
		return err
	}
	memory := fmt.Sprintf("%s%d)@%[2]d, %s%d", belowSP, belowStack, fromSP, n)
	stack, err := collection(whole(value.Origin, memory))
	stack.Stack = true
	return t.do(stack, err)
}

// What the expressions for pieces of the stack begin with.
const (
	belowSP = "*(unsigned char *)($sp-"
	fromSP  = "*(unsigned char *)$sp@"
)

// IsStack reports whether an expression of a collect command is a piece of the stack that a backtrace collects: bytes for an
// unwinder, not for people.
func IsStack(expression string) bool {
	return strings.HasPrefix(expression, belowSP) || strings.HasPrefix(expression, fromSP)
}

// AddItems adds the tracepoints and variables of a command line. A variable that --set sets needs no definition: it is 0 at
// first. Errors that are about a part of a value are of type *expr.Error.
func (p *Plan) AddItems(items []Item) error {
	l := itemList{plan: p}
	l.group = []*Tracepoint{&l.common}
	for _, item := range items {
		if err := l.add(item); err != nil {
			return err
		}
	}
	if len(l.found) == 0 && l.common.says() {
		return fmt.Errorf("%s belongs to a tracepoint: give its place by --at", items[0].Option)
	}
	for _, t := range l.found {
		t.inherit(&l.common)
		for _, a := range t.Actions {
			p.defineAssigned(a)
		}
		p.Tracepoints = append(p.Tracepoints, *t)
	}
	return nil
}

// itemList is a command line that is being read.
type itemList struct {
	plan   *Plan
	common Tracepoint    // what stands in front of the first --at
	found  []*Tracepoint // in their order
	group  []*Tracepoint // that options are for
	joined bool          // another --at would be of the group
}

func (l *itemList) add(item Item) error {
	value, err := item.text()
	if err != nil {
		return err
	}
	switch item.Option {
	case "--at":
		return l.at(value)
	case "--return":
		return l.returns(value)
	case "--tvariable":
		v, err := variable(value)
		if err == nil {
			l.plan.define(v)
		}
		return err
	}
	read := options[item.Option]
	if read == nil {
		return value.fault("there is no such option")
	}
	l.joined = false
	for _, t := range l.group {
		if err := read(t, value); err != nil {
			return err
		}
	}
	return nil
}

// at begins a tracepoint. Its location may have a condition behind it as in GDB's command.
func (l *itemList) at(value Text) error {
	location, condition, err := place(value)
	if err != nil {
		return err
	}
	t := &Tracepoint{Kind: Ordinary, Location: location, Condition: condition}
	if err := l.append(t, value); err != nil {
		return err
	}
	if !l.joined {
		l.group = nil
	}
	l.group, l.joined = append(l.group, t), true
	return nil
}

// append numbers a tracepoint and appends it.
func (l *itemList) append(t *Tracepoint, value Text) error {
	if t.Number = l.plan.next() + trace.Number(len(l.found)); t.Number > trace.MaxNumber {
		return tooMany(value)
	}
	l.found = append(l.found, t)
	return nil
}

// text is the value without blanks around it. What could not stand in a line of a script is refused.
func (i Item) text() (Text, error) {
	t := whole(i.Option, i.Value)
	if at := strings.IndexAny(i.Value, "\n\x00"); at >= 0 {
		return t, t.Fault(at, at+1, "this has to be a single line of text", "")
	}
	t = t.part(0, len(t.Value))
	if strings.HasSuffix(t.Value, `\`) {
		return t, t.Fault(len(t.Value)-1, len(t.Value), "this can't end in a backslash", "")
	}
	return t, nil
}

// says reports whether anything has been said of a tracepoint.
func (t *Tracepoint) says() bool { return len(t.Actions) > 0 || t.Condition.Value != "" || t.Pass != 0 }

// inherit takes over what is common to tracepoints.
func (t *Tracepoint) inherit(common *Tracepoint) {
	if t.Condition.Value == "" {
		t.Condition = common.Condition
	}
	if t.Pass == 0 {
		t.Pass = common.Pass
	}
	ownSteps := t.steps()
	var before, after []Action
	for _, a := range common.Actions {
		switch {
		case a.Kind != Step:
			before = append(before, a)
		case !ownSteps:
			after = append(after, a)
		}
	}
	t.Actions = slices.Concat(before, t.Actions, after)
}

// defineAssigned defines the variables that an action sets.
func (p *Plan) defineAssigned(a Action) {
	if a.Kind != Evaluate {
		return
	}
	for _, e := range a.Expressions {
		if name, ok := assigned(e); ok && !p.defined(name) {
			p.define(Variable{Name: name})
		}
	}
}
