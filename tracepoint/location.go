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
	where       Place       // guarded by state
	semaphores  []arch.Addr // those that the target was told of; guarded by control
	changed     bool        // something is to be applied at the Collector; guarded by control
}

// Place is where hits are collected.
type Place uint8

// The places.
const (
	Nowhere   Place = iota
	Here            // the target stops a thread and calls the engine
	Elsewhere       // a Collector deposits frames
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
// tracepoint with semaphores or a fast tracepoint has come to it. Control is held, state is not.
func (e *Engine) install(l *location) error {
	e.state.Lock()
	wanted, was := e.phase == running && l.wanted(), l.where
	e.state.Unlock()
	changed := !slices.Equal(l.counters(), l.semaphores) || e.collector != nil && l.first((*definition).isFast) != nil
	if !wanted || was == Here && !changed {
		return nil
	}
	if was == Here {
		if err := e.removeLocations(l); err != nil {
			return err
		}
	}
	if _, err := e.put(l); err != nil {
		return errors.Join(err, e.removeLocations(l))
	}
	e.state.Lock()
	late := e.phase != running
	e.state.Unlock()
	if late { // a hit has ended the run meanwhile, and the target removed what there was then
		return e.removeLocations(l)
	}
	return nil
}

// put has the target take locations: elsewhere if there is a Collector that accepts all tracepoints of one, or else here, unless
// one of them is a fast tracepoint. What goes elsewhere does so all at once. The error is about the definition that is returned
// with it; locations that are installed by then stay so. Once the user has cancelled the run the rest of them is left out, without
// an error. Control is held, state is not.
func (e *Engine) put(locations ...*location) (*definition, error) {
	var offloaded, traps []*location
	for _, l := range locations {
		if e.cancelled() {
			break
		}
		l.semaphores = l.counters()
		if e.offload(l) {
			offloaded = append(offloaded, l)
		} else {
			traps = append(traps, l)
		}
	}
	refused, err := e.apply()
	e.setPlace(Elsewhere, offloaded...) // also after an error, so that they are recalled
	if err != nil {
		return locations[0].first((*definition).active), err
	}
	e.setPlace(Nowhere, refused...)
	var first *definition
	var failures []error
	for _, l := range append(traps, refused...) {
		if e.cancelled() {
			break
		}
		d, err := e.putHere(l)
		switch {
		case err == nil:
			e.setPlace(Here, l)
		case first == nil:
			first, failures = d, append(failures, err)
		default: // all are named: of a stub with few breakpoints a user has to know what to leave out
			failures = append(failures, failedAt(d, "install", err))
		}
	}
	return first, joined(failures)
}

// putHere installs a location, unless one of its tracepoints is fast. The error is about the definition that is returned with it.
func (e *Engine) putHere(l *location) (*definition, error) {
	if d := l.first((*definition).isFast); d != nil && e.collector != nil {
		return d, fmt.Errorf("no fast tracepoint is possible there: %w", d.refusal)
	}
	return l.first((*definition).active), e.tracer.Install(e.pid, l.addr, l.semaphores)
}

// mostFailures is how many of many failures are told: a connection that is lost fails at each of thousands.
const mostFailures = 8

// joined is failures as one, on one line.
func joined(failures []error) error {
	switch n := len(failures); {
	case n == 0:
		return nil
	case n > mostFailures:
		failures = append(failures[:mostFailures:mostFailures], fmt.Errorf("%d more like these", n-mostFailures))
	}
	err := failures[0]
	for _, more := range failures[1:] {
		err = fmt.Errorf("%w; %w", err, more)
	}
	return err
}

// cancelled reports whether the user wants no run any more.
func (e *Engine) cancelled() bool { return e.layout.Cancelled != nil && e.layout.Cancelled() }

// first returns the first definition that has a property, nil if none has. Control or state is held.
func (l *location) first(has func(*definition) bool) *definition {
	if i := slices.IndexFunc(l.definitions, has); i >= 0 {
		return l.definitions[i]
	}
	return nil
}

// setPlace notes where locations are collected from now on.
func (e *Engine) setPlace(where Place, locations ...*location) {
	e.state.Lock()
	defer e.state.Unlock()
	for _, l := range locations {
		l.where = where
	}
}

// uninstall removes a location that has lost its last enabled tracepoint. Control is held, state is not.
func (e *Engine) uninstall(l *location) error {
	if l.wanted() {
		return nil
	}
	return e.removeLocations(l)
}

// installAll installs the locations that are wanted, all or none. Control is held, state is not.
func (e *Engine) installAll() error {
	var wanted []*location
	for _, d := range e.definitions { // those of one location are neighbours
		if n := len(wanted); d.Enabled && (n == 0 || wanted[n-1] != d.location) {
			wanted = append(wanted, d.location)
		}
	}
	if d, err := e.put(wanted...); err != nil {
		return errors.Join(failedAt(d, "install", err), e.removeLocations(wanted...))
	}
	return nil
}

// removeLocations takes locations from the target, wherever they are, and all of them even when some fail. Those that are elsewhere
// leave it all at once. Control is held, state is not.
func (e *Engine) removeLocations(locations ...*location) error {
	var errs []error
	for _, l := range locations {
		e.state.Lock()
		was := l.where
		l.where = Nowhere
		e.state.Unlock()
		switch was {
		case Here:
			errs = append(errs, e.tracer.Uninstall(e.pid, l.addr))
		case Elsewhere:
			e.recall(l)
		}
	}
	_, err := e.apply()
	return errors.Join(append(errs, err)...)
}

// locationsIn lists the locations that are in a place. State is held.
func (e *Engine) locationsIn(where Place) []*location {
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
