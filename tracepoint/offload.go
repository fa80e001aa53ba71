package tracepoint

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"tracewell/target"
	"tracewell/trace"
)

// What is collected elsewhere. The Collector of a target is handed compiled tracepoints and deposits frames. A deposit goes
// through commit like the frame of a hit here, so pass counts, limits, the buffer and the sink see one sequence of frames, and
// the run ends with the frame that ends it: those behind it, of which the Collector may have made any number, are dropped.
//
// All tracepoints of a location are collected at one place, because an address holds either a breakpoint instruction or what
// leads to the Collector. Where one of them cannot be offloaded the location is a trap, and the reason is kept.

var (
	errStepping = errors.New("while-stepping follows a thread instruction by instruction")
	errStatic   = errors.New("static trace data is written by the tracer")

	errLateBuiltin = errors.New("it uses a built-in variable that was defined during the run")
)

// offload prepares at the Collector what has changed at a location. False says that the location must be a trap; the Collector is
// asked to recall what it has of it then. Control is held, state is not.
func (e *Engine) offload(l *location) bool {
	if e.collector == nil {
		return false
	}
	list, inOrder := e.unknown(l)
	if !inOrder {
		e.recall(l)
		list, _ = e.unknown(l)
	}
	for _, d := range list {
		err := e.unfit(d)
		if err == nil {
			err = e.collector.Offload(e.pid, d.program)
		}
		if err != nil {
			e.recall(l)
			e.refused(l, d, err)
			return false
		}
		d.prepared = d.program
		e.change(l)
	}
	return true
}

// change notes that there is something to apply at a location. Control is held.
func (e *Engine) change(l *location) {
	if !l.changed {
		l.changed = true
		e.changes = append(e.changes, l)
	}
}

// recall has the Collector forget a location at the next apply. Control is held, state is not.
func (e *Engine) recall(l *location) {
	e.collector.Recall(e.pid, l.addr)
	for _, d := range l.definitions {
		d.prepared = nil
	}
	e.change(l)
}

// apply has the Collector put into force what has been prepared, all at once, and lists the locations that must be traps after
// all. Until then the definitions that were offloaded before are in force for what it deposits. Control is held, state is not.
func (e *Engine) apply() (traps []*location, err error) {
	if len(e.changes) == 0 {
		return nil, nil
	}
	refusals, err := e.collector.Apply()
	e.state.Lock()
	defer e.state.Unlock()
	for _, r := range refusals {
		if l := e.locations[r.Addr]; l != nil {
			traps = append(traps, l)
			e.change(l)
			for _, d := range l.definitions {
				d.prepared, d.refusal = nil, r.Err
			}
		}
	}
	for _, l := range e.changes {
		l.changed = false
		for _, d := range l.definitions {
			if e.phase == idle { // a deposit has ended the run
				d.prepared = nil
			}
			if d.offloaded = d.prepared; d.offloaded != nil {
				d.refusal = nil
			}
		}
	}
	e.changes = e.changes[:0]
	return traps, err
}

// unknown lists the definitions of a location that the Collector has not got in the form in which they are now. A disabled one
// need not be offloaded, unless it was while it was enabled. They are not in order if one that is new comes before one that the
// Collector has: it would have its turn too late. Control is held.
func (e *Engine) unknown(l *location) (list []*definition, inOrder bool) {
	fresh := false
	inOrder = true
	for _, d := range l.definitions {
		if d.prepared == nil && !d.active() {
			continue
		}
		inOrder = inOrder && (d.prepared == nil || !fresh)
		fresh = fresh || d.prepared == nil
		if d.program != d.prepared {
			list = append(list, d)
		}
	}
	return list, inOrder
}

// unfit says why no Collector can have a tracepoint, nil if one may. Control is held.
func (e *Engine) unfit(d *definition) error {
	switch {
	case d.Step > 0:
		return errStepping
	case collectsStatic(d.Actions):
		return errStatic
	}
	for n, which := range *e.builtins.Load() {
		if e.offered[n] != which && d.program.Uses(n) {
			return errLateBuiltin
		}
	}
	return nil
}

// refused keeps the reason why a location is a trap, for all its tracepoints.
func (e *Engine) refused(l *location, culprit *definition, err error) {
	e.state.Lock()
	defer e.state.Unlock()
	for _, d := range l.definitions {
		d.refusal = fmt.Errorf("tracepoint %d at the same address: %w", culprit.Number, err)
	}
	culprit.refusal = err
}

// connect begins a run at the Collector, if the target has one. Control is held, state is not.
func (e *Engine) connect(c target.Collector) {
	e.state.Lock()
	e.collector, e.store = c, nil
	for _, d := range e.definitions {
		d.prepared, d.refusal, d.deposited = nil, nil, target.Tally{}
	}
	run := target.Run{RegisterBlock: e.layout.RegisterBlock, MaxFrame: e.buffer.size,
		WhenFull: e.layout.WhenFull, Prompt: e.layout.Prompt,
		Builtins: *e.builtins.Load(), Locations: slices.Sorted(maps.Keys(e.locations)), Deposit: e.deposit, Kept: e.layout.Kept}
	for _, n := range slices.Sorted(maps.Keys(e.variables)) {
		if v := e.variables[n]; !v.Builtin {
			run.Variables = append(run.Variables, target.VariableValue{Number: n, Value: v.Initial})
		}
	}
	e.state.Unlock()
	if c == nil {
		return
	}
	e.offered = run.Builtins
	c.Begin(run)
	store := c.Variables()
	e.state.Lock()
	e.store = store
	e.state.Unlock()
}

// ahead is what the Collector has counted and not yet deposited, by tracepoint; nil if there is nothing. State is not held: a
// Collector may take a lock of its own, which it holds while it deposits.
func (e *Engine) ahead() map[trace.Key]target.Tally {
	e.state.Lock()
	c := e.collector
	on := e.phase == running
	e.state.Unlock()
	if c == nil || !on {
		return nil
	}
	tallies := c.Tallies(nil)
	e.state.Lock()
	defer e.state.Unlock()
	if e.phase != running {
		return nil
	}
	ahead := make(map[trace.Key]target.Tally)
	for _, t := range tallies {
		if d := e.definition(t.Key); d != nil {
			ahead[t.Key] = target.Tally{
				Hits: more(t.Hits, d.deposited.Hits), Frames: more(t.Frames, d.deposited.Frames),
				Usage: more(t.Usage, d.deposited.Usage), Errors: more(t.Errors, d.deposited.Errors),
				LastError: t.LastError, Lost: max(t.Lost-d.deposited.Lost, 0),
			}
		}
	}
	return ahead
}

// more is by how much a count is ahead of another, which may have caught up since.
func more(count, than uint64) uint64 { return max(count, than) - than }

// bringBack takes over the values of variables from the Collector when a run is over.
func (e *Engine) bringBack() { e.readStore(true) }

// readStore copies the values of variables that live at the Collector. A variable that a session defines meanwhile is left
// alone. State is not held.
func (e *Engine) readStore(last bool) {
	e.state.Lock()
	store, runs, before := e.store, e.runs, maps.Clone(e.variables)
	e.state.Unlock()
	if store == nil {
		return
	}
	values := store.AppendVariables(nil)
	e.state.Lock()
	defer e.state.Unlock()
	if e.store == nil || e.runs != runs {
		return
	}
	for _, v := range values {
		if e.variables[v.Number] == before[v.Number] {
			e.mention(v.Number).value = v.Value
		}
	}
	if last {
		e.store = nil
	}
}
