package tracepoint

import (
	"errors"
	"slices"

	"tracewell/trace"
)

// An ending is why a run ends.
type ending struct {
	reason     trace.StopReason
	tracepoint trace.Number // of pass count and error
	text       string       // of an error
}

// precedence orders the reasons that one hit can bring about together: the first of them is told.
var precedence = []trace.StopReason{
	trace.ReasonPassCount, trace.ReasonFull, trace.ReasonError, trace.ReasonDisconnected, trace.ReasonStop,
}

// end asks for the run to end when the hit or step in progress is done with.
func (e *Engine) end(why ending) {
	if e.ending.reason == "" || slices.Index(precedence, why.reason) < slices.Index(precedence, e.ending.reason) {
		e.ending = why
	}
}

// Start begins a run: it installs the sites, which takes no tracepoint to be enabled at all, then clears frames, counts and
// stop note and gives each variable its initial value. If a site cannot be installed, those that were are removed again, and
// frames, counts and status are as before.
func (e *Engine) Start(installer Installer) error {
	e.control.Lock()
	defer e.control.Unlock()
	if err := e.prepare(); err != nil {
		return err
	}
	e.installer = installer
	sites, err := e.installAll()
	e.state.Lock()
	defer e.state.Unlock()
	if err != nil {
		e.phase = idle
		return err
	}
	e.begin(sites)
	return nil
}

// prepare enters the phase in which sites are installed.
func (e *Engine) prepare() error {
	e.state.Lock()
	defer e.state.Unlock()
	if e.phase != idle {
		return errors.New("a trace run is already on")
	}
	if d := e.open; d != nil && d.replaces != nil {
		d.replaces.take(d)
	} else if d != nil {
		d.complete = true
	}
	e.open = nil
	e.phase = starting
	return nil
}

// installAll installs the sites that are wanted, all or none. Control is held, state is not.
func (e *Engine) installAll() ([]*Site, error) {
	var sites []*Site
	var last *Site
	for _, d := range e.definitions {
		if !d.Enabled || d.site == last { // the definitions of one site are neighbours
			continue
		}
		d.site.Semaphores = d.site.semaphores()
		if err := e.installer.Install(d.site); err != nil {
			err = failedAt(d, "install", err)
			return nil, errors.Join(err, e.uninstallAll(sites))
		}
		last = d.site
		sites = append(sites, last)
	}
	return sites, nil
}

// uninstallAll removes sites, all of them even when some fail. Control is held, state is not.
func (e *Engine) uninstallAll(sites []*Site) error {
	var errs []error
	for _, s := range sites {
		errs = append(errs, e.installer.Uninstall(s))
	}
	return errors.Join(errs...)
}

// begin lets hits count. State is held.
func (e *Engine) begin(sites []*Site) {
	for _, d := range e.definitions {
		d.Hits, d.Usage, d.frames, d.errors, d.lastError = 0, 0, 0, 0, nil
	}
	e.initializeVariables()
	e.buffer.reset()
	if !e.layout.SinkOnly {
		e.buffer.allocate()
	}
	e.made = 0
	e.runs++
	e.stopNote = ""
	e.ending, e.full = ending{}, false
	e.latest = 0
	e.started, e.stopped = e.now(), 0
	for _, s := range sites {
		s.installed = true
	}
	e.phase = running
}

// Stop ends a run that is on; otherwise it does nothing. The note says why the user wanted it; empty, it leaves one that was
// set. The error is the installer's, about sites that it could not remove; the run is over all the same.
func (e *Engine) Stop(reason trace.StopReason, note string) error {
	e.control.Lock()
	defer e.control.Unlock()
	return e.stop(ending{reason: reason, text: note})
}

// stop ends a run. Control is held, state is not.
func (e *Engine) stop(why ending) error {
	e.state.Lock()
	if e.phase != running {
		e.state.Unlock()
		return nil
	}
	sites := e.installed()
	if why.reason == trace.ReasonStop && why.text != "" {
		e.stopNote = why.text
	}
	e.ending = why
	e.halt()
	e.state.Unlock()
	return e.uninstallAll(sites)
}

func (e *Engine) installed() []*Site {
	var sites []*Site
	for _, s := range e.sites {
		if s.installed {
			sites = append(sites, s)
		}
	}
	return sites
}

// halt puts an end to the run for the reason in e.ending. State is held.
func (e *Engine) halt() {
	e.stopped = e.now()
	e.phase = idle
	e.sessions = e.sessions[:0]
	for _, s := range e.sites {
		s.installed = false
	}
	if e.layout.Ended != nil {
		e.layout.Ended()
	}
}

// Enable enables or disables a tracepoint. During a run that takes effect at once: a site is removed with its last enabled
// tracepoint and installed with its first. Steps that a tracepoint has begun go on when it is disabled.
func (e *Engine) Enable(key trace.Key, on bool) error {
	e.control.Lock()
	defer e.control.Unlock()
	if err := e.completeOpen(); err != nil {
		return err
	}
	d := e.definition(key)
	if d == nil {
		return errUnknown(key)
	}
	return e.enable(d, on)
}

// enable does it. Control is held, state is not.
func (e *Engine) enable(d *definition, on bool) error {
	e.setEnabled(d, on)
	if !on {
		if err := e.uninstall(d.site); err != nil {
			return failedAt(d, "remove", err)
		}
		return nil
	}
	if err := e.install(d.site); err != nil {
		e.setEnabled(d, false)
		return failedAt(d, "install", err)
	}
	return nil
}

func (e *Engine) setEnabled(d *definition, on bool) {
	e.state.Lock()
	defer e.state.Unlock()
	d.Enabled = on
}
