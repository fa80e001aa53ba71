package tracepoint

import (
	"fmt"
	"slices"

	"tracewell/arch"
)

// Site is an address that has tracepoints: the thing that a target installs. There is one for all tracepoints of an
// address, and it is installed during a run while at least one of them is enabled.
type Site struct {
	Addr arch.Addr
	// Semaphores are the addresses of 16-bit counters in the program, which a target adds one to when it installs the site
	// and subtracts one from when it removes it. They stay the same while the site is installed.
	Semaphores []arch.Addr

	engine      *Engine
	definitions []*definition // in order of arrival; guarded by the engine's state, as is the next
	installed   bool
}

// wanted reports whether a hit of the site could do anything.
func (s *Site) wanted() bool {
	return slices.ContainsFunc(s.definitions, (*definition).active)
}

// install installs a site if a run is on that wants it. One that is installed, and to which a static tracepoint has come, is
// installed anew for its semaphores. Control is held, state is not.
func (e *Engine) install(s *Site) error {
	e.state.Lock()
	semaphores := s.semaphores()
	changed := s.installed && !slices.Equal(semaphores, s.Semaphores)
	needed := e.phase == running && s.wanted() && (!s.installed || changed)
	s.installed = s.installed && !needed
	e.state.Unlock()
	if !needed {
		return nil
	}
	if changed {
		if err := e.installer.Uninstall(s); err != nil {
			return err
		}
	}
	s.Semaphores = semaphores
	if err := e.installer.Install(s); err != nil {
		return err
	}
	e.state.Lock()
	s.installed = e.phase == running
	late := !s.installed
	e.state.Unlock()
	if late { // a hit ended the run, and the target removed what there was then
		return e.installer.Uninstall(s)
	}
	return nil
}

// uninstall removes a site that has lost its last enabled tracepoint. Control is held, state is not.
func (e *Engine) uninstall(s *Site) error {
	e.state.Lock()
	needed := s.installed && !s.wanted()
	if needed {
		s.installed = false
	}
	e.state.Unlock()
	if !needed {
		return nil
	}
	return e.installer.Uninstall(s)
}

// failedAt says which tracepoint an installer's error is about.
func failedAt(d *definition, attempt string, err error) error {
	return fmt.Errorf("cannot %s tracepoint %d at %s: %w", attempt, d.Number, d.Addr, err)
}
