package runcontrol

import (
	"errors"
	"maps"
	"slices"

	"tracewell/target"
)

// nonStop is what there is to know in non-stop mode, in which threads stop and go on one by one.
//
// The target does not say which threads run, so stops does: a thread is in it from the event that stopped it to the
// resumption.
type nonStop struct {
	stops map[target.ThreadID]target.Event
	going map[target.ThreadID]target.Action // what running threads were told, as far as the client told them
}

// ErrNoNonStop refuses the mode on a target that has only the other.
var ErrNoNonStop = errors.New("there is no non-stop mode")

// NonStop reports whether the debuggee is in non-stop mode.
func (d *Debuggee) NonStop() bool { return d.nonStop != nil }

// Stopped returns the event that stopped a thread in non-stop mode, and reports whether it is stopped.
func (d *Debuggee) Stopped(id target.ThreadID) (ev target.Event, ok bool) {
	ev, ok = d.nonStop.stops[id]
	return ev, ok
}

// anyRuns reports whether some thread runs in non-stop mode.
func (d *Debuggee) anyRuns() bool {
	return slices.ContainsFunc(d.target.Threads(), func(id target.ThreadID) bool {
		_, stopped := d.nonStop.stops[id]
		return !stopped
	})
}

// BeginNonStop goes over to non-stop mode. What runs, because a trace run went on without a client, does so afterwards. Of a
// process that the server was started to attach to only the leader stays stopped, as with gdbserver 13.1, since nobody
// has asked for more.
func (d *Debuggee) BeginNonStop() error {
	ran := d.running
	if err := d.Halt(); err != nil {
		return err
	}
	// The target changes its mode only while everything is stopped.
	if err := d.target.Runner().SetNonStop(true); err != nil {
		if ran && d.Alive() {
			err = errors.Join(err, d.Resume(EveryThread()))
		}
		if errors.Is(err, target.ErrUnsupported) {
			err = ErrNoNonStop
		}
		return err
	}
	n := &nonStop{stops: make(map[target.ThreadID]target.Event), going: make(map[target.ThreadID]target.Action)}
	d.nonStop = n
	last := d.LastStop()
	var again []target.Action
	for _, id := range d.target.Threads() {
		// Stopped without a reason of its own: reported with signal 0.
		n.stops[id] = target.Event{Thread: id}
		if id == last.Thread {
			n.stops[id] = last
		}
		seized := d.last == nil && d.attached[id.PID] && id.TID != id.PID
		if seized || ran && (id != last.Thread || last.Signal == target.SignalInt) {
			again = append(again, target.Action{Thread: id})
		}
	}
	return d.ResumeAlone(again)
}

// EndNonStop returns to all-stop mode, if it is not the mode already, and reports whether any thread ran. What happened last
// is noted, but no client hears of it.
func (d *Debuggee) EndNonStop() (ran bool, err error) {
	n := d.nonStop
	if n == nil {
		return false, nil
	}
	ran = d.anyRuns()
	if err := d.target.Runner().SetNonStop(false); err != nil {
		return ran, err
	}
	last := d.LastStop()
	if _, stopped := n.stops[last.Thread]; !stopped && Stops(last) {
		d.last = &target.Event{Thread: last.Thread}
	}
	for {
		select {
		case ev := <-d.target.Runner().Events():
			// An event of a process that the client has detached from or killed is of no interest to the next. A child
			// of whose fork it was not told is the next one's from the beginning.
			if !d.Knows(ev) {
				continue
			}
			d.Learn(ev)
			if Ends(ev) {
				d.last = &ev
			}
		default:
			d.nonStop = nil
			d.publish()
			return ran, nil
		}
	}
}

// ResumeAlone lets stopped threads go on in non-stop mode; each action is for one.
func (d *Debuggee) ResumeAlone(actions []target.Action) error {
	if len(actions) == 0 {
		return nil
	}
	d.tellResumed(actions)
	if err := d.target.Runner().Resume(actions); err != nil {
		return err
	}
	d.parts(actions)
	for _, a := range actions {
		// What is repeated when an event passes is the verb and the range; the signal was delivered.
		a.Signal = target.SignalNone
		delete(d.nonStop.stops, a.Thread)
		d.nonStop.going[a.Thread] = a
	}
	d.publish()
	return nil
}

// SeizeAlone takes note of the threads of a process that has been attached to in non-stop mode, which are stopped, and lets
// them go on.
func (d *Debuggee) SeizeAlone(pid int) error {
	var actions []target.Action
	for _, id := range d.target.Threads() {
		// All threads of the process, those of others stay as they are.
		if id.PID == pid {
			d.nonStop.stops[id] = target.Event{Thread: id}
			actions = append(actions, target.Action{Thread: id})
		}
	}
	return d.ResumeAlone(actions)
}

// GoOnAlone lets a thread go on after an event as it did before, with its signal.
func (d *Debuggee) GoOnAlone(ev target.Event) error {
	again := d.nonStop.going[ev.Thread]
	again.Thread, again.Signal = ev.Thread, ev.Signal
	return d.ResumeAlone([]target.Action{again})
}

// Note keeps up which threads are stopped in non-stop mode.
func (d *Debuggee) Note(ev target.Event) {
	n, id := d.nonStop, ev.Thread
	switch {
	case ev.Kind == target.ThreadExited:
		delete(n.stops, id)
		delete(n.going, id)
		return
	case !Stops(ev):
		return
	case ev.Kind == target.Execed: // of the process's threads this one is left
		d.Drop(id.PID)
	case ev.Kind == target.Forked, ev.Kind == target.Vforked:
		// The child is stopped as well until the client resumes it or detaches from it.
		n.stops[ev.Child] = target.Event{Thread: ev.Child}
	}
	n.stops[id] = ev
	d.publish()
}

// Drop forgets the threads of a process in non-stop mode; otherwise it does nothing.
func (d *Debuggee) Drop(pid int) {
	if d.nonStop == nil {
		return
	}
	maps.DeleteFunc(d.nonStop.stops, func(id target.ThreadID, _ target.Event) bool { return id.PID == pid })
	maps.DeleteFunc(d.nonStop.going, func(id target.ThreadID, _ target.Action) bool { return id.PID == pid })
}
