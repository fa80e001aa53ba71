package runcontrol

import (
	"sync"

	"tracewell/target"
)

// State is what the debuggee does, for those who only watch.
type State struct {
	Running bool         // in non-stop mode: some thread runs
	Stop    target.Event // how it stopped last, as LastStop has it; while it runs, how it stopped before
}

// published is the state as watchers see it.
type published struct {
	mu    sync.Mutex
	state State
}

// State returns what the debuggee does. Unlike the other methods it may be called on any goroutine at any time.
func (d *Debuggee) State() State {
	d.published.mu.Lock()
	defer d.published.mu.Unlock()
	return d.published.state
}

// publish shows watchers the present state.
func (d *Debuggee) publish() {
	state := d.State()
	if state.Running = d.running || d.nonStop != nil && d.anyRuns(); !state.Running {
		state.Stop = d.LastStop()
	}
	d.published.mu.Lock()
	defer d.published.mu.Unlock()
	d.published.state = state
}
