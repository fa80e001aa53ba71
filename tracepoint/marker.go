package tracepoint

import (
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/trace"
)

// Marker is a place in the program that was made to be traced. What it has to tell is the static trace data of a frame, which
// GDB shows as $_sdata.
type Marker interface {
	// AppendStatic appends the data of a thread that has come to the marker. It is called in the middle of a hit, on the
	// target's goroutine.
	AppendStatic(dst []byte, s target.Snapshot) []byte
	// Semaphores are the counters by which the program learns that the marker is traced.
	Semaphores() []arch.Addr
}

// SetMarkers names the function that finds the marker of an address, nil where there is none. The engine calls it when a
// static tracepoint is defined or static trace data is to be collected, not on the target's goroutine.
func (e *Engine) SetMarkers(find func(arch.Addr) Marker) {
	e.control.Lock()
	defer e.control.Unlock()
	e.markers = find
}

// marker finds the marker of an address. Control is held.
func (e *Engine) marker(addr arch.Addr) Marker {
	if e.markers == nil {
		return nil
	}
	return e.markers(addr)
}

// mark gives a definition its marker, without which there is no static tracepoint. Control is held.
func (e *Engine) mark(d *definition) error {
	if !d.Static && !collectsStatic(d.Actions) && !collectsStatic(d.StepActions) {
		return nil
	}
	d.marker = e.marker(d.Addr)
	if d.Static && d.marker == nil {
		return fmt.Errorf("tracepoint %d at %s: there is no static tracepoint marker", d.Number, d.Addr)
	}
	if d.Static {
		d.program.Semaphores = d.marker.Semaphores()
	}
	return nil
}

func collectsStatic(actions []trace.Action) bool {
	return slices.ContainsFunc(actions, func(a trace.Action) bool { return a.Kind == trace.CollectStatic })
}
