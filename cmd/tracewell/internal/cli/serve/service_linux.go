package serve

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"tracewell/internal/serving"
	"tracewell/stub"
	"tracewell/target/linux"
	"tracewell/tracepoint"
)

// service is what one run of serve offers to its clients: a live program first, and when that has ended the frames that are left
// of its trace run.
type service struct {
	*messages
	program *linux.Target
	engine  *tracepoint.Engine
	config  stub.Config
	server  *stub.Server
	watched atomic.Pointer[stub.Server] // the same, for those who watch
	ended   bool                        // server shows what the program left
}

// serve serves clients, one after another or with once only the first, until there is nothing left to serve. It returns
// stub.ErrExit if a client has asked the server to exit.
func (s *service) serve(ctx context.Context, clients serving.Listener, once bool) error {
	s.watched.Store(s.server)
	server := serving.Server{
		Listener: clients, Once: once, Messages: s.out, Exit: stub.ErrExit, More: s.more,
		Watch: func(conn io.ReadWriteCloser) error { return s.watched.Load().Watch(conn) },
		Begin: func() (serving.Session, error) {
			s.more() // the program may have ended while nobody was connected
			return s.server.Serve, nil
		},
	}
	err := server.Run(ctx)
	s.tidy()
	if err == nil && s.server.Spent() { // in extended mode gdbserver does not wait
		s.outlive(ctx.Done())
	}
	return err
}

// more reports whether there is something to serve: a program, or one to come, or after the end of the program the frames
// of its trace run. Those are served over what is known of the program that has ended.
func (s *service) more() bool {
	s.tidy() // the program may have been the last one
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
	s.watched.Store(s.server)
	fmt.Fprintf(s.out, "The program has ended. Its %d trace frames are kept: connect again to look at them.\n", frames)
	return true
}
