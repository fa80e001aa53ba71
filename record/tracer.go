//go:build linux && amd64

package record

import (
	"errors"

	"tracewell/arch"
	"tracewell/target"
)

// tracer is the target's, with tracepoints that go into all processes that want them.
type tracer struct {
	target.Tracer
	s *Session
}

// Collector implements target.Tracer. There is none: a process that comes later would have to be handed what the others have.
// Frames that a collector makes inside the program arrive in bulk, with keys that belong to one process. This session sets
// the same tracepoints in every process that it follows and would have to install the collector in each child of a fork
// between two events; until it does, every hit traps, which is right in all of them.
func (tracer) Collector() target.Collector { return nil }

// Install implements target.Tracer for the processes that there are. Those that come later are handed what traced has.
func (t tracer) Install(_ int, at arch.Addr, semaphores []arch.Addr) error {
	t.s.traced[at] = semaphores
	for pid, p := range t.s.processes {
		if p.sites[at] {
			if err := t.Tracer.Install(pid, at, semaphores); err != nil && !errors.Is(err, target.ErrNoProcess) {
				return err
			}
		}
	}
	return nil
}

// Uninstall implements target.Tracer.
func (t tracer) Uninstall(_ int, at arch.Addr) error {
	var errs []error
	for pid, p := range t.s.processes {
		if p.sites[at] {
			errs = append(errs, t.Tracer.Uninstall(pid, at))
		}
	}
	return errors.Join(errs...)
}

// isTraced reports whether tracepoints have been installed at an address in any process.
func (s *Session) isTraced(at arch.Addr) bool {
	_, traced := s.traced[at]
	return traced
}
