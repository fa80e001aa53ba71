package stub

import (
	"slices"

	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/runcontrol"
	"tracewell/target"
)

// kill is k, which ends all processes and has no reply. LLDB waits for one.
func (x *session) kill(request.None) ([]byte, error) {
	pids := x.debuggee.Processes()
	x.owed = false
	// There is no reply that could tell an error.
	_ = x.debuggee.KillAll(pids)
	for _, pid := range pids {
		x.drop(pid)
	}
	if x.errorStrings {
		return reply.Stopped.Append(nil, reply.Stop{Kind: 'X', Number: int(target.SignalKill)}), nil
	}
	return nil, errLater
}

// killProcess is vKill.
func (x *session) killProcess(pid int) error {
	return x.finish(pid, func() error { return x.debuggee.End(pid, x.target.Runner().Kill) })
}

// detach is D. What survives its client keeps its process, which then goes on under the server's watch: a trace run, and
// commands of breakpoints that are to go on; GDB leaves only such breakpoints in (disconnected-dprintf). The rest stays the
// client's.
func (x *session) detach(p request.MaybeProcess) error {
	pid, err := x.chosenProcess(p)
	if err != nil {
		return err
	}
	// After "set disconnected-tracing on" GDB's detach leaves the run going, and so the process under trace.
	if x.debuggee.TracesOn() && pid == x.debuggee.Traced() && x.debuggee.Heir(pid) == 0 {
		return x.entrust()
	}
	if !x.debuggee.TracesOn() && x.debuggee.LeftBehind(pid) {
		if err := x.debuggee.StopTrace(); err != nil {
			return err
		}
		return x.entrust()
	}
	// Looked up before the parent is gone, since that drops its events.
	children := x.unheard(pid)
	if err := x.finish(pid, func() error { return x.debuggee.LetGo(pid) }); err != nil {
		return err
	}
	for _, child := range children {
		if err := x.finish(child, func() error { return x.debuggee.LetGo(child) }); err != nil {
			return err
		}
	}
	return nil
}

// entrust leaves the program to the run that keeps it. As with gdbserver, everything goes on.
func (x *session) entrust() error {
	// From here on events are the server's own business, see passes.
	x.owed, x.detached = false, true
	err := x.debuggee.Entrust()
	if !x.debuggee.NonStop() {
		x.notices = notices{}
	}
	return err
}

// finish ends what the server has to do with a process. No stop reply is due any more; should the trace run keep another
// process that the client has left, that goes on.
func (x *session) finish(pid int, do func() error) error {
	x.owed = false
	if err := do(); err != nil {
		return err
	}
	x.drop(pid)
	// Detaching stopped everything for a moment, also what the client had left to its run.
	if x.detached && x.debuggee.Survives() && !x.debuggee.Running() && x.debuggee.Alive() {
		return x.debuggee.Resume(runcontrol.EveryThread())
	}
	return nil
}

// drop forgets what the session knows of a process that is gone.
func (x *session) drop(pid int) {
	// A later packet without a selection of its own is then about any live thread, as it is after a connection.
	if x.general.PID == pid {
		x.general = target.ThreadID{}
	}
	if x.resuming.PID == pid {
		x.resuming = target.ThreadID{}
	}
	x.notices.drop(pid)
	x.debuggee.Drop(pid)
}

// unheard lists the children of a process whose fork the client has not been told of, so that it cannot let them go itself.
func (x *session) unheard(pid int) []int {
	var children []int
	if !x.debuggee.NonStop() {
		return nil
	}
	for i, ev := range x.notices.untold() {
		forked := ev.Kind == target.Forked || ev.Kind == target.Vforked
		// The first of the queue has been sent.
		if i > 0 && forked && ev.Thread.PID == pid && !slices.Contains(children, ev.Child.PID) {
			children = append(children, ev.Child.PID)
		}
	}
	return children
}
