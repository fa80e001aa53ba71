package stub

import (
	"errors"

	"tracewell/rsp/request"
)

// errLeftAlone refuses to catch what would be reported to nobody, and would stop the program each time.
var errLeftAlone = errors.New("the program was left to its trace run: interrupt it first")

// threadEvents is QThreadEvents.
func (x *session) threadEvents(on bool) error {
	// These events are off as a connection begins, and stay on until the client says otherwise.
	x.births = on
	x.takeCharge()
	return nil
}

// stopAsked is vCtrlC, the form of Ctrl-C that non-stop mode has.
func (x *session) stopAsked(request.None) error {
	x.controlC()
	return nil
}

// catchSyscalls is QCatchSyscalls, for the process of the selected thread.
func (x *session) catchSyscalls(s request.Syscalls) error {
	id, err := x.thread()
	if err != nil {
		return err
	}
	// Catching takes effect at once, and the stop of a thread would have no client that waits for it.
	if x.leftAlone() {
		return errLeftAlone
	}
	return x.target.Syscalls().CatchSyscalls(id.PID, s.On, s.Numbers)
}
