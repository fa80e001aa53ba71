//go:build linux && amd64

package record

import (
	"errors"
	"slices"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/trace/compiled"
)

// collector is the target's, for all processes of the session. It collects an address in all processes that there are, or in none:
// the engine has one answer. In a process that comes later each address is tried by itself (join).
type collector struct {
	target.Collector
	s *Session
}

// Offload implements target.Collector for the processes that there are.
func (c collector) Offload(_ int, t *compiled.Tracepoint) error {
	for pid, p := range c.s.processes {
		if p.sites[t.Addr] {
			if err := c.Collector.Offload(pid, t); err != nil {
				return err
			}
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
	for pid, p := range c.s.processes {
		c.Collector.Recall(pid, at)
		if p.traps[at] {
			delete(p.traps, at)
			if err := c.s.target.Tracer().Uninstall(pid, at); err != nil {
				c.s.warn("process %d: %w", pid, err)
			}
		}
	}
}

// Apply implements target.Collector. What one process refuses is recalled in the others.
func (c collector) Apply() (refused []target.Refusal, err error) {
	refused, err = c.Collector.Apply()
	for _, r := range refused {
		c.Recall(r.PID, r.Addr)
	}
	if len(refused) > 0 && len(c.s.processes) > 1 {
		_, again := c.Collector.Apply()
		err = errors.Join(err, again)
	}
	return refused, err
}

// join has a process that has come during the run traced at addresses at which others are: by the collector where it can, and by
// traps elsewhere.
func (s *Session) join(p *process, addrs []arch.Addr) {
	tracer := s.target.Tracer()
	collector := tracer.Collector()
	var traps []arch.Addr
	for _, at := range addrs {
		_, trapped := s.traced[at]
		for _, t := range s.offloaded[at] {
			if trapped = trapped || collector.Offload(p.pid, t) != nil; trapped {
				collector.Recall(p.pid, at)
			}
		}
		if trapped {
			traps = append(traps, at)
		}
	}
	if collector != nil {
		refused, err := collector.Apply()
		if err != nil {
			s.warn("process %d: %w", p.pid, err)
		}
		for _, r := range refused {
			traps = append(traps, r.Addr)
		}
	}
	for _, at := range traps {
		if err := tracer.Install(p.pid, at, s.traced[at]); err != nil {
			s.warn("process %d is not traced at %s: %w", p.pid, at, err)
			continue
		}
		p.traps[at] = true
	}
}

// part undoes join, for addresses whose memory is gone.
func (s *Session) part(p *process, addrs []arch.Addr) {
	tracer := s.target.Tracer()
	collector := tracer.Collector()
	for _, at := range addrs {
		if collector != nil {
			collector.Recall(p.pid, at)
		}
		_ = tracer.Uninstall(p.pid, at) // finds nothing to put back
		delete(p.traps, at)
	}
	if collector != nil {
		if _, err := collector.Apply(); err != nil {
			s.warn("process %d: %w", p.pid, err)
		}
	}
}
