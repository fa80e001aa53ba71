package stub

import (
	"tracewell/rsp"
	"tracewell/trace"
)

// traceInit is QTinit.
func (x *session) traceInit(string) ([]byte, error) {
	x.frame = nil
	return replyOK, x.engine.Init()
}

// traceStart is QTStart. The frames of the run before go, so none stays selected. Tracepoints that are disabled may be enabled
// during the run, and so their instructions are copied, too.
func (x *session) traceStart(string) ([]byte, error) {
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
func (x *session) traceStop(string) ([]byte, error) {
	return replyOK, x.engine.Stop(trace.ReasonStop, "")
}

// traceStatus is qTStatus.
func (x *session) traceStatus(string) ([]byte, error) {
	return append([]byte{'T'}, x.recorded.Status().Reply()...), nil
}

// disconnectedTracing is QTDisconnected.
func (x *session) disconnectedTracing(args string) ([]byte, error) {
	on, err := parseFlag(args)
	if err != nil {
		return nil, err
	}
	x.engine.SetDisconnected(on)
	return replyOK, nil
}

// traceNotes is QTNotes. Either all of the notes in the packet are kept or none.
func (x *session) traceNotes(args string) ([]byte, error) {
	notes, err := parseNotes(args)
	if err != nil {
		return nil, err
	}
	for key, keep := range map[string]func(string){
		"user": x.engine.SetUser, "notes": x.engine.SetNotes, "tstop": x.engine.SetStopNote,
	} {
		if text, ok := notes[key]; ok {
			keep(text)
		}
	}
	return replyOK, nil
}

// parseNotes reads [user:HEXTEXT;][notes:HEXTEXT;][tstop:HEXTEXT;]. The last semicolon may be missing.
func parseNotes(args string) (map[string]string, error) {
	notes := make(map[string]string)
	in := rsp.NewScanner(args)
	for !in.Done() {
		key := noteKey(in)
		in.Literal(':')
		notes[key] = string(in.HexBytes())
		if !in.Done() {
			in.Literal(';')
		}
	}
	return notes, in.Err()
}

func noteKey(in *rsp.Scanner) string {
	for _, key := range []string{"user", "notes", "tstop"} {
		if in.AcceptText(key) {
			return key
		}
	}
	in.Fail("user, notes or tstop")
	return ""
}
