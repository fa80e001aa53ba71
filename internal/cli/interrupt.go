package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// errInterrupted ends the writing of a file whose user has had enough.
var errInterrupted = errors.New("interrupted")

// untilInterrupted returns a context that ends when a signal asks the process to, so that it can remove what is half written.
// A second signal ends the process at once.
func untilInterrupted() (context.Context, func()) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// interruptible is a writer that fails after an interrupt.
type interruptible struct {
	io.Writer
	ctx context.Context
}

// Write implements io.Writer.
func (w *interruptible) Write(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, errInterrupted
	}
	return w.Writer.Write(p)
}
