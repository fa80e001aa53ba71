package tracepoint

import (
	"cmp"
	"errors"
	"slices"

	"tracewell/trace"
)

// Many tracepoints at a time: a library that a program loads or unloads may have thousands. What becomes of them at the target
// does so at once, for each change costs the program a stop.

// DefineAll is Define for whole tracepoints. The errors are about the tracepoints of the same indexes, which are not defined then,
// nil for the others; the list is empty if there is none.
func (e *Engine) DefineAll(list []trace.Tracepoint) (errs []error) {
	e.control.Lock()
	defer e.control.Unlock()
	errs = make([]error, len(list))
	if err := e.completeOpen(); err != nil {
		return append([]error{err}, errs[1:]...)
	}
	index := make(map[*definition]int)
	var locations []*location
	for i := range list {
		d, err := compile(list[i])
		if err == nil {
			err = e.mark(d)
		}
		if err != nil {
			errs[i] = err
			continue
		}
		if d.replaces = e.definition(list[i].Key()); d.replaces != nil {
			errs[i] = e.replace(d)
			continue
		}
		e.insert(d)
		e.state.Lock()
		d.complete = true
		d.location.arm()
		e.state.Unlock()
		index[d] = i
		locations = append(locations, d.location)
	}
	e.settle(locations, func(d *definition, err error) bool {
		i, fresh := index[d]
		if !fresh {
			return false
		}
		errs[i] = err
		e.remove(d)
		return true
	})
	if !slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
		return nil
	}
	return errs
}

// EnableAll is Enable for many tracepoints. Those that cannot be installed are disabled, and the error is about them.
func (e *Engine) EnableAll(keys []trace.Key, on bool) error {
	e.control.Lock()
	defer e.control.Unlock()
	errs := []error{e.completeOpen()}
	var locations []*location
	for _, key := range keys {
		d := e.definition(key)
		if d == nil {
			errs = append(errs, errUnknown(key))
			continue
		}
		e.setEnabled(d, on)
		locations = append(locations, d.location)
	}
	errs = append(errs, e.settle(locations, func(d *definition, err error) bool {
		if !d.Enabled {
			return false
		}
		errs = append(errs, err)
		e.setEnabled(d, false)
		return true
	}))
	return errors.Join(errs...)
}

// settle brings the target in line with the definitions of locations, as install and uninstall do for one. It has give take back a
// definition that the target refuses, for the reason that it is told, until it refuses none; give reports whether it could. The
// error is about what could not be removed, or taken back. Control is held, state is not.
func (e *Engine) settle(locations []*location, give func(*definition, error) bool) error {
	slices.SortFunc(locations, func(a, b *location) int { return cmp.Compare(a.addr, b.addr) })
	locations = slices.Compact(locations)
	var errs []error
	for {
		var gone, wanted []*location
		e.state.Lock()
		for _, l := range locations {
			on := e.phase == running && l.wanted()
			changed := !slices.Equal(l.counters(), l.semaphores) || e.collector != nil && l.first((*definition).isFast) != nil
			if !on || l.where == Here && changed {
				gone = append(gone, l)
			}
			if on && (l.where != Here || changed) {
				wanted = append(wanted, l)
			}
		}
		e.state.Unlock()
		if len(gone) > 0 {
			errs = append(errs, e.removeLocations(gone...))
		}
		if len(wanted) == 0 {
			break
		}
		d, err := e.put(wanted...)
		if err == nil {
			break
		}
		if !give(d, failedAt(d, "install", err)) {
			errs = append(errs, err, e.removeLocations(wanted...))
			break
		}
	}
	e.state.Lock()
	late := e.phase != running
	e.state.Unlock()
	if late { // a hit has ended the run meanwhile, and the target removed what there was then
		errs = append(errs, e.removeLocations(locations...))
	}
	return errors.Join(errs...)
}
