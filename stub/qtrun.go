package stub

import (
	"tracewell/rsp/request"
	"tracewell/trace"
)

// traceInit is QTinit.
func (x *session) traceInit(request.None) error {
	x.frame = nil
	// The frames are gone, so none stays selected.
	return x.engine.Init()
}

// traceStart is QTStart. The frames of the run before go, so none stays selected. Tracepoints that are disabled may be enabled
// during the run, and so their instructions are copied, too.
func (x *session) traceStart(request.None) error {
	id, err := x.thread()
	if err != nil {
		return err
	}
	return x.relocate(id.PID, addresses(x.engine.Tracepoints()), func() error {
		if err := x.debuggee.StartTrace(id.PID); err != nil {
			return err
		}
		x.frame = nil
		if p := x.target.Passage(); p != nil { // GDB prints text that comes before the reply
			x.console(p.Advice())
		}
		return nil
	})
}

// traceStop is QTStop. GDB sends the note that goes with it afterwards.
func (x *session) traceStop(request.None) error {
	return x.engine.Stop(trace.ReasonStop, "")
}

// traceStatus is qTStatus.
func (x *session) traceStatus(request.None) (trace.Status, error) {
	return x.recorded.Status(), nil
}

// disconnectedTracing is QTDisconnected.
func (x *session) disconnectedTracing(on bool) error {
	x.engine.SetDisconnected(on)
	return nil
}

// traceNotes is QTNotes. Either all of the notes in the packet are kept or none. Of two with the same key the last counts.
func (x *session) traceNotes(notes []request.Note) error {
	// The grammar has seen to it that there is no other key.
	keep := map[string]func(string){"user": x.engine.SetUser, "notes": x.engine.SetNotes, "tstop": x.engine.SetStopNote}
	for _, n := range notes {
		keep[n.Key](n.Text)
	}
	return nil
}
