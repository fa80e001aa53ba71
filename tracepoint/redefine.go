package tracepoint

import (
	"bytes"
	"fmt"

	"tracewell/trace"
)

// A redefinition follows the packets that define once more a tracepoint that is there, and compares them with it. It ends
// with the next Define or Start.
type redefinition struct {
	d        *definition
	stepping bool
	hit      int  // actions at the hit that came again
	step     int  // stepping actions that came again
	commands bool // the tracepoint has its commands, so those that come are old ones
}

// of reports whether packets for d belong to the redefinition.
func (r *redefinition) of(d *definition) bool { return r != nil && r.d == d }

// redefine takes a definition of a tracepoint that exists, which must be the same but for Enabled. Control is held.
func (e *Engine) redefine(old, again *definition, more bool) error {
	if field := difference(&old.Tracepoint, &again.Tracepoint); field != "" {
		return fmt.Errorf("tracepoint %d at %s is already defined, with another %s", old.Number, old.Addr, field)
	}
	r := &redefinition{d: old, commands: len(old.Source.Commands) > 0}
	if err := r.actions(false, again.Actions, true); err != nil {
		return err
	}
	if err := r.actions(again.stepping, again.StepActions, more); err != nil {
		return err
	}
	e.redefined = r
	return e.enable(old, again.Enabled)
}

// difference names what differs between two tracepoints apart from actions, source, enablement and counts; "" for nothing.
func difference(a, b *trace.Tracepoint) string {
	switch {
	case a.Step != b.Step:
		return "step count"
	case a.Pass != b.Pass:
		return "pass count"
	case a.Fast != b.Fast || a.FastLength != b.FastLength || a.Static != b.Static:
		return "type"
	case !bytes.Equal(a.Condition, b.Condition):
		return "condition"
	}
	return ""
}

// actions compares actions with those at the same place of the tracepoint; if no more are to come, none may be left.
func (r *redefinition) actions(stepping bool, actions []trace.Action, more bool) error {
	r.stepping = r.stepping || stepping
	known, seen := r.d.Actions, &r.hit
	if r.stepping {
		known, seen = r.d.StepActions, &r.step
	}
	for _, a := range actions {
		if *seen == len(known) || !sameAction(a, known[*seen]) {
			return r.otherActions()
		}
		*seen++
	}
	if !more && (r.hit < len(r.d.Actions) || r.step < len(r.d.StepActions)) {
		return r.otherActions()
	}
	return nil
}

func (r *redefinition) otherActions() error {
	return fmt.Errorf("tracepoint %d at %s is already defined, with other actions", r.d.Number, r.d.Addr)
}

func sameAction(a, b trace.Action) bool {
	return a.Kind == b.Kind && bytes.Equal(a.Mask, b.Mask) &&
		a.Base == b.Base && a.Offset == b.Offset && a.Length == b.Length && bytes.Equal(a.Code, b.Code)
}
