package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"tracewell/internal/routine"
)

// ErrInterrupted ends the writing of a file whose user has had enough.
var ErrInterrupted = errors.New("interrupted")

// interrupts are the signals by which users and their terminals end a command. That is no failure.
var interrupts = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// heeded leaves out of signals SIGHUP where that is ignored: nohup has seen to it, and it stays ignored.
func heeded(signals []os.Signal) []os.Signal {
	if !signal.Ignored(syscall.SIGHUP) {
		return signals
	}
	return slices.DeleteFunc(slices.Clone(signals), func(s os.Signal) bool { return s == syscall.SIGHUP })
}

// UntilInterrupted returns a context that ends when a signal asks the process to, so that it can remove what is half written.
// A second signal ends the process at once.
func UntilInterrupted() (context.Context, func()) {
	ctx, stop := signal.NotifyContext(context.Background(), heeded(interrupts)...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// UntilSignalled returns a context that any signal ends which would end the process, so that it can leave the processes that it
// traces in order first, however many come. If it is impatient, a second signal ends the process at once.
func UntilSignalled(impatient bool) (context.Context, func()) {
	wanted := heeded(slices.Concat(interrupts, deadly))
	restore := withoutEffect()
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, wanted...)
	stop := func() {
		signal.Stop(signals)
		restore()
		cancel(nil)
	}
	routine.Go(func() {
		select {
		case s := <-signals:
			if impatient {
				signal.Stop(signals)
			}
			cancel(signalled(s.(syscall.Signal)))
		case <-ctx.Done():
		}
	})
	return ctx, stop
}

// signalled is why a context of untilSignalled has ended.
type signalled syscall.Signal

// Error implements error.
func (s signalled) Error() string { return fmt.Sprintf("ended by %s", SignalText(int(s))) }

// SignalledStatus is the exit status of a command that a signal has ended, and that has left in order: nil for an interrupt, and
// for the rest what a shell makes of the end by a signal.
func SignalledStatus(ctx context.Context) error {
	var s signalled
	if !errors.As(context.Cause(ctx), &s) || slices.Contains(interrupts, os.Signal(syscall.Signal(s))) {
		return nil
	}
	return ExitStatus(SignalStatus + int(s))
}

// IgnoreBrokenPipes has a message that nobody reads be dropped. Unless it is caught, SIGPIPE ends a Go program that writes one; a
// program that is started would inherit it if it was ignored.
func IgnoreBrokenPipes() (restore func()) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}

// Interruptible returns a writer that writes to w, and fails with ErrInterrupted once the context has ended.
func Interruptible(ctx context.Context, w io.Writer) io.Writer { return &interruptible{w, ctx} }

type interruptible struct {
	io.Writer
	ctx context.Context
}

// Write implements io.Writer.
func (w *interruptible) Write(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, ErrInterrupted
	}
	return w.Writer.Write(p)
}
