package record

import (
	"errors"
	"maps"
	"slices"

	"tracewell/arch"
	"tracewell/record/plan"
	"tracewell/trace"
)

// ErrOver says that a run is over that should have been changed.
var ErrOver = errors.New("the run is over")

// change is another plan for a run that is on.
type change struct {
	plan *plan.Plan
	done chan error
}

// Change has a run that is on go on by another plan, while the program runs. Tracepoints whose numbers the plan had before must be
// the same as before; those that it lacks now are disabled, and stay in the trace file; those with new numbers are set. A number
// that was given up must not come again. The plan begins with the variables that it had before. After an error the run goes on as
// it was. Locations that are found later are told of by Events. It is for any goroutine while Run is on, but those that call Frames
// and Events.
//
// Config.Changes has to be set: register blocks cannot grow during a run.
func (s *Session) Change(next *plan.Plan) error {
	c := change{next, make(chan error, 1)}
	select {
	case s.changes <- c:
		return <-c.done
	case <-s.parted:
		return ErrOver
	}
}

// Leave ends the run and lets the program go on, also one that was launched. It returns when nothing of the run is left in the
// program. It is for any goroutine while Run is on, but those that call Frames and Events.
func (s *Session) Leave() {
	select {
	case s.leaving <- struct{}{}:
		<-s.parted
	case <-s.parted:
	}
}

// change goes on by another plan.
func (s *Session) change(next *plan.Plan) error {
	s.mu.Lock()
	gone, undo := s.finder.Adopt(next)
	s.mu.Unlock()
	found := make(map[*process][]trace.Tracepoint)
	var warnings []error
	for _, p := range s.processes {
		if p.program == nil {
			continue
		}
		before := maps.Clone(p.sites)
		s.mu.Lock()
		list, more, err := s.finder.Find(p.image())
		s.mu.Unlock()
		if err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			undo()
			p.sites = before
			return err
		}
		found[p], warnings = list, append(warnings, more...)
	}
	for _, w := range warnings {
		s.tell(Event{Kind: Warning, Err: w})
	}
	for _, v := range s.finder.Variables() {
		if slices.Contains(s.variables, v) {
			continue
		}
		s.variables = append(s.variables, v)
		if err := s.engine.DefineVariable(v); err != nil {
			return err
		}
	}
	if err := s.forgo(gone, found); err != nil {
		s.warn("a tracepoint was not removed: %w", err)
	}
	for p, list := range found {
		if err := s.add(p, list); err != nil {
			return err
		}
	}
	for _, t := range s.finder.Points {
		if len(t.Locations) > 0 {
			s.tell(Event{Kind: Armed, Point: t.Number, Locations: t.Locations})
		}
	}
	return nil
}

// forgo disables tracepoints that the plan has no more. An address stays one of a process if others are there, or are about to be.
func (s *Session) forgo(gone []trace.Number, found map[*process][]trace.Tracepoint) error {
	var keys []trace.Key
	kept, left := make(map[arch.Addr]bool), make(map[arch.Addr]bool)
	for _, list := range found {
		for i := range list {
			kept[list[i].Addr] = true
		}
	}
	for i := range s.finder.Defined {
		d := &s.finder.Defined[i]
		switch {
		case !d.Enabled:
		case slices.Contains(gone, d.Number):
			keys = append(keys, d.Key())
			d.Enabled = false
			left[d.Addr] = true
		default:
			kept[d.Addr] = true
		}
	}
	err := s.engine.EnableAll(keys, false)
	for _, p := range s.processes {
		for at := range left {
			if !kept[at] {
				delete(p.sites, at)
			}
		}
	}
	return err
}
