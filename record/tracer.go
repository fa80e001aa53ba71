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

// Collector implements target.Tracer.
func (t tracer) Collector() target.Collector {
	if c := t.Tracer.Collector(); c != nil {
		return collector{c, t.s}
	}
	return nil
}

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
