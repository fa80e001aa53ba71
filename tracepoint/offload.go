package tracepoint

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"tracewell/target"
	"tracewell/tfile"
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
)

// offload hands the Collector what has changed at a location. False says that the location must be a trap; what was offloaded
// of it has been recalled then. Control is held, state is not.
func (e *Engine) offload(l *location) (bool, error) {
	if e.collector == nil {
		return false, nil
	}
	list, inOrder := e.unknown(l)
	if !inOrder {
		if err := e.recall(l); err != nil {
			return false, err
		}
		list, _ = e.unknown(l)
	}
	for _, d := range list {
		err := unfit(d)
		if err == nil {
			err = e.collector.Offload(e.pid, d.program)
		}
		if err != nil {
			recalled := e.recall(l)
			e.refused(l, d, err)
			return false, recalled
		}
		e.state.Lock()
		d.offloaded, d.refusal = d.program, nil
		e.state.Unlock()
	}
	return true, nil
}

// unknown lists the definitions of a location that the Collector has not got in the form in which they are now. A disabled one
// need not be offloaded, unless it was while it was enabled. They are not in order if one that is new comes before one that the
// Collector has: it would have its turn too late.
func (e *Engine) unknown(l *location) (list []*definition, inOrder bool) {
	e.state.Lock()
	defer e.state.Unlock()
	fresh := false
	inOrder = true
	for _, d := range l.definitions {
		if d.offloaded == nil && !d.active() {
			continue
		}
		inOrder = inOrder && (d.offloaded == nil || !fresh)
		fresh = fresh || d.offloaded == nil
		if d.program != d.offloaded {
			list = append(list, d)
		}
	}
	return list, inOrder
}

// unfit says why no Collector can have a tracepoint, nil if one may.
func unfit(d *definition) error {
	switch {
	case d.Step > 0:
		return errStepping
	case collectsStatic(d.Actions):
		return errStatic
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

// recall takes a location back from the Collector, which deposits what frames there are. Until then the definitions that were
// offloaded are in force for them. Control is held, state is not.
func (e *Engine) recall(l *location) error {
	err := e.collector.Recall(e.pid, l.addr)
	e.state.Lock()
	defer e.state.Unlock()
	for _, d := range l.definitions {
		d.offloaded = nil
	}
	return err
}

// connect begins a run at the Collector, if the target has one. Control is held, state is not.
func (e *Engine) connect(c target.Collector) {
	e.state.Lock()
	e.collector, e.store = c, nil
	for _, d := range e.definitions {
		d.refusal = nil
	}
	run := target.Run{RegisterBlock: e.layout.RegisterBlock, MaxFrame: e.buffer.size, Deposit: e.deposit}
	for _, n := range slices.Sorted(maps.Keys(e.variables)) {
		if v := e.variables[n]; !v.Builtin {
			run.Variables = append(run.Variables, target.VariableValue{Number: n, Value: v.Initial})
		}
	}
	e.state.Unlock()
	if c == nil {
		return
	}
	c.Begin(run)
	store := c.Variables()
	e.state.Lock()
	e.store = store
	e.state.Unlock()
}

// deposit takes what the Collector made of a hit.
func (e *Engine) deposit(made target.Deposit) target.Verdict {
	e.state.Lock()
	v := e.accept(&made)
	e.state.Unlock()
	if v&target.Halt != 0 {
		e.bringBack()
	}
	return v
}

// accept is deposit with state held.
func (e *Engine) accept(made *target.Deposit) target.Verdict {
	h := &e.deposits
	if e.phase != running {
		return e.verdictOutsideRun()
	}
	if h.run != e.runs {
		*h = hit{run: e.runs}
	}
	if made.Err != nil {
		e.lose(h, 0, made.Err)
	} else if f, err := e.checkDeposit(made); err != nil {
		e.lose(h, made.Key.Number, err)
	} else if d := e.definition(made.Key); d != nil {
		e.acceptFor(h, d, made, f)
	}
	if made.More && made.Err == nil {
		return target.Continue
	}
	h.full = false
	return e.finish(h)
}

// acceptFor counts a deposit for its tracepoint. Its pass count is the one that the Collector was told.
func (e *Engine) acceptFor(h *hit, d *definition, made *target.Deposit, f tfile.Frame) {
	c := catch{d: d, pass: d.Pass, frame: made.Frame, failures: made.Failures, pc: d.Addr}
	if d.offloaded != nil {
		c.pass = d.offloaded.Pass
	}
	sum := &d.deposited
	sum.Errors += uint64(len(made.Failures))
	sum.Lost += made.Lost
	if made.Frame != nil {
		sum.Hits++
		sum.Frames++
		sum.Usage += uint64(len(made.Frame) - tfile.FrameHeader)
		c.static = len(f.Static()) > 0
	} else if len(made.Failures) == 0 {
		return // nothing but a number of lost frames
	} else {
		c.condition = made.Failures[0]
	}
	e.commit(h, &c)
}

// checkDeposit returns the frame of a deposit, if it has one, and refuses one that is not whole: the trace buffer and the trace
// file rely on each.
func (e *Engine) checkDeposit(made *target.Deposit) (f tfile.Frame, err error) {
	if made.Frame == nil {
		return f, nil
	}
	f, err = tfile.ParseFrame(made.Frame, e.layout.Order, e.layout.RegisterBlock)
	if err == nil {
		err = f.Check()
	}
	if err == nil && f.Tracepoint() != made.Key.Number {
		err = fmt.Errorf("it names tracepoint %d", f.Tracepoint())
	}
	if err != nil {
		err = fmt.Errorf("a frame of tracepoint %d at %s from the target's collector: %w", made.Key.Number, made.Key.Addr, err)
	}
	return f, err
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
