package stub

import (
	"errors"

	"tracewell/rsp/request"
	"tracewell/target"
)

// Requests of a program behind a stub to its debugger (GDB manual, File-I/O). One comes in place of the stop that the client waits
// for. The client reads and writes memory for it, and its answer is a resumption.

// requestPackets answer such requests.
func requestPackets() []packet {
	return []packet{
		{call: raw(request.FileResult, "stop reply", (*session).answerRequest),
			about:  "answer a request of the program, such as `Fwrite,FD,ADDRESS,LENGTH`, which came in place of a stop reply",
			errors: "no request is under way", differs: "unknown: its programs make none"},
	}
}

// requested hands a request on to the client, if that waits for the program.
func (x *session) requested(ev target.Event) {
	if !x.owed || x.unsettled {
		x.decline()
		return
	}
	x.debuggee.SetRunning(false)
	x.owed, x.requesting = false, true
	x.send([]byte("F" + ev.Request))
}

// errNoRequest refuses an answer that nobody waits for.
var errNoRequest = errors.New("the program has requested nothing")

// answerRequest has the program go on. A Ctrl-C that found it standing still for the request stops it.
func (x *session) answerRequest(answer string) ([]byte, error) {
	if !x.requesting {
		return nil, errNoRequest
	}
	x.requesting = false
	if err := x.target.Passage().Answer(request.FileResult.Append(nil, answer)); err != nil {
		return nil, err
	}
	x.debuggee.SetRunning(true)
	x.owed = true
	if x.asked {
		x.debuggee.Interrupt()
	}
	return nil, errLater
}

// leaveRequest answers for a client that has gone.
func (x *session) leaveRequest() {
	if x.requesting && x.decline() == nil {
		x.debuggee.SetRunning(true)
	}
}

// decline has a request of the program fail.
func (s *Server) decline() error {
	return s.target.Passage().Answer(request.FileResult.Append(nil, request.DeclinedFile))
}
