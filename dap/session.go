package dap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	protocol "github.com/google/go-dap"

	"tracewell/internal/routine"
	"tracewell/internal/text"
	"tracewell/record"
	"tracewell/record/local"
)

// Config is what a session takes from outside.
type Config struct {
	// Record launches a program or attaches to processes and prepares a run; nil where processes of this machine cannot be traced.
	Record func(local.Config) (*record.Session, error)
	// Terminate asks a process to end, one that was attached to.
	Terminate func(pid int) error
	// Done ends the session when it is closed; nil for nothing that does.
	Done <-chan struct{}
}

// session is one client. Its fields are those of the goroutine that serves requests, but for what mu guards.
type session struct {
	Config
	*conn
	client initializeArguments
	phase  phase
	begun  bool // configurationDone was asked
	over   bool // disconnect was asked
	// terminates says what becomes of a program that runs when the session ends.
	terminates bool
	debuggee   debuggee
	arguments  *launchArguments
	sources    *sources

	breakpoints breakpointSet
	handles     handles
	lastStop    stop
	later       []func() // done after the response
	motion      func(context.Context)
	limiter     limiter // of the lines of log points

	inside chan func()   // what other goroutines want done
	closed chan struct{} // nobody does it any more

	mu        sync.Mutex
	current   int                // the request that is being served
	cancel    context.CancelFunc // ends that, or the motion that it began
	moving    bool               // a motion is under way
	cancelled map[int]bool       // requests that wait, and are not to be served
}

// Errors that several requests have.
var (
	errCancelled   = errors.New("cancelled")
	errUnsupported = errors.New("this debuggee cannot do that")
)

// Serve serves a client until it disconnects, or its connection ends. A program that was launched ends with the session, one that
// was attached to goes on, unless the client wants it otherwise. The error says why the connection is of no use; nil is the regular
// end.
func Serve(c Config, rw io.ReadWriter) error {
	s := &session{Config: c, conn: newConn(rw), cancelled: make(map[int]bool),
		inside: make(chan func()), closed: make(chan struct{})}
	defer close(s.closed)
	s.handles.reset()
	s.limiter.report = s.leftOut
	const waiting = 256 // requests; clients seldom have more than ten under way
	queue := make(chan request, waiting)
	failed := make(chan error, 1)
	routine.Go(func() { failed <- s.receive(queue) })
	err := s.loop(queue, failed)
	if s.debuggee != nil {
		err = errors.Join(err, s.debuggee.close(s.terminates))
	}
	return err
}

// loop serves what comes until the end.
func (s *session) loop(queue <-chan request, failed <-chan error) error {
	for !s.over {
		select {
		case r, ok := <-queue:
			if !ok {
				return <-failed
			}
			s.serve(r)
		case f := <-s.inside:
			f()
		case <-s.Done:
			return nil
		}
	}
	return nil
}

// from has the goroutine that serves requests do something. It is for other goroutines.
func (s *session) from(f func()) {
	select {
	case s.inside <- f:
	case <-s.closed:
	}
}

// receive reads requests until the connection ends, and serves those that are about others.
func (s *session) receive(queue chan<- request) error {
	defer close(queue)
	defer s.interrupt(0)
	for {
		r, err := s.read()
		switch {
		case errors.Is(err, errGarbled):
			s.tell("output", protocol.OutputEventBody{Category: "stderr", Output: "tracewell: " + err.Error() + "\n"})
			continue
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		case r.Type != "request":
			continue // a response: this side has asked nothing
		}
		switch r.Command {
		case "cancel":
			s.cancelRequest(r)
			continue
		case "pause":
			if s.interruptMotion() {
				s.respond(r, nil, nil)
				continue
			}
		case "disconnect", "terminate", "restart":
			s.interrupt(0)
		}
		queue <- r
	}
}

// serve answers a request, and does what follows from it.
func (s *session) serve(r request) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if !s.begin(r.Seq, cancel) {
		s.respond(r, nil, errCancelled)
		return
	}
	body, err := s.handle(ctx, r)
	if ctx.Err() != nil && err != nil {
		err = errCancelled
	}
	s.respond(r, body, err)
	later, motion := s.later, s.motion
	s.later, s.motion = nil, nil
	for _, f := range later {
		f()
	}
	if motion != nil {
		s.setMoving(true)
		motion(ctx)
	}
	s.setMoving(false)
}

// handle finds the handler of a request and calls it.
func (s *session) handle(ctx context.Context, r request) (any, error) {
	found, ok := find(r.Command)
	switch {
	case !ok:
		return nil, fmt.Errorf("there is no request %q here", text.Visible(r.Command))
	case found.phase > s.phase && s.phase == greeted:
		return nil, errors.New("initialize has to be the first request")
	case found.phase > s.phase:
		return nil, errors.New("nothing was launched or attached to yet")
	}
	s.handles.ctx = ctx
	return found.handle(s, r.Arguments)
}

// begin takes note of the request that is served, and reports whether it still is to be.
func (s *session) begin(seq int, cancel context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.cancel, s.moving = seq, cancel, false
	skip := s.cancelled[seq]
	delete(s.cancelled, seq)
	return !skip
}

func (s *session) setMoving(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moving = on
	if !on {
		s.cancel, s.current = nil, 0
	}
}

// interrupt ends what is being served if it is this request, or whatever it is for 0.
func (s *session) interrupt(seq int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel == nil || seq != 0 && s.current != seq {
		return false
	}
	s.cancel()
	return true
}

// interruptMotion ends a motion, and reports whether there was one.
func (s *session) interruptMotion() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.moving {
		return false
	}
	s.cancel()
	return true
}

// mostCancelled bounds how many requests are remembered that a client has cancelled before, or after, they were served.
const mostCancelled = 1024

// cancelRequest is the request cancel, which the reader serves: the request that it is about may be under way.
func (s *session) cancelRequest(r request) {
	var a protocol.CancelArguments
	err := unmarshal(r.Arguments, &a)
	if err == nil && a.RequestId != 0 && !s.interrupt(a.RequestId) {
		s.mu.Lock()
		if len(s.cancelled) == mostCancelled {
			clear(s.cancelled)
		}
		s.cancelled[a.RequestId] = true
		s.mu.Unlock()
	}
	s.respond(r, nil, err)
}

// cancelNothing stands in the table for cancel, which never gets there.
func cancelNothing(*session, *protocol.CancelArguments) (any, error) { return nil, nil }

// say prints a message of the adapter's in the console of the client.
func (s *session) say(category, format string, args ...any) {
	s.tell("output", protocol.OutputEventBody{Category: category, Output: text.VisibleLines(fmt.Sprintf(format, args...)) + "\n"})
}
