// Package recording serves recordings, trace files and execution traces, to GDB, as the commands replay and match --serve do.
package recording

import (
	"context"
	"errors"
	"io"

	"tracewell/internal/serving"
	"tracewell/stub"
)

// Recording is a recording that clients look at, one after another. No client can change it, so each gets a target of its own that
// begins where the first client's did.
type Recording struct {
	Config func() (stub.Config, error) // called once for each client
	Close  func() error
}

// Serve serves clients until the context ends, a client asks the server to exit (monitor exit), or, with once, the first client has
// left. It returns the error of the listener or of Config; a broken connection is only reported to messages.
func (r *Recording) Serve(ctx context.Context, clients serving.Listener, once bool, messages io.Writer) error {
	s := serving.Server{Listener: clients, Once: once, Messages: messages, Exit: stub.ErrExit, Begin: r.begin}
	if err := s.Run(ctx); !errors.Is(err, stub.ErrExit) {
		return err
	}
	return nil
}

// begin makes the server of one client. It is closed with the session, since its target belongs to no other client.
func (r *Recording) begin() (serving.Session, error) {
	config, err := r.Config()
	if err != nil {
		return nil, err
	}
	// One server per client, rather than one for all: what a client has selected, by thread, frame or mode, ends with it.
	server := stub.New(config)
	return func(conn io.ReadWriteCloser) error {
		defer server.Close()
		return server.Serve(conn)
	}, nil
}
