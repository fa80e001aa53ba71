package remote

import (
	"errors"
	"strings"
	"time"

	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
)

// A program behind a stub may have its debugger read and write files (GDB manual, File-I/O): semihosting. The stub then sends a
// request in place of the stop that is due, and the program stands still until the answer. A client of the proxy gets the request
// as an event, reads and writes memory, and answers (Passage.Answer). Without a client the request fails: there are no files.

// fileRequest is a request that a client is to answer.
type fileRequest struct {
	pending bool
	answer  []byte // nil until there is one
}

// errReleased says that a program was let go, or killed, while it waited for an answer.
var errReleased = errors.New("the program was let go")

// run sends a resumption and waits for the stop, see await. Requests of the program are answered meanwhile.
func (t *Target) run(send func() error) (stop reply.Stop, asked bool, err error) {
	for {
		stop, asked, err = t.await(send)
		if err != nil || stop.Kind != client.Requesting {
			return stop, asked, err
		}
		t.stray = t.stray || asked // the stub may still stop for the interrupt, or have dropped it
		answer := declined
		if t.attended {
			if answer, err = t.answer(stop.Detail); err != nil {
				return stop, asked, err
			}
		}
		send = func() error { return t.c.Send(answer) }
	}
}

// declined is the answer that there is no such call.
var declined = request.FileResult.Append(nil, request.DeclinedFile)

// answer has the client answer a request. Its calls are carried out until it has, as those of a program that is stopped.
func (t *Target) answer(text string) ([]byte, error) {
	t.request = fileRequest{pending: true}
	defer func() { t.request = fileRequest{} }()
	t.selected = target.ThreadID{} // whose request it is the stub does not say
	t.forget()
	t.events <- target.Event{Kind: target.Requesting, Thread: t.current, Request: text}
	for t.serve(); t.request.answer == nil; t.serve() {
		if t.going == nil || t.isClosing() {
			return nil, errReleased
		}
		<-t.wake
	}
	t.selected = target.ThreadID{}
	t.forget()
	if isInterrupted(t.request.answer) { // the stop with SIGINT that follows is the client's
		t.stray = false
	}
	return t.request.answer, nil
}

// isInterrupted reports whether an answer says that the user has interrupted the call: RESULT,ERRNO,C.
func isInterrupted(answer []byte) bool {
	head, _, _ := strings.Cut(string(answer), ";")
	return strings.HasSuffix(head, ",C")
}

// Answer implements target.Passage.
func (t *Target) Answer(packet []byte) error {
	return t.do(func() error {
		if !t.request.pending || t.request.answer != nil {
			return target.ErrUnsupported
		}
		t.request.answer = packet
		return nil
	})
}

// conclude ends a request that nobody will answer, so that the program is stopped by something else than the request.
func (t *Target) conclude() error {
	for t.request.pending {
		if err := t.c.Send(request.FileResult.Append(nil, request.DeclinedFile+",C")); err != nil {
			return t.check(err)
		}
		stop, err := t.c.AwaitStop(time.Now().Add(t.c.Patience))
		if err != nil {
			return t.check(err)
		}
		t.request.pending = stop.Kind == client.Requesting
	}
	return nil
}
