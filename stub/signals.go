package stub

import (
	"tracewell/rsp/request"
	"tracewell/runcontrol"
	"tracewell/target"
)

// signalSet is a set of signals by GDB's numbers, of which there are fewer than 160.
type signalSet [request.MaxSignal + 1]bool

// has reports whether sig is in the set; numbers out of range are in none.
func (set signalSet) has(sig target.Signal) bool {
	return sig >= 0 && int(sig) < len(set) && set[sig]
}

// letPass tells the target which signals need no event, if it can make use of that.
func (s *Server) letPass(set signalSet) {
	signals := s.target.Signals()
	if signals == nil {
		return
	}
	signals.PassSignals(set.list())
}

// list lists the signals of the set. It is never nil.
func (set signalSet) list() []target.Signal {
	list := []target.Signal{}
	for sig, in := range set {
		if in {
			list = append(list, target.Signal(sig))
		}
	}
	return list
}

// passes reports whether the program goes on after ev without the client hearing of it. Signals that pass come here only
// from a target that does not see to them itself. Two of them never do: a finished step, and the stop that an interrupt
// brings, look the same.
func (x *session) passes(ev target.Event) bool {
	switch {
	case x.detached:
		return runcontrol.PassesUnattended(ev)
	// A target that has the ability passes signals itself, without a stop.
	case x.target.Signals() != nil || ev.Kind != target.Stopped || ev.Reason != target.ReasonNone:
		return false
	}
	return x.pass.has(ev.Signal) && ev.Signal != target.SignalTrap && ev.Signal != target.SignalInt
}

// passSignals is QPassSignals: these go to the program without a stop.
func (x *session) passSignals(list []int) error {
	x.pass = setOf(list)
	x.takeCharge()
	return nil
}

// programSignals is QProgramSignals: these the program may take with it when it is let go.
func (x *session) programSignals(list []int) error {
	x.target.Signals().ProgramSignals(setOf(list).list())
	return nil
}

// setOf is the set of the signals that a packet lists.
func setOf(list []int) (set signalSet) {
	for _, sig := range list {
		set[sig] = true
	}
	return set
}
