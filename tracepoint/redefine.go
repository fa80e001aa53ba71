package tracepoint

import "fmt"

// replace makes a new definition that is complete take effect. Control is held, state is not.
func (e *Engine) replace(again *definition) error {
	d := again.replaces
	e.state.Lock()
	d.take(again)
	e.state.Unlock()
	return e.enable(d, d.Enabled)
}

// take makes the definition say all that a new one of the same tracepoint says, unless that was refused. The definition
// itself stays, with its hits, its usage and the steps in progress: these go on up to the number with which they began, and
// collect as the new definition says. State is held, so a hit sees the one or the other: one that is in progress goes on with
// the definition with which it began.
func (d *definition) take(again *definition) {
	if again.refused {
		return
	}
	hits, usage := d.Hits, d.Usage
	d.Tracepoint = again.Tracepoint
	d.Hits, d.Usage = hits, usage
	d.program, d.stepping, d.marker = again.program, again.stepping, again.marker
	d.location.arm()
}

// refuse undoes a definition that is not yet complete, because of its actions. One that was to replace another stays open, so
// that what still comes for it is not added to the other.
func (e *Engine) refuse(d *definition) {
	switch {
	case e.open != d:
	case d.replaces != nil:
		d.refused = true
	default:
		e.open = nil
		e.remove(d)
	}
}

// refusal is the answer to what still comes for a new definition of d that was refused, nil if none was.
func (e *Engine) refusal(d *definition) error {
	if e.open == nil || e.open.replaces != d || !e.open.refused {
		return nil
	}
	return fmt.Errorf("the new definition of tracepoint %d at %s was refused", d.Number, d.Addr)
}
