package serve

import (
	"context"
	"errors"
	"fmt"
	"io"

	"tracewell/internal/serving"
	"tracewell/stub"
	"tracewell/target/linux"
	"tracewell/tracepoint"
)

// service is what one run of serve offers to its clients.
type service struct {
	*narrator
	program *linux.Target
	engine  *tracepoint.Engine
	config  stub.Config
	server  *stub.Server
	ended   bool // server shows what the program left
}

// serve serves the clients that come in, one after another, until there is nothing left to serve. With once there is but
// one.
func (s *service) serve(ctx context.Context, entrance serving.Listener, once bool) error {
	defer context.AfterFunc(ctx, func() { entrance.Close() })()
	for {
		conn, err := entrance.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if once {
			entrance.Close()
		}
		s.goOn() // the program may have ended while nobody was connected
		err = s.one(ctx, conn)
		s.tidy()
		if err != nil || ctx.Err() != nil {
			return err
		}
		if once || !s.goOn() {
			if s.server.Spent() { // in extended mode gdbserver does not wait
				s.outlive(ctx.Done())
			}
			return nil
		}
		fmt.Fprintln(s.messages, "Remote side has terminated connection.  GDBserver will reopen the connection.")
	}
}

// goOn reports whether there is something to serve: a program, or one to come, or after the end of the program the frames
// of its trace run, which are then shown over what is known of it.
func (s *service) goOn() bool {
	if !s.server.Spent() {
		return true
	}
	frames := s.engine.Status().Frames
	left := s.program.Ended()
	if s.ended || frames == 0 || left == nil {
		return false
	}
	s.server.Close()
	s.server, s.ended = stub.New(stub.Config{Target: left, Engine: s.engine, Debug: s.config.Debug, Save: s.config.Save}), true
	fmt.Fprintf(s.messages, "The program has ended. Its %d trace frames are kept: connect again to look at them.\n", frames)
	return true
}

// one serves one client. A connection that breaks is a message, not an end.
func (s *service) one(ctx context.Context, conn io.ReadWriteCloser) error {
	err := serving.Serve(ctx, conn, s.server.Serve)
	if err != nil && !errors.Is(err, stub.ErrExit) {
		fmt.Fprintf(s.messages, "tracewell: connection: %v\n", err)
		return nil
	}
	return err
}
