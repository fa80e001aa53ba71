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

// Collector implements target.Tracer.
func (t tracer) Collector() target.Collector {
	if c := t.Tracer.Collector(); c != nil {
		return collector{c, t.s}
	}
	return nil
}

// Install implements target.Tracer for the processes that there are. Those that come later follow.
func (t tracer) Install(_ int, at arch.Addr, semaphores []arch.Addr) error {
	t.s.trapped[at] = true
	for _, pid := range t.s.at(at) {
		if err := t.Tracer.Install(pid, at, semaphores); err != nil && !errors.Is(err, target.ErrNoProcess) {
			return err
		}
	}
	return nil
}

// Uninstall implements target.Tracer.
func (t tracer) Uninstall(_ int, at arch.Addr) error {
	delete(t.s.trapped, at)
	var errs []error
	for _, pid := range t.s.at(at) {
		errs = append(errs, t.Tracer.Uninstall(pid, at))
	}
	return errors.Join(errs...)
}

// isTraced reports whether tracepoints have been set at an address in any process.
func (s *Session) isTraced(at arch.Addr) bool {
	return s.trapped[at] || s.offloaded[at] != nil
}
