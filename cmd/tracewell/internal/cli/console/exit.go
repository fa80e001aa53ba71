package console

import (
	"errors"
	"fmt"
	"syscall"
)

// The exit statuses.
const (
	StatusDone    = 0
	StatusFinding = 1
	StatusFailure = 2
)

// ErrFinding makes the exit status 1: the command worked and what it looked at is not well.
var ErrFinding = errors.New("finding")

// ErrTold makes the exit status 2: the command failed and has said why itself.
var ErrTold = errors.New("told")

// ExitStatus ends the command with the status of the program that it launched.
type ExitStatus int

// Error implements error.
func (s ExitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// SignalStatus is what a shell adds to the number of the signal that has killed a program.
const SignalStatus = 128

// SignalText is the number of a signal with what it says.
func SignalText(n int) string { return fmt.Sprintf("signal %d (%v)", n, syscall.Signal(n)) }
