package stub

import (
	"errors"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/target"
)

// verbs is vCont?.
func (x *session) verbs(string) ([]byte, error) { return []byte("vCont;c;C;t;s;S;r"), nil }

// order is one action of vCont: a resumption, or a stop of which only the thread counts.
type order struct {
	target.Action
	stop bool
}

// errMixedStop refuses a vCont that stops some threads and lets others go on, which means nothing when all stop together.
var errMixedStop = errors.New("t beside other verbs, expected it alone")

// resumeThreads is vCont. Of stops and resumptions together only non-stop mode can make sense.
func (x *session) resumeThreads(args string) ([]byte, error) {
	orders, err := parseOrders(args)
	if err != nil {
		return nil, err
	}
	if x.nonStop != nil {
		return replyOK, x.obey(orders)
	}
	var actions []target.Action
	for _, o := range orders {
		if !o.stop {
			actions = append(actions, o.Action)
		}
	}
	switch len(actions) {
	case len(orders):
		return x.start(actions)
	case 0:
		x.interrupt()
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
	if x.asked && !x.running {
		id := x.lastStop().Thread // the selected thread may be gone
		if th, err := x.resolve(x.general.PID, x.general.TID); err == nil {
			id = th
		}
		if x.alive() {
			x.owed = true
			x.stopped(target.Event{Kind: target.Stopped, Thread: id, Signal: target.SignalInt})
			return nil, errLater
		}
	}
	if !x.running {
		x.back = back
	}
	if err := x.resume(actions); err != nil {
		return nil, err
	}
	clear(x.documents)
	x.owed = true
	if x.detached {
		x.detached = false
		x.takeCharge()
	}
	return nil, errLater
}

// parseOrders reads VERB[:THREAD];....
func parseOrders(args string) (orders []order, err error) {
	in := rsp.NewScanner(args)
	for {
		o := parseVerb(in)
		o.Thread, o.Anew = actionThread(in), true
		if in.Err() != nil {
			return nil, in.Err()
		}
		orders = append(orders, o)
		if in.Done() {
			return orders, nil
		}
		in.Literal(';')
	}
}

// actionThread reads the optional :THREAD of an action.
func actionThread(in *rsp.Scanner) target.ThreadID {
	if !in.Accept(':') {
		return target.ThreadID{PID: target.All, TID: target.All}
	}
	pid, tid := in.ThreadID()
	return target.ThreadID{PID: orAll(pid), TID: orAll(tid)}
}

// parseVerb reads one verb with its operands.
func parseVerb(in *rsp.Scanner) (o order) {
	switch {
	case in.Accept('c'):
	case in.Accept('C'):
		o.Signal = parseSignal(in)
	case in.Accept('s'):
		o.Verb = target.StepOne
	case in.Accept('S'):
		o.Verb, o.Signal = target.StepOne, parseSignal(in)
	case in.Accept('r'):
		o.Verb, o.Start = target.StepRange, arch.Addr(in.HexField())
		in.Literal(',')
		o.End = arch.Addr(in.HexField())
	case in.Accept('t'):
		o.stop = true
	default:
		in.Fail("one of the verbs c, C, s, S, r and t")
	}
	return o
}

func parseSignal(in *rsp.Scanner) target.Signal {
	return target.Signal(in.HexUpTo(uint64(len(signalSet{}) - 1)))
}

// resumeAt is c, resumeWith is C, step is s and stepWith is S: the forms from before vCont, for one thread selected by Hc.
func (x *session) resumeAt(args string) ([]byte, error)   { return x.resumeOld(args, target.Go, false) }
func (x *session) resumeWith(args string) ([]byte, error) { return x.resumeOld(args, target.Go, true) }
func (x *session) step(args string) ([]byte, error)       { return x.resumeOld(args, target.StepOne, false) }
func (x *session) stepWith(args string) ([]byte, error) {
	return x.resumeOld(args, target.StepOne, true)
}

// resumeOld reads [SIGNAL[;]][ADDRESS].
func (x *session) resumeOld(args string, verb target.Verb, signalled bool) ([]byte, error) {
	in := rsp.NewScanner(args)
	action := target.Action{Verb: verb, Anew: true}
	if signalled {
		action.Signal = parseSignal(in)
		if !in.Done() {
			in.Literal(';')
		}
	}
	moves := !in.Done()
	var addr uint64
	if moves {
		addr = in.HexField()
	}
	if err := in.End(); err != nil {
		return nil, err
	}
	id, rest, err := x.oldChoice()
	if err != nil {
		return nil, err
	}
	if moves {
		if err := x.setPC(id, arch.Addr(addr)); err != nil {
			return nil, err
		}
	}
	action.Thread = id
	actions := append([]target.Action{action}, rest...)
	if x.nonStop == nil {
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
		return id, everyThread, err
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

// putAddr stores addr in a register or pointer of the size of b.
func putAddr(order arch.ByteOrder, b []byte, addr arch.Addr) {
	switch len(b) {
	case 8:
		order.PutUint64(b, uint64(addr))
	case 4:
		order.PutUint32(b, uint32(addr))
	case 2:
		order.PutUint16(b, uint16(addr))
	}
}
