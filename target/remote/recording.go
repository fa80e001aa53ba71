package remote

import (
	"tracewell/rsp/client"
	"tracewell/rsp/request"
	"tracewell/target"
)

// Stubs that know the past: trace files, whose run is over for good, and recordings of execution, which run backwards, too.

// recorded are the beginnings of packets about the run of a recording.
var recorded = []string{"QT", "qT"}

// Recording reports whether the stub serves a trace run that is over for good. Packets about tracepoints are the stub's own then
// (Passage): nothing here could add to what it has.
func (t *Target) Recording() bool { return t.recording }

// isRecording finds out whether a run that has ended is one that cannot be changed. It asks for what holds for a new client anyway.
func (t *Target) isRecording() (bool, error) {
	err := client.Command(t.c, request.Disconnected, false)
	if client.IsLost(err) {
		return false, err
	}
	return err != nil && !client.IsUnsupported(err), nil
}

// Reverser implements target.Groups.
func (t *Target) Reverser() target.Reverser {
	if f := t.c.Features(); f.Has("ReverseContinue") && f.Has("ReverseStep") {
		return t
	}
	return nil
}

// ResumeBackwards implements target.Reverser. Tracepoints make no frames on the way: what is undone has made its frames before, or
// will when it is done again.
func (t *Target) ResumeBackwards(actions []target.Action) error { return t.resume(actions, true) }

// retreat lets the program go backwards until it stops once, and does what is due then. Nobody is led past a breakpoint: where one
// stands is left before it could be met.
func (t *Target) retreat() {
	id, step := t.steps()
	form := request.BackStep
	if !step {
		id, form = target.ThreadID{PID: target.All, TID: target.All}, request.BackContinue
	}
	stop, asked, err := t.run(func() error {
		if err := t.chooseRunning(id); err != nil {
			return err
		}
		return t.c.Send(form.Append(nil, request.None{}))
	})
	if who, ok := t.halted(stop, err); ok {
		t.judge(who, stop, asked)
	}
	clear(t.standing)
}
