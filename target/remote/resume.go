package remote

import (
	"slices"

	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
)

// How stubs are told what is to run, by vCont or by the packets that are older.

// send sends a resumption of the client's.
func (t *Target) send(actions []target.Action) error {
	same := t.isSame(actions)
	if same && t.resumes != nil {
		return t.c.Send(t.resumes)
	}
	if !t.verbs || t.plain {
		id, step := t.steps()
		if !step {
			id = target.ThreadID{PID: target.All, TID: target.All}
		}
		a := actions[0]
		if one := actionFor(actions, t.current); one != nil {
			a = *one
		}
		return t.sendOld(id, step, a.Signal)
	}
	var list []request.Action
	for _, a := range actions {
		r := request.Action{Verb: 'c', Signal: int(a.Signal)}
		if a.Verb != target.Go {
			r.Verb = 's'
		}
		if a.Signal != 0 {
			r.Verb -= 'a' - 'A'
		}
		if r.All = a.Thread.TID == target.All && (a.Thread.PID == target.All || !t.tagged) || a.Thread == (target.ThreadID{}); !r.All {
			r.Thread = t.wire(a.Thread)
		}
		list = append(list, r)
	}
	packet := request.Resume.Append(nil, list)
	if same {
		t.resumes = packet
	}
	return t.c.Send(packet)
}

// isSame reports whether actions are the client's resumption without a signal, which is the same packet each time.
func (t *Target) isSame(actions []target.Action) bool {
	if len(actions) == 0 || len(t.going) == 0 || &actions[0] != &t.going[0] {
		return false
	}
	return !slices.ContainsFunc(actions, func(a target.Action) bool { return a.Signal != target.SignalNone })
}

// chooseRunning selects the thread that is to run, for packets that name none.
func (t *Target) chooseRunning(id target.ThreadID) error {
	if t.plain {
		return nil
	}
	chosen := request.SelectThread.Text(request.Selection{For: 'c', Thread: t.wire(id)})
	if chosen != t.chosen {
		if _, err := t.c.Exchange([]byte(chosen)); err != nil { // Valgrind refuses it, and does what is wanted
			return err
		}
		t.chosen = chosen
	}
	return nil
}

// sendOld sends a resumption to a stub without vCont, or without threads.
func (t *Target) sendOld(id target.ThreadID, step bool, signal target.Signal) error {
	if err := t.chooseRunning(id); err != nil {
		return err
	}
	switch r := (request.Resumption{Signal: int(signal)}); {
	case step && signal != 0:
		return t.c.Send(request.StepWith.Append(nil, r))
	case step:
		return t.c.Send(plainStep)
	case signal != 0:
		return t.c.Send(request.ContinueWith.Append(nil, r))
	default:
		return t.c.Send(plainContinue)
	}
}

// The packets of most resumptions of stubs without vCont.
var (
	plainStep     = request.Step.Append(nil, request.Resumption{})
	plainContinue = request.Continue.Append(nil, request.Resumption{})
)

// stepOne steps a thread and nothing else.
func (t *Target) stepOne(id target.ThreadID, signal target.Signal) (reply.Stop, bool, error) {
	return t.run(func() error {
		if !t.verbs || t.plain {
			return t.sendOld(id, true, signal)
		}
		if signal == 0 && t.step.id == id {
			return t.c.Send(t.step.text)
		}
		a := request.Action{Verb: 's', Thread: t.wire(id)}
		if signal != 0 {
			a.Verb, a.Signal = 'S', int(signal)
		}
		packet := request.Resume.Append(nil, []request.Action{a})
		if signal == 0 {
			t.step = stepPacket{id, packet}
		}
		return t.c.Send(packet)
	})
}
