package tracepoint

import (
	"fmt"

	"tracewell/ax"
	"tracewell/trace"
)

// compile checks a tracepoint and decodes its expressions.
func compile(t trace.Tracepoint) (*definition, error) {
	key := t.Key()
	if t.Number < 1 || t.Number > trace.MaxNumber {
		return nil, fmt.Errorf("tracepoint number %d is not from 1 to %d, which is what a traceframe can name",
			t.Number, trace.MaxNumber)
	}
	actions, stepActions := t.Actions, t.StepActions
	t.Actions, t.StepActions = nil, nil
	t.Hits, t.Usage = 0, 0
	d := &definition{Tracepoint: t}
	if t.Condition != nil {
		program, err := ax.Decode(t.Condition)
		if err != nil {
			return nil, fmt.Errorf("condition of tracepoint %d at %s: %w", t.Number, t.Addr, err)
		}
		d.condition = program
	}
	atHit, err := compileActions(key, actions)
	if err != nil {
		return nil, err
	}
	atStep, err := compileActions(key, stepActions)
	if err != nil {
		return nil, err
	}
	d.add(false, actions, atHit)
	if len(stepActions) > 0 {
		d.add(true, stepActions, atStep)
	}
	return d, nil
}

// compileActions decodes the expressions among actions.
func compileActions(key trace.Key, actions []trace.Action) ([]operation, error) {
	operations := make([]operation, len(actions))
	for i, a := range actions {
		operations[i].Action = a
		switch a.Kind {
		case trace.CollectRegisters, trace.CollectMemory, trace.CollectStatic:
		case trace.CollectExpression:
			program, err := ax.Decode(a.Code)
			if err != nil {
				return nil, fmt.Errorf("action %d of tracepoint %d at %s: %w", i+1, key.Number, key.Addr, err)
			}
			operations[i].program = program
		default:
			return nil, fmt.Errorf("action %d of tracepoint %d at %s is of unknown kind %q", i+1, key.Number, key.Addr, a.Kind)
		}
	}
	return operations, nil
}
