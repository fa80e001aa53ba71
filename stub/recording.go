package stub

import (
	"errors"

	"tracewell/target"
	"tracewell/tfile"
	"tracewell/tracepoint"
)

// liveRun is an engine's run as clients look at it. What cannot fail there can where frames come from a file.
type liveRun struct{ *tracepoint.Engine }

// Frame implements target.TraceRun.
func (r liveRun) Frame(n int) (target.Traceframe, bool, error) {
	f, ok := r.Engine.Frame(n)
	return f, ok, nil
}

// Find implements target.TraceRun.
func (r liveRun) Find(q tfile.Query, from int) (int, bool, error) {
	n, ok := r.Engine.Find(q, from)
	return n, ok, nil
}

// errRecorded refuses to change what has happened.
var errRecorded = errors.New("this trace run is a recording: it can be looked at and saved, but not changed or begun anew")
