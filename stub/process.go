package stub

import (
	"tracewell/rsp"
	"tracewell/target"
)

// kill is k, which has no reply.
func (x *session) kill(string) ([]byte, error) {
	if pid, ok := x.process(); ok {
		_ = x.finish(pid, x.target.Runner().Kill)
	}
	return nil, errLater
}

// killProcess is vKill.
func (x *session) killProcess(args string) ([]byte, error) {
	in := rsp.NewScanner(args)
	pid := int(in.HexUpTo(maxPID))
	if err := in.End(); err != nil {
		return nil, err
	}
	return replyOK, x.finish(pid, x.target.Runner().Kill)
}

// detach is D. A trace run that survives its client keeps the program, which then goes on under the server's watch, and so do
// commands of breakpoints that are to go on; GDB leaves only such breakpoints in (disconnected-dprintf).
func (x *session) detach(args string) ([]byte, error) {
	pid, known := x.process()
	in := rsp.NewScanner(args)
	if in.Accept(';') {
		pid, known = int(in.HexUpTo(maxPID)), true
	}
	if err := in.End(); err != nil {
		return nil, err
	}
	if !known {
		return nil, target.ErrNoProcess
	}
	if !x.tracesOn() {
		if err := x.stopTracing(); err != nil {
			return nil, err
		}
	}
	if x.tracesOn() || x.leftBehind(pid) {
		if !x.running {
			if err := x.resume(everyThread); err != nil {
				return nil, err
			}
		}
		x.owed, x.detached = false, true
		x.letPass(everySignal())
		return replyOK, nil
	}
	return replyOK, x.finish(pid, x.target.Runner().Detach)
}

// finish ends the program as Server.end does. No stop reply is due any more.
func (x *session) finish(pid int, do func(pid int) error) error {
	x.owed = false
	if err := x.end(pid, do); err != nil {
		return err
	}
	x.detached = true
	x.general, x.resuming = target.ThreadID{}, target.ThreadID{}
	return nil
}
