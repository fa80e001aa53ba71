package record

import (
	"errors"
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/trace/compiled"
)

// collector is the target's, with tracepoints that go into all processes that want them. The engine knows one process: here a
// location is refused if one of the processes that there are refuses it, since it would have to be told which of them traps.
// What a process that comes later refuses is a trap in that process.
type collector struct {
	target.Collector
	s *Session
}

// Begin implements target.Collector.
func (c collector) Begin(run target.Run) {
	clear(c.s.offloaded)
	c.s.late = nil
	c.Collector.Begin(run)
}

// Offload implements target.Collector. After an error other processes may be prepared; the engine recalls the location then.
func (c collector) Offload(_ int, t *compiled.Tracepoint) error {
	for _, pid := range c.s.at(t.Addr) {
		if err := c.Collector.Offload(pid, t); err != nil && !errors.Is(err, target.ErrNoProcess) {
			return err
		}
	}
	list := c.s.offloaded[t.Addr]
	if i := slices.IndexFunc(list, func(o *compiled.Tracepoint) bool { return o.Number == t.Number }); i >= 0 {
		list[i] = t
	} else {
		c.s.offloaded[t.Addr] = append(list, t)
	}
	return nil
}

// Recall implements target.Collector.
func (c collector) Recall(_ int, at arch.Addr) {
	delete(c.s.offloaded, at)
	for _, pid := range c.s.at(at) {
		c.Collector.Recall(pid, at)
	}
}

// Apply implements target.Collector. What one process refuses leaves the others, too.
func (c collector) Apply() ([]target.Refusal, error) {
	refusals, err := c.Collector.Apply()
	if len(refusals) == 0 {
		return nil, errors.Join(err, c.s.removeLate())
	}
	for _, r := range refusals {
		c.Recall(r.PID, r.Addr)
	}
	_, again := c.Collector.Apply()
	return refusals, errors.Join(err, again, c.s.removeLate())
}

// Explain implements target.Collector.
func (c collector) Explain(_ int, at arch.Addr) string {
	for _, pid := range c.s.at(at) {
		if text := c.Collector.Explain(pid, at); text != "" {
			return text
		}
	}
	return ""
}

// at lists the processes that have tracepoints at an address, in the order of their numbers.
func (s *Session) at(addr arch.Addr) []int {
	var pids []int
	for pid, p := range s.processes {
		if p.sites[addr] {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// A late trap is one in a process that came when others had the location at the Collector.
type lateTrap struct {
	pid int
	at  arch.Addr
}

// removeLate removes the late traps of locations that the Collector has no more.
func (s *Session) removeLate() error {
	var errs []error
	s.late = slices.DeleteFunc(s.late, func(t lateTrap) bool {
		if s.offloaded[t.at] != nil {
			return false
		}
		errs = append(errs, s.tracer.Uninstall(t.pid, t.at))
		return true
	})
	return errors.Join(errs...)
}

// follow sets tracepoints that other processes have in one that has come, all at once. Where the Collector has them elsewhere and
// refuses this process, it is a trap here. Each error names its address.
func (s *Session) follow(pid int, addrs []arch.Addr) (errs []error) {
	var traps []arch.Addr
	prepared := false
	for _, at := range addrs {
		switch {
		case s.offloaded[at] != nil:
			prepared = true
			if !s.offload(pid, at) {
				traps = append(traps, at)
			}
		case s.isTraced(at):
			errs = append(errs, s.trap(pid, at))
		}
	}
	if !prepared {
		return errs
	}
	refusals, err := s.tracer.Collector().Apply()
	for _, r := range refusals {
		traps = append(traps, r.Addr)
	}
	for _, at := range traps {
		s.late = append(s.late, lateTrap{pid, at})
		errs = append(errs, s.trap(pid, at))
	}
	return append(errs, err)
}

// offload prepares what the Collector has at an address of other processes for one more, false if it refuses any of it.
func (s *Session) offload(pid int, at arch.Addr) bool {
	c := s.tracer.Collector()
	for _, t := range s.offloaded[at] {
		if c.Offload(pid, t) != nil {
			c.Recall(pid, at)
			return false
		}
	}
	return true
}

// trap has hits of an address in one process stop the thread.
func (s *Session) trap(pid int, at arch.Addr) error {
	if err := s.tracer.Install(pid, at, s.finder.Semaphores[at]); err != nil {
		return fmt.Errorf("at %s: %w", at, err)
	}
	return nil
}

// unfollow removes the tracepoints of addresses from one process, all at once.
func (s *Session) unfollow(pid int, addrs []arch.Addr) error {
	var errs []error
	recalled := false // one Apply is for all
	for _, at := range addrs {
		if s.offloaded[at] == nil {
			errs = append(errs, s.tracer.Uninstall(pid, at))
			continue
		}
		s.tracer.Collector().Recall(pid, at)
		recalled = true
	}
	if recalled {
		_, err := s.tracer.Collector().Apply()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
