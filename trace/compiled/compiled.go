// Package compiled holds tracepoints in the form in which they are executed: expressions decoded and verified, everything
// read-only. The engine executes this form when a thread stops at a tracepoint; a target that collects by itself (jump pads, a
// collector in a microcontroller, a stub with tracepoints of its own) is handed the same form, and so neither has to parse
// what a packet or a trace file says.
package compiled

import (
	"fmt"
	"iter"
	"slices"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/trace"
)

// Tracepoint is one tracepoint at one address. Nothing in it changes once it has been handed to anybody: a tracepoint that is
// enabled, disabled or defined anew is another value.
type Tracepoint struct {
	Number  trace.Number
	Addr    arch.Addr
	Enabled bool
	Pass    uint64 // hits after which the run stops; 0 for no limit
	Step    uint64 // instructions that while-stepping follows; 0 without while-stepping

	Condition   *ax.Program // nil without a condition
	Actions     []Operation // at the hit, in order
	StepActions []Operation // after each step

	// Semaphores are the addresses of 16-bit counters in the program, in its byte order: one is added to each as long as the
	// tracepoint is installed. Only static tracepoints have any.
	Semaphores []arch.Addr

	// Repeats says that a Collector may count hits that repeat an earlier one: those with the same values of Alike.
	Repeats bool
	Alike   []*ax.Program
}

// Key returns number and address, which together name a tracepoint.
func (t *Tracepoint) Key() trace.Key { return trace.Key{Number: t.Number, Addr: t.Addr} }

// Programs yields the expressions of the tracepoint: its condition and those of its actions.
func (t *Tracepoint) Programs() iter.Seq[*ax.Program] {
	return func(yield func(*ax.Program) bool) {
		if t.Condition != nil && !yield(t.Condition) {
			return
		}
		for _, operations := range [][]Operation{t.Actions, t.StepActions} {
			for i := range operations {
				if p := operations[i].Program; p != nil && !yield(p) {
					return
				}
			}
		}
	}
}

// Uses reports whether an expression of the tracepoint reads, sets or records a trace state variable.
func (t *Tracepoint) Uses(n trace.VariableNumber) bool {
	for p := range t.Programs() {
		if slices.Contains(p.Requirements().Variables, uint16(n)) {
			return true
		}
	}
	return false
}

// Operation is an action with its expression decoded.
type Operation struct {
	trace.Action
	Program *ax.Program // of a CollectExpression; nil for the other kinds
}

// Memory returns the address of a CollectMemory action, which may be relative to a register; register reads one.
func (op *Operation) Memory(register func(arch.Reg) (uint64, error)) (arch.Addr, error) {
	if op.Base == trace.Absolute {
		return arch.Addr(op.Offset), nil
	}
	base, err := register(op.Base)
	if err != nil {
		return 0, fmt.Errorf("memory at register %d plus %#x: %w", op.Base, op.Offset, err)
	}
	return arch.Addr(base + op.Offset), nil
}

// Compile checks a tracepoint and decodes its expressions. The error says which expression cannot be decoded, and why. The
// byte slices of t are shared and must not change afterwards.
func Compile(t *trace.Tracepoint) (*Tracepoint, error) {
	if t.Number < 1 || t.Number > trace.MaxNumber {
		return nil, fmt.Errorf("tracepoint number %d is not from 1 to %d, which is what a traceframe can name",
			t.Number, trace.MaxNumber)
	}
	c := &Tracepoint{Number: t.Number, Addr: t.Addr, Enabled: t.Enabled, Pass: t.Pass, Step: t.Step}
	var err error
	if t.Condition != nil {
		if c.Condition, err = ax.Decode(t.Condition); err != nil {
			return nil, fmt.Errorf("condition of tracepoint %d at %s: %w", t.Number, t.Addr, err)
		}
	}
	c.Repeats = t.Repeats
	for _, code := range t.Alike {
		program, err := ax.Decode(code)
		if err != nil {
			return nil, fmt.Errorf("expression of tracepoint %d at %s: %w", t.Number, t.Addr, err)
		}
		c.Alike = append(c.Alike, program)
	}
	if c.Actions, err = Operations(t.Key(), t.Actions); err != nil {
		return nil, err
	}
	if c.StepActions, err = Operations(t.Key(), t.StepActions); err != nil {
		return nil, err
	}
	return c, nil
}

// Operations decodes the expressions among actions of a tracepoint.
func Operations(key trace.Key, actions []trace.Action) ([]Operation, error) {
	operations := make([]Operation, len(actions))
	for i, a := range actions {
		operations[i].Action = a
		switch a.Kind {
		case trace.CollectRegisters, trace.CollectMemory, trace.CollectStatic:
		case trace.CollectExpression:
			program, err := ax.Decode(a.Code)
			if err != nil {
				return nil, fmt.Errorf("action %d of tracepoint %d at %s: %w", i+1, key.Number, key.Addr, err)
			}
			operations[i].Program = program
		default:
			return nil, fmt.Errorf("action %d of tracepoint %d at %s is of unknown kind %q", i+1, key.Number, key.Addr, a.Kind)
		}
	}
	return operations, nil
}
