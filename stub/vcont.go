package stub

import (
	"errors"
	"slices"

	"tracewell/rsp"
	"tracewell/rsp/request"
	"tracewell/runcontrol"
	"tracewell/target"
)

// verbs is vCont?.
func (x *session) verbs(request.None) ([]byte, error) { return []byte("vCont;c;C;t;s;S;r"), nil }

// order is one action of vCont: a resumption, or a stop of which only the thread counts.
type order struct {
	target.Action
	stop bool
}

// errMixedStop refuses a vCont that stops some threads and lets others go on, which means nothing when all stop together.
var errMixedStop = errors.New("t beside other verbs, expected it alone")

// resumeThreads is vCont. Of stops and resumptions together only non-stop mode can make sense.
func (x *session) resumeThreads(actions []request.Action) ([]byte, error) {
	orders := make([]order, len(actions))
	for i, a := range actions {
		orders[i] = orderOf(a)
	}
	if x.debuggee.NonStop() {
		return replyOK, x.obey(orders)
	}
	var resumed []target.Action
	for _, o := range orders {
		if !o.stop {
			resumed = append(resumed, o.Action)
		}
	}
	// All of one kind, or all of the other.
	switch len(resumed) {
	case len(orders):
		return x.start(resumed)
	case 0:
		x.debuggee.Interrupt()
		return replyOK, nil
	}
	return nil, errMixedStop
}

// start resumes and leaves the reply to the event. A Ctrl-C that came when the program had just stopped, but before the
// client knew, counts for what it does next: GDB may step the program many times a second, with hardly a moment in which
// it runs.
func (x *session) start(actions []target.Action) ([]byte, error) { return x.startIn(false, actions) }

// startIn is start in either direction.
func (x *session) startIn(back bool, actions []target.Action) ([]byte, error) {
	if x.walk != nil && !back {
		if err := x.walkOn(actions[0].Verb != target.Go); err != nil {
			return nil, err
		}
		return x.stopReply(x.debuggee.LastStop()), nil
	}
	// The stop is made up: nothing has run, and the threads stay where they are. But a signal that the client gives a thread would
	// be lost, since the client takes it for delivered: then the program runs, for a moment.
	asked := x.asked && !x.debuggee.Running()
	if asked && !slices.ContainsFunc(actions, func(a target.Action) bool { return a.Signal != target.SignalNone }) {
		id := x.debuggee.LastStop().Thread // the selected thread may be gone
		if th, err := x.resolve(x.general.PID, x.general.TID); err == nil {
			id = th
		}
		if x.debuggee.Alive() {
			x.owed = true
			x.stopped(target.Event{Kind: target.Stopped, Thread: id, Signal: target.SignalInt})
			return nil, errLater
		}
	}
	if err := x.debuggee.ResumeIn(back, actions); err != nil {
		return nil, err
	}
	clear(x.documents)
	x.owed = true
	if asked {
		x.debuggee.Interrupt()
	}
	if x.detached {
		x.detached = false
		// The client has taken the program back from its run: events are its own again.
		x.takeCharge()
	}
	return nil, errLater
}

// orderOf is an action as targets have it. A thread number for "any" stands for all, as it does with gdbserver.
func orderOf(a request.Action) order {
	o := order{
		Action: target.Action{Signal: target.Signal(a.Signal), Start: a.Start, End: a.End, Anew: true},
		stop:   a.Verb == 't',
	}
	switch a.Verb {
	case 's', 'S':
		o.Verb = target.StepOne
	case 'r':
		o.Verb = target.StepRange
	}
	// An action without a thread is for all that no action before it names.
	o.Thread = target.ThreadID{PID: target.All, TID: target.All}
	if !a.All {
		o.Thread = target.ThreadID{PID: orAll(a.Thread.PID), TID: orAll(a.Thread.TID)}
	}
	return o
}

// resumeAt is c and C, step is s and S: the forms from before vCont, for one thread selected by Hc.
func (x *session) resumeAt(r request.Resumption) ([]byte, error) { return x.resumeOld(r, target.Go) }
func (x *session) step(r request.Resumption) ([]byte, error)     { return x.resumeOld(r, target.StepOne) }

func (x *session) resumeOld(r request.Resumption, verb target.Verb) ([]byte, error) {
	id, rest, err := x.oldChoice()
	if err != nil {
		return nil, err
	}
	// gdbserver 13.1 ignores the address; "jump" in GDB writes the pc instead of sending one.
	if r.Moves {
		if err := x.setPC(id, r.Addr); err != nil {
			return nil, err
		}
	}
	action := target.Action{Thread: id, Verb: verb, Signal: target.Signal(r.Signal), Anew: true}
	actions := append([]target.Action{action}, rest...)
	if !x.debuggee.NonStop() {
		return x.start(actions)
	}
	orders := make([]order, len(actions))
	for i, a := range actions {
		orders[i].Action = a
	}
	return replyOK, x.obey(orders)
}

// oldChoice is what Hc says: one thread; or all of a process, or everything, of which one thread gets the signal, the address
// and the step, and the rest goes on.
func (x *session) oldChoice() (target.ThreadID, []target.Action, error) {
	id, err := x.thread()
	switch {
	case err != nil || x.resuming == target.ThreadID{}:
		return id, runcontrol.EveryThread(), err
	case x.resuming.TID != target.All:
		return x.resuming, nil, nil
	case id.PID != x.resuming.PID:
		id, err := x.resolve(x.resuming.PID, rsp.AnyThread)
		return id, []target.Action{{Thread: x.resuming, Anew: true}}, err
	}
	return id, []target.Action{{Thread: x.resuming, Anew: true}}, nil
}

// errNoPC says that the description names no program counter.
var errNoPC = errors.New("the target description has no program counter")
