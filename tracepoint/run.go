package tracepoint

import (
	"errors"
	"fmt"
	"slices"

	"tracewell/target"
	"tracewell/trace"
)

// An ending is why a run ends.
type ending struct {
	reason     trace.StopReason
	tracepoint trace.Number // of pass count and error
	text       string       // of an error
}

// precedence orders the reasons that one hit can bring about together: the first of them is told.
var precedence = []trace.StopReason{
	trace.ReasonPassCount, trace.ReasonFull, trace.ReasonError, trace.ReasonDisconnected, trace.ReasonStop,
}

// precedes reports whether this is to be given as the reason rather than another one.
func (e ending) precedes(other ending) bool {
	return slices.Index(precedence, e.reason) < slices.Index(precedence, other.reason)
}

// Start begins a run in a process: it has the target install the tracepoints, of which there may be none, then clears frames,
// counts and stop note and gives each variable its initial value. If a tracepoint cannot be installed, those that were are
// removed again, and frames, counts and status are as before.
func (e *Engine) Start(tracer target.Tracer, pid int) error {
	e.control.Lock()
	defer e.control.Unlock()
	if err := e.prepare(); err != nil {
		return err
	}
	e.tracer, e.pid = tracer, pid
	e.connect(e.Collector(tracer))
	err := e.installAll()
	e.state.Lock()
	defer e.state.Unlock()
	if err != nil {
		e.phase, e.store = idle, nil
		return err
	}
	e.begin()
	return nil
}

// Collector returns what collects in place of the engine in runs over a target, nil for nothing.
func (e *Engine) Collector(t target.Tracer) target.Collector {
	if e.layout.TrapsOnly {
		return nil
	}
	return t.Collector()
}

// prepare enters the phase in which tracepoints are installed.
func (e *Engine) prepare() error {
	e.state.Lock()
	defer e.state.Unlock()
	if e.phase != idle {
		return errors.New("a trace run is already on")
	}
	if !e.layout.SinkOnly {
		if err := e.buffer.allocate(e.layout.Memory); err != nil {
			return fmt.Errorf("no memory for a trace buffer of %d bytes: %w", e.buffer.size, err)
		}
	}
	if d := e.open; d != nil && d.replaces != nil {
		d.replaces.take(d)
	} else if d != nil {
		d.complete = true
		d.location.arm()
	}
	e.open = nil
	e.phase = starting
	return nil
}

// begin lets hits count. State is held.
func (e *Engine) begin() {
	for _, d := range e.definitions {
		d.Hits, d.Usage, d.frames, d.errors, d.lastError = 0, 0, 0, 0, nil
	}
	e.initializeVariables()
	e.buffer.reset()
	e.made = 0
	e.runs++
	e.stopNote = ""
	e.ending, e.ender = ending{}, nil
	e.latest = 0
	e.started, e.stopped = e.now(), 0
	e.phase = running
}

// Stop ends a run that is on; otherwise it does nothing. The note says why the user wanted it; empty, it leaves one that was
// set. The error is the target's, about what it could not remove; the run is over all the same.
//
// Frames of a Collector that are on their way come first, so the run may turn out to have ended for another reason.
func (e *Engine) Stop(reason trace.StopReason, note string) error {
	e.control.Lock()
	defer e.control.Unlock()
	return e.stop(ending{reason: reason, text: note})
}

// stop ends a run. Control is held, state is not.
func (e *Engine) stop(why ending) error {
	e.state.Lock()
	on, collected := e.phase == running, e.locationsIn(Elsewhere)
	e.state.Unlock()
	if !on {
		return nil
	}
	err := e.removeLocations(collected...)
	e.state.Lock()
	trapped := e.locationsIn(Here)
	if on = e.phase == running; on {
		if why.reason == trace.ReasonStop && why.text != "" {
			e.stopNote = why.text
		}
		if e.ender == nil { // no hit is about to end the run for a reason of its own
			e.ending = why
		}
		e.halt()
	}
	e.state.Unlock()
	e.bringBack()
	for _, l := range trapped {
		err = errors.Join(err, e.tracer.Uninstall(e.pid, l.addr))
	}
	return err
}

// halt puts an end to the run for the reason in e.ending. State is held.
func (e *Engine) halt() {
	e.stopped = e.now()
	e.phase, e.ender = idle, nil
	e.setSessions(e.sessions[:0])
	e.view.Store(nil)
	for _, l := range e.locations {
		l.where = Nowhere
		for _, d := range l.definitions {
			d.offloaded = nil
		}
	}
	if e.layout.Ended != nil {
		e.layout.Ended()
	}
}

// Enable enables or disables a tracepoint. During a run that takes effect at once: a location is removed with its last enabled
// tracepoint and installed with its first. Steps that a tracepoint has begun go on when it is disabled.
func (e *Engine) Enable(key trace.Key, on bool) error {
	e.control.Lock()
	defer e.control.Unlock()
	if err := e.completeOpen(); err != nil {
		return err
	}
	d := e.definition(key)
	if d == nil {
		return errUnknown(key)
	}
	return e.enable(d, on)
}

// enable does it. Control is held, state is not.
func (e *Engine) enable(d *definition, on bool) error {
	e.setEnabled(d, on)
	if err := e.uninstall(d.location); err != nil {
		return failedAt(d, "remove", err)
	}
	if err := e.install(d.location); err != nil {
		e.setEnabled(d, false)
		return errors.Join(failedAt(d, "install", err), e.install(d.location))
	}
	return nil
}

func (e *Engine) setEnabled(d *definition, on bool) {
	e.state.Lock()
	defer e.state.Unlock()
	program := *d.program
	program.Enabled = on
	d.Enabled, d.program = on, &program
	d.location.arm()
}
