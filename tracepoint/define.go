package tracepoint

import (
	"errors"
	"fmt"
	"slices"

	"tracewell/target"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// A definition is a tracepoint with its compiled form and its counts. What changes it holds control and state.
type definition struct {
	trace.Tracepoint
	program   *compiled.Tracepoint // as it is to be executed; never changed, replaced as a whole
	location  *location
	marker    Marker // at its address, if it is static or collects static trace data; or nil
	stepping  bool   // a packet of stepping actions came, so those that follow are such too
	complete  bool   // all its packets came
	frames    uint64
	errors    uint64 // expressions that failed
	lastError error  // of them

	prepared  *compiled.Tracepoint // the form that a Collector has or is about to have; nil if it has none; guarded by control
	offloaded *compiled.Tracepoint // the form that is in force there
	deposited target.Tally         // what came from there in this run
	refusal   error                // why it is a trap although there is a Collector

	replaces *definition // what this defines anew, nil for a first definition; only the former is in the engine's lists
	refused  bool        // its actions could not be taken, so it is to replace nothing
}

// active reports whether a hit is to be looked at.
func (d *definition) active() bool { return d.Enabled && d.complete }

// isFast reports whether a location is not to be a trap because of the definition. A target without a Collector takes it for an
// ordinary one.
func (d *definition) isFast() bool { return d.active() && d.Fast }

// compile checks a tracepoint and decodes its expressions.
func compile(t trace.Tracepoint) (*definition, error) {
	program, err := compiled.Compile(&t)
	if err != nil {
		return nil, err
	}
	t.Actions, t.StepActions = slices.Clone(t.Actions), slices.Clone(t.StepActions)
	t.Hits, t.Usage = 0, 0
	return &definition{Tracepoint: t, program: program, stepping: len(t.StepActions) > 0}, nil
}

// Define adds a tracepoint, which may be whole, or just what QTDP says of it: AddActions and AddSource then add to it. With
// more set, actions are announced, and the tracepoint does nothing until they came. They need not come: GDB announces them
// for an empty while-stepping too. So a definition is also taken as complete when anything else arrives: a source string,
// another definition, the start of a run.
//
// During a run a complete tracepoint is installed at once; if that fails it is removed again, and the others of its address are
// installed without it. The error may also be about
// the definition before this one, if that is thereby complete; then it is that one which is removed, and this one not made.
//
// GDB 9 to 13.1 send definitions again after a library was loaded during a run, with whatever was changed since. What comes
// for a tracepoint that is defined already therefore replaces its definition, once all of it came.
//
// The engine keeps the byte slices in t, which must not change afterwards.
func (e *Engine) Define(t trace.Tracepoint, more bool) error {
	e.control.Lock()
	defer e.control.Unlock()
	if err := e.completeOpen(); err != nil {
		return err
	}
	d, err := compile(t)
	if err != nil {
		return err
	}
	if err := e.mark(d); err != nil {
		return err
	}
	if d.replaces = e.definition(t.Key()); d.replaces == nil {
		e.insert(d)
	}
	e.open = d
	if more {
		return nil
	}
	return e.completeOpen()
}

// AddActions adds actions to a tracepoint, announcing more or not. Once a packet was marked as stepping, the later ones of
// the tracepoint are so too, as GDB marks the first only. If the actions of a definition that is not yet complete are
// refused, then the whole of it is removed, or, if it was to replace another, forgotten: with some of its actions it would
// collect less than it was asked to.
func (e *Engine) AddActions(key trace.Key, stepping bool, actions []trace.Action, more bool) error {
	e.control.Lock()
	defer e.control.Unlock()
	d := e.definition(key)
	if d == nil {
		return errUnknown(key)
	}
	if err := e.refusal(d); err != nil {
		return err
	}
	if e.open != nil && e.open.replaces == d {
		d = e.open
	} else if e.open != d {
		if err := e.completeOpen(); err != nil {
			return err
		}
	}
	operations, err := compiled.Operations(key, actions)
	if err != nil {
		e.refuse(d)
		return err
	}
	marker := d.marker
	if marker == nil && collectsStatic(actions) {
		marker = e.marker(d.Addr)
	}
	e.state.Lock()
	d.marker = marker
	d.add(stepping, actions, operations)
	if d.location != nil {
		d.location.arm()
	}
	e.state.Unlock()
	switch {
	case more:
		return nil
	case d.complete: // the target may have the tracepoint without these actions
		return e.install(d.location)
	default:
		return e.completeOpen()
	}
}

// add appends to the actions at the hit or after a step.
func (d *definition) add(stepping bool, actions []trace.Action, operations []compiled.Operation) {
	d.stepping = d.stepping || stepping
	program := *d.program
	if d.stepping {
		d.StepActions = append(d.StepActions, actions...)
		program.StepActions = slices.Concat(program.StepActions, operations)
	} else {
		d.Actions = append(d.Actions, actions...)
		program.Actions = slices.Concat(program.Actions, operations)
	}
	d.program = &program
}

// AddSource adds a source string to a tracepoint, or a part of one, which must continue the part before it.
func (e *Engine) AddSource(p trace.SourcePiece) error {
	e.control.Lock()
	defer e.control.Unlock()
	d := e.definition(p.Key)
	if d == nil {
		return errUnknown(p.Key)
	}
	if err := e.refusal(d); err != nil {
		return err
	}
	if err := e.completeOpen(); err != nil {
		return err
	}
	e.state.Lock()
	defer e.state.Unlock()
	if err := d.Source.Add(p); err != nil {
		return fmt.Errorf("tracepoint %d at %s: %w", d.Number, d.Addr, err)
	}
	return nil
}

// completeOpen takes the definition whose packets were coming as complete. Control is held.
func (e *Engine) completeOpen() error {
	d := e.open
	if d == nil {
		return nil
	}
	e.open = nil
	if d.replaces != nil {
		return e.replace(d)
	}
	e.state.Lock()
	d.complete = true
	d.location.arm()
	e.state.Unlock()
	if err := e.install(d.location); err != nil {
		e.remove(d)
		return errors.Join(failedAt(d, "install", err), e.install(d.location))
	}
	return nil
}

// definition finds a tracepoint. Control or state is held: it takes both to change what this reads.
func (e *Engine) definition(key trace.Key) *definition {
	l := e.locations[key.Addr]
	if l == nil {
		return nil
	}
	for _, d := range l.definitions {
		if d.Number == key.Number {
			return d
		}
	}
	return nil
}

func errUnknown(key trace.Key) error {
	return fmt.Errorf("there is no tracepoint %d at %s", key.Number, key.Addr)
}

// insert puts a definition behind the others of its address.
func (e *Engine) insert(d *definition) {
	e.state.Lock()
	defer e.state.Unlock()
	at, _ := slices.BinarySearchFunc(e.definitions, d, func(other, d *definition) int {
		if other.Addr <= d.Addr {
			return -1
		}
		return 1
	})
	e.definitions = slices.Insert(e.definitions, at, d)
	d.location = e.locations[d.Addr]
	if d.location == nil {
		d.location = &location{addr: d.Addr}
		e.locations[d.Addr] = d.location
		e.view.Store(nil)
	}
	d.location.definitions = append(d.location.definitions, d)
}

// remove undoes insert.
func (e *Engine) remove(d *definition) {
	e.state.Lock()
	defer e.state.Unlock()
	same := func(other *definition) bool { return other == d }
	e.definitions = slices.DeleteFunc(e.definitions, same)
	d.location.definitions = slices.DeleteFunc(d.location.definitions, same)
	d.location.arm()
	if len(d.location.definitions) == 0 {
		delete(e.locations, d.Addr)
		e.view.Store(nil)
	}
}

// Tracepoints lists the definitions by address, those of one address in the order of their arrival. The byte slices in it
// are shared and must not be changed.
func (e *Engine) Tracepoints() []trace.Tracepoint {
	e.state.Lock()
	defer e.state.Unlock()
	list := make([]trace.Tracepoint, len(e.definitions))
	for i, d := range e.definitions {
		t := d.Tracepoint
		t.Actions = slices.Clone(t.Actions)
		t.StepActions = slices.Clone(t.StepActions)
		t.Source.Commands = slices.Clone(t.Source.Commands)
		list[i] = t
	}
	return list
}

// Tally is what a tracepoint has come to in a run, and where.
type Tally struct {
	target.Tally
	// Elsewhere says that a Collector of the target has the tracepoint, Refusal why it stops threads although the target has a
	// Collector. Neither holds outside a run, and of a target without one.
	Elsewhere bool
	Refusal   error
}

// Tallies appends the tallies of all tracepoints to dst, in the order of Tracepoints. Frames that are still on their way from
// a Collector count.
func (e *Engine) Tallies(dst []Tally) []Tally {
	ahead := e.ahead()
	e.state.Lock()
	defer e.state.Unlock()
	for _, d := range e.definitions {
		dst = append(dst, Tally{d.tally(ahead[d.Key()]), d.offloaded != nil, d.refusal})
	}
	return dst
}

// tally adds what is on its way to what has come.
func (d *definition) tally(ahead target.Tally) target.Tally {
	last := d.lastError
	if last == nil {
		last = ahead.LastError
	}
	return target.Tally{
		Key: d.Key(), Hits: d.Hits + ahead.Hits, Frames: d.frames + ahead.Frames, Usage: d.Usage + ahead.Usage,
		Errors: d.errors + ahead.Errors, LastError: last, Lost: d.deposited.Lost + ahead.Lost,
	}
}

// Hits returns how often the condition of a tracepoint held in this run, and how many bytes of frame data, headers not
// counted, were recorded for it; false if there is no such tracepoint. Frames that are still on their way count.
func (e *Engine) Hits(key trace.Key) (hits, usage uint64, ok bool) {
	ahead := e.ahead()
	e.state.Lock()
	defer e.state.Unlock()
	d := e.definition(key)
	if d == nil {
		return 0, 0, false
	}
	t := d.tally(ahead[key])
	return t.Hits, t.Usage, true
}
