package tracepoint

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"tracewell/arch"
	"tracewell/trace/compiled"
)

// A location is an address that has tracepoints: the thing that a target installs or a Collector is handed. There is one for
// all tracepoints of an address, and the target has it during a run while at least one of them is enabled.
type location struct {
	addr        arch.Addr
	definitions []*definition // in order of arrival; what changes it holds control and state
	forHits     atomic.Pointer[[]armed]
	where       place       // guarded by state
	semaphores  []arch.Addr // those that the target was told of; guarded by control
}

// A place is where the hits of a location are collected.
type place uint8

const (
	nowhere   place = iota
	here            // the target stops a thread and calls the engine
	elsewhere       // a Collector deposits frames
)

// An armed tracepoint is what a hit has to know of a definition. A hit in progress goes on with what it began with, whatever
// becomes of the definition meanwhile.
type armed struct {
	d      *definition
	t      *compiled.Tracepoint
	marker Marker
}

// arm has hits see the definitions as they are now. State is held.
func (l *location) arm() {
	var list []armed
	for _, d := range l.definitions {
		if d.active() {
			list = append(list, armed{d, d.program, d.marker})
		}
	}
	l.forHits.Store(&list)
}

// armed is what a hit goes through. The list is never changed but replaced as a whole.
func (l *location) armed() []armed {
	if list := l.forHits.Load(); list != nil {
		return *list
	}
	return nil
}

// wanted reports whether a hit of the location could do anything. Control or state is held.
func (l *location) wanted() bool { return slices.ContainsFunc(l.definitions, (*definition).active) }

// counters are the semaphores of the static tracepoints of the location. Control or state is held.
func (l *location) counters() []arch.Addr {
	for _, d := range l.definitions {
		if d.Static {
			return d.program.Semaphores // an address has one marker
		}
	}
	return nil
}

// install brings the target in line with the definitions of a location, if a run is on that wants it: one that is nowhere is
// installed or offloaded, one that is elsewhere has its changes offloaded, and one that is here is installed anew if a static
// tracepoint with semaphores has come to it. Control is held, state is not.
func (e *Engine) install(l *location) error {
	e.state.Lock()
	wanted, was := e.phase == running && l.wanted(), l.where
	e.state.Unlock()
	changed := !slices.Equal(l.counters(), l.semaphores)
	if !wanted || was == here && !changed {
		return nil
	}
	if was == here {
		if err := e.removeLocation(l); err != nil {
			return err
		}
	}
	where, err := e.put(l)
	e.state.Lock()
	late := e.phase != running
	l.where = where
	e.state.Unlock()
	if err == nil && late { // a hit has ended the run meanwhile, and the target removed what there was then
		return e.removeLocation(l)
	}
	return err
}

// put has the target take a location: elsewhere if there is a Collector that accepts all its tracepoints, or else here. It is
// nowhere after an error. Control is held, state is not.
func (e *Engine) put(l *location) (place, error) {
	l.semaphores = l.counters()
	if offloaded, err := e.offload(l); err != nil {
		return nowhere, err
	} else if offloaded {
		return elsewhere, nil
	}
	if err := e.tracer.Install(e.pid, l.addr, l.semaphores); err != nil {
		return nowhere, err
	}
	return here, nil
}

// removeLocation takes a location from the target, wherever it is. Control is held, state is not.
func (e *Engine) removeLocation(l *location) error {
	e.state.Lock()
	was := l.where
	l.where = nowhere
	e.state.Unlock()
	switch was {
	case here:
		return e.tracer.Uninstall(e.pid, l.addr)
	case elsewhere:
		return e.recall(l)
	default:
		return nil
	}
}

// uninstall removes a location that has lost its last enabled tracepoint. Control is held, state is not.
func (e *Engine) uninstall(l *location) error {
	if l.wanted() {
		return nil
	}
	return e.removeLocation(l)
}

// installAll installs the locations that are wanted, all or none. Control is held, state is not.
func (e *Engine) installAll() error {
	var done []*location
	for _, d := range e.definitions {
		l := d.location
		if !d.Enabled || len(done) > 0 && done[len(done)-1] == l { // the definitions of one location are neighbours
			continue
		}
		where, err := e.put(l)
		if err != nil {
			return errors.Join(failedAt(d, "install", err), e.removeLocations(done))
		}
		e.state.Lock()
		l.where = where
		e.state.Unlock()
		done = append(done, l)
	}
	return nil
}

// removeLocations removes locations, all of them even when some fail. Control is held, state is not.
func (e *Engine) removeLocations(locations []*location) error {
	var errs []error
	for _, l := range locations {
		errs = append(errs, e.removeLocation(l))
	}
	return errors.Join(errs...)
}

// locationsIn lists the locations that are in a place. State is held.
func (e *Engine) locationsIn(where place) []*location {
	var list []*location
	for _, l := range e.locations {
		if l.where == where {
			list = append(list, l)
		}
	}
	return list
}

// failedAt says which tracepoint a target's error is about.
func failedAt(d *definition, attempt string, err error) error {
	return fmt.Errorf("cannot %s tracepoint %d at %s: %w", attempt, d.Number, d.Addr, err)
}
