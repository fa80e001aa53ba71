package definition

import (
	"errors"
	"slices"

	"tracewell/record/plan"
	"tracewell/symbol"
	"tracewell/symbol/expr"
)

// addPointed collects what the arguments of a system call point to that are collected: a user who names one wants the path and not
// its address.
func (b *actionBuilder) addPointed(c *expr.Collection) {
	if b.scope.call == nil {
		return
	}
	for _, item := range c.Items {
		if action, registers, ok := b.scope.call.Pointed(item.Text, b.plan.Settings.Contents.Text); ok {
			c.Memory, c.Registers = append(c.Memory, action), append(c.Registers, registers...)
		}
	}
}

// errStep is about a tracepoint that cannot follow steps.
var errStep = errors.New("a system call has no instructions to step: only its entry and its return can be recorded")

// unfit reports why a tracepoint at a system call cannot be what it is to be.
func (t *Point) unfit(locations []symbol.Location) error {
	steps := func(a plan.Action) bool { return a.Kind == plan.Step }
	if len(locations) > 0 && locations[0].Call != "" && slices.ContainsFunc(t.Actions, steps) {
		return errStep
	}
	return nil
}
