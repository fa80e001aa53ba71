//go:build !amd64

package linux

import (
	"errors"
	"os"
	"runtime"

	"tracewell/arch"
	"tracewell/target"
)

// Target is a process under ptrace. On this processor there can be none.
type Target struct{ target.Target }

// Ended is a program that has ended.
type Ended struct{ target.Target }

// Ended implements what the x86-64 target has.
func (*Target) Ended() *Ended { return nil }

// GroupStop is the stop of a whole process by job control.
type GroupStop struct{ PID, Signal int }

// GroupStops implements what the x86-64 target has.
func (*Target) GroupStops() <-chan GroupStop { return nil }

// Untold implements what the x86-64 target has.
func (*Target) Untold() []target.Event { return nil }

// Close implements what the x86-64 target has.
func (*Target) Close() error { return nil }

// RunIfGuard does nothing: without tracing there is nothing to guard.
func RunIfGuard() {}

// Unguarded implements what the x86-64 target has.
func (*Target) Unguarded() error { return nil }

// Streams are what programs that a Target starts have for standard streams.
type Streams struct{ In, Out, Err *os.File }

// Start implements target.Launcher.
func (*Target) Start(target.Program) (target.ThreadID, error) {
	return target.ThreadID{}, target.ErrUnsupported
}

// Attach implements target.Launcher.
func (*Target) Attach(int) (target.ThreadID, error) { return target.ThreadID{}, target.ErrUnsupported }

// AttachAsIs implements what the x86-64 target has.
func (*Target) AttachAsIs(int) (target.ThreadID, error) {
	return target.ThreadID{}, target.ErrUnsupported
}

// KernelSignal is the kernel's number for GDB's, 0 for none.
func KernelSignal(target.Signal) int { return 0 }

// New says that this processor is not supported.
func New(Streams) (*Target, error) {
	return nil, errors.New("tracing on " + runtime.GOARCH + " is not supported yet: only " + arch.AMD64.Title + " is")
}
