package stub

import (
	"tracewell/rsp/request"
	"tracewell/trace"
)

// traceInit is QTinit.
func (x *session) traceInit(request.None) ([]byte, error) {
	x.frame = nil
	return replyOK, x.engine.Init()
}

// traceStart is QTStart. The frames of the run before go, so none stays selected. Tracepoints that are disabled may be enabled
// during the run, and so their instructions are copied, too.
func (x *session) traceStart(request.None) ([]byte, error) {
	id, err := x.thread()
	if err != nil {
		return nil, err
	}
	return x.relocate(id.PID, addresses(x.engine.Tracepoints()), func() ([]byte, error) {
		if err := x.engine.Start(x.target.Tracer(), id.PID); err != nil {
			return nil, err
		}
		x.frame, x.traced, x.fork = nil, id.PID, nil
		return replyOK, nil
	})
}

// traceStop is QTStop. GDB sends the note that goes with it afterwards.
func (x *session) traceStop(request.None) ([]byte, error) {
	return replyOK, x.engine.Stop(trace.ReasonStop, "")
}

// traceStatus is qTStatus.
func (x *session) traceStatus(request.None) ([]byte, error) {
	return append([]byte{'T'}, x.recorded.Status().Reply()...), nil
}

// disconnectedTracing is QTDisconnected.
func (x *session) disconnectedTracing(on bool) ([]byte, error) {
	x.engine.SetDisconnected(on)
	return replyOK, nil
}

// traceNotes is QTNotes. Either all of the notes in the packet are kept or none. Of two with the same key the last counts.
func (x *session) traceNotes(notes []request.Note) ([]byte, error) {
	keep := map[string]func(string){"user": x.engine.SetUser, "notes": x.engine.SetNotes, "tstop": x.engine.SetStopNote}
	for _, n := range notes {
		keep[n.Key](n.Text)
	}
	return replyOK, nil
}
