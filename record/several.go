package record

import (
	"fmt"
	"slices"

	"tracewell/trace"
)

// findOthers finds what there is of the plan in the processes besides the first, and returns all that was found. Those that execute
// the same program at the same addresses share its tracepoints.
func (s *Session) findOthers(found []trace.Tracepoint) ([]trace.Tracepoint, error) {
	for _, pid := range s.entry.Others {
		p := s.processes[pid]
		if p == nil {
			continue
		}
		more, warnings, err := s.finder.Find(p.image())
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", pid, err)
		}
		s.warnings = append(s.warnings, warnings...)
		for _, d := range more {
			i := slices.IndexFunc(found, func(known trace.Tracepoint) bool { return known.Key() == d.Key() })
			switch {
			case i < 0:
				found = append(found, d)
			case !same(&found[i], &d):
				s.warnings = append(s.warnings, otherThere(pid, &d))
				delete(p.sites, d.Addr)
			}
		}
	}
	return found, nil
}

// otherThere is why a process is not traced at an address: two programs without position independence have their code at the same
// addresses.
func otherThere(pid int, d *trace.Tracepoint) error {
	return fmt.Errorf("process %d is not traced at %s: another program has something else there", pid, d.Addr)
}

// notTraced says that a process is left out of the run, which goes on with the others.
func notTraced(pid int, err error) error { return fmt.Errorf("process %d is not traced: %w", pid, err) }

// letGo detaches a process with which nothing can be done.
func (s *Session) letGo(pid int) {
	s.mu.Lock()
	delete(s.processes, pid)
	s.mu.Unlock()
	_ = s.target.Runner().Detach(pid) // an error is that it has ended
}

// join takes in a process that began during the run. It runs while its symbols are looked up, like one that is attached to first.
func (s *Session) join(pid int) error {
	if s.processes[pid] != nil { // the child of another
		return nil
	}
	if err := s.host.Join(pid); err != nil {
		s.tell(Event{Kind: Warning, Err: notTraced(pid, err)})
		return nil
	}
	if !s.going { // it is the only one
		if err := s.goOn(); err != nil {
			return err
		}
	}
	before := len(s.warnings)
	_, err := s.welcome(pid)
	for _, w := range s.warnings[before:] {
		s.tell(Event{Kind: Warning, Err: w})
	}
	if err != nil {
		s.letGo(pid)
		s.tell(Event{Kind: Warning, Err: notTraced(pid, err)})
		return nil
	}
	p := s.processes[pid]
	s.tell(Event{Kind: Attached, PID: pid, Path: p.path})
	if err := s.arm(p); err != nil {
		s.tell(Event{Kind: Warning, Err: notTraced(pid, err)})
	}
	return nil
}
