package serving

import (
	"context"
	"io"
	"time"

	"tracewell/internal/routine"
)

// patience is how long a session may take to end when its connection has been closed. Closing does not interrupt every read: of a
// pipe or a terminal it may not.
const patience = time.Second

// Serve runs a session of one client, which closes the connection when it is done, and returns its error. When the context
// ends first it closes the connection itself, and returns nil.
func Serve(ctx context.Context, conn io.ReadWriteCloser, session func(io.ReadWriteCloser) error) error {
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
