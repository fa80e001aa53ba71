package stub

import (
	"errors"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/target"
)

// verbs is vCont?.
func (x *session) verbs(string) ([]byte, error) { return []byte("vCont;c;C;s;S;r;t"), nil }

// errMixedStop refuses a vCont that stops some threads and lets others go on, which means nothing when all stop together.
var errMixedStop = errors.New("t beside other verbs, expected it alone")

// resumeThreads is vCont.
func (x *session) resumeThreads(args string) ([]byte, error) {
	actions, stops, err := x.parseActions(args)
	switch {
	case err != nil:
		return nil, err
	case stops > 0 && len(actions) > 0:
		return nil, errMixedStop
	case stops > 0:
		x.interrupt()
		return replyOK, nil
	}
	return x.start(actions)
}

// start resumes and leaves the reply to the event. A Ctrl-C that came when the program had just stopped, but before the client
// knew, counts for what it does next: GDB may step the program many times a second, with hardly a moment in which it runs.
func (x *session) start(actions []target.Action) ([]byte, error) {
	if x.asked && !x.running {
		if id, err := x.thread(); err == nil {
			x.owed = true
			x.stopped(target.Event{Kind: target.Stopped, Thread: id, Signal: target.SignalInt})
			return nil, errLater
		}
	}
	if err := x.resume(actions); err != nil {
		return nil, err
	}
	clear(x.documents)
	x.owed, x.detached = true, false
	return nil, errLater
}

// parseActions reads VERB[:THREAD];... and counts the stops among them apart from the resumptions.
func (x *session) parseActions(args string) (actions []target.Action, stops int, err error) {
	in := rsp.NewScanner(args)
	for {
		a, stop := parseVerb(in)
		a.Thread = x.actionThread(in)
		if in.Err() != nil {
			return nil, 0, in.Err()
		}
		if stop {
			stops++
		} else {
			actions = append(actions, a)
		}
		if in.Done() {
			return actions, stops, nil
		}
		in.Literal(';')
	}
}

// actionThread reads the optional :THREAD of an action.
func (x *session) actionThread(in *rsp.Scanner) target.ThreadID {
	if !in.Accept(':') {
		return target.ThreadID{PID: target.All, TID: target.All}
	}
	pid, tid := in.ThreadID()
	return target.ThreadID{PID: orAll(pid), TID: orAll(tid)}
}

// parseVerb reads one verb with its operands.
func parseVerb(in *rsp.Scanner) (a target.Action, stop bool) {
	switch {
	case in.Accept('c'):
	case in.Accept('C'):
		a.Signal = parseSignal(in)
	case in.Accept('s'):
		a.Verb = target.StepOne
	case in.Accept('S'):
		a.Verb, a.Signal = target.StepOne, parseSignal(in)
	case in.Accept('r'):
		a.Verb, a.Start = target.StepRange, arch.Addr(in.HexField())
		in.Literal(',')
		a.End = arch.Addr(in.HexField())
	case in.Accept('t'):
		return a, true
	default:
		in.Fail("one of the verbs c, C, s, S, r and t")
	}
	return a, false
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

// resumeOld reads [SIGNAL[;]][ADDRESS]. Unless Hc chose a thread, the signal, the address and the step are the general
// thread's, and all others go on.
func (x *session) resumeOld(args string, verb target.Verb, signalled bool) ([]byte, error) {
	in := rsp.NewScanner(args)
	action := target.Action{Verb: verb}
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
	id, err := x.thread()
	if err != nil {
		return nil, err
	}
	only := x.resuming != target.ThreadID{}
	if only {
		id = x.resuming
	}
	if moves {
		if err := x.setPC(id, arch.Addr(addr)); err != nil {
			return nil, err
		}
	}
	action.Thread = id
	if only {
		return x.start([]target.Action{action})
	}
	return x.start(append([]target.Action{action}, everyThread...))
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
