package stub

import (
	"tracewell/rsp"
	"tracewell/target"
)

// signalSet is a set of signals by GDB's numbers, of which there are fewer than 160.
type signalSet [256]bool

// has reports whether sig is in the set; numbers out of range are in none.
func (set signalSet) has(sig target.Signal) bool {
	return sig >= 0 && int(sig) < len(set) && set[sig]
}

// passes reports whether the program goes on after ev without the client hearing of it.
func (x *session) passes(ev target.Event) bool {
	if x.detached {
		return passesUnattended(ev)
	}
	return ev.Reason == target.ReasonNone && x.pass.has(ev.Signal)
}

// nothingPasses is for the stop that a client, or the server itself, asked for.
func nothingPasses(target.Event) bool { return false }

// passesUnattended lets a program without a client have its signals. Only what a debugger does to it stops it: a
// breakpoint that the client left in, a step that was under way, an interrupt.
func passesUnattended(ev target.Event) bool {
	switch ev.Reason {
	case target.ReasonLibrary:
		return true
	case target.ReasonNone:
		return ev.Signal != target.SignalTrap && ev.Signal != target.SignalInt
	}
	return false
}

// passSignals is QPassSignals: these go to the program without a stop. They do stop it for a moment all the same.
func (x *session) passSignals(args string) ([]byte, error) {
	var set signalSet
	in := rsp.NewScanner(args)
	for !in.Done() {
		if sig := in.HexUpTo(uint64(len(set) - 1)); in.Err() == nil {
			set[sig] = true
		}
		if !in.Done() {
			in.Literal(';')
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	x.pass = set
	return replyOK, nil
}
