package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"tracewell/internal/routine"
)

// patience is how long a session may take to end when its connection has been closed. Closing does not interrupt every read: of a
// pipe or a terminal it may not.
const patience = time.Second

// Session serves one client and closes the connection. A nil error means that the client has left.
type Session func(conn io.ReadWriteCloser) error

// Server serves the clients of a listener, one after another. All fields but Watch and More are needed.
type Server struct {
	Listener Listener
	Once     bool      // serve the first client only
	Messages io.Writer // for gdbserver's messages, and the reasons of connections that broke

	// Begin prepares the session of a client that has connected. Its error ends the server, as there is nothing to serve.
	Begin func() (Session, error)
	// Watch serves a client that connects while another one is served, beside that, on a goroutine of its own; without it such a
	// client is refused. Only sockets have a second client.
	Watch Session
	// Exit is the error of a session whose client has asked the server to exit. Other errors are the connection's, and end only that.
	Exit error
	// More reports, when a client has left, whether there is something to serve to another one; nil stands for a function that
	// always returns true.
	More func() bool
}

// Run serves until the context ends, More returns false, or, with Once, the first client has left; then it returns nil. It returns
// Exit if a client has asked for that, and the errors of Accept and Begin. The listener may be open or closed then.
func (s *Server) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { s.Listener.Close() })()
	if sockets, ok := s.Listener.(*sockets); ok {
		sockets.watchBy(s.Watch)
	}
	for {
		conn, err := s.Listener.Accept()
		if ctx.Err() != nil {
			if err == nil {
				conn.Close() // it came in with the signal
			}
			return nil
		}
		if err != nil {
			return err
		}
		if s.Once {
			s.Listener.Close() // others are turned away at once, rather than left to wait for nothing
		}
		session, err := s.Begin()
		if err != nil {
			conn.Close()
			return err
		}
		err = serve(ctx, conn, session)
		switch {
		case err != nil && errors.Is(err, s.Exit):
			return err
		case err != nil:
			fmt.Fprintf(s.Messages, "tracewell: connection: %v\n", err)
		}
		if ctx.Err() != nil || s.Once || s.More != nil && !s.More() {
			return nil
		}
		// The words of gdbserver 13.1, two blanks and all: its test-suite waits for them.
		fmt.Fprintln(s.Messages, "Remote side has terminated connection.  GDBserver will reopen the connection.")
	}
}

// serve runs a session and returns its error. When the context ends first, it closes the connection and returns nil.
func serve(ctx context.Context, conn io.ReadWriteCloser, session Session) error {
	served := make(chan error, 1)
	routine.Go(func() { served <- session(conn) })
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		conn.Close()
		select {
		case <-served:
		case <-time.After(patience):
		}
		return nil
	}
}
