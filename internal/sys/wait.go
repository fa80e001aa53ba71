//go:build linux

package sys

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Status is what wait says of a tracee.
type Status unix.WaitStatus

// Ptrace events as Status.Event returns them.
const (
	EventFork      = unix.PTRACE_EVENT_FORK
	EventVfork     = unix.PTRACE_EVENT_VFORK
	EventClone     = unix.PTRACE_EVENT_CLONE
	EventExec      = unix.PTRACE_EVENT_EXEC
	EventVforkDone = unix.PTRACE_EVENT_VFORK_DONE
	EventStop      = unix.PTRACE_EVENT_STOP
)

// SyscallTrap is the stop signal at the entry into and the exit from a system call, under TraceSysGood.
const SyscallTrap = int(unix.SIGTRAP) | 0x80

// Exited reports whether the tracee ended by exit, and with what code.
func (s Status) Exited() (code int, ok bool) {
	ws := unix.WaitStatus(s)
	return ws.ExitStatus(), ws.Exited()
}

// Killed reports whether a signal ended the tracee, and which.
func (s Status) Killed() (signal int, ok bool) {
	ws := unix.WaitStatus(s)
	return int(ws.Signal()), ws.Signaled()
}

// Stopped reports whether the tracee is stopped, and with which signal.
func (s Status) Stopped() (signal int, ok bool) {
	ws := unix.WaitStatus(s)
	return int(s>>8) & 0xff, ws.Stopped()
}

// Ended reports whether the tracee is gone.
func (s Status) Ended() bool {
	ws := unix.WaitStatus(s)
	return ws.Exited() || ws.Signaled()
}

// Event is the ptrace event that came with a stop, 0 for none.
func (s Status) Event() int { return int(s >> 16) }

func (s Status) String() string {
	if code, ok := s.Exited(); ok {
		return fmt.Sprintf("exit %d", code)
	}
	if sig, ok := s.Killed(); ok {
		return fmt.Sprintf("killed by signal %d", sig)
	}
	sig, _ := s.Stopped()
	return fmt.Sprintf("stopped by signal %#x, event %d", sig, s.Event())
}

// ErrNoChildren says that the calling thread has nothing to wait for.
var ErrNoChildren = errors.New("no tracees left")

// ErrInterrupted says that a signal ended the wait (see Bell).
var ErrInterrupted = errors.New("wait interrupted")

// Wait waits for a tracee or child of the calling thread only, never for another thread's, so that os/exec elsewhere in the
// process keeps its children. tid -1 is any. It blocks through Syscall, which lets the garbage collector go on.
func Wait(tid int) (int, Status, error) { return wait(tid, 0) }

// Poll is Wait that returns id 0 at once when nothing has happened.
func Poll(tid int) (int, Status, error) { return wait(tid, unix.WNOHANG) }

// KillAndReap kills a tracee or child of the calling thread and waits until it is gone.
func KillAndReap(pid int) {
	Kill(pid, SIGKILL)
	for {
		if _, s, err := Wait(pid); err != ErrInterrupted && (err != nil || s.Ended()) {
			return
		}
	}
}

func wait(tid, flags int) (int, Status, error) {
	var ws unix.WaitStatus
	id, err := unix.Wait4(tid, &ws, unix.WALL|unix.WNOTHREAD|flags, nil)
	switch err {
	case nil:
		return id, Status(ws), nil
	case unix.EINTR:
		return 0, 0, ErrInterrupted
	case unix.ECHILD:
		return 0, 0, ErrNoChildren
	}
	return 0, 0, err
}

// The signals that must be known by name.
const (
	SIGINT  = int(unix.SIGINT)
	SIGILL  = int(unix.SIGILL)
	SIGTRAP = int(unix.SIGTRAP)
	SIGBUS  = int(unix.SIGBUS)
	SIGFPE  = int(unix.SIGFPE)
	SIGTERM = int(unix.SIGTERM)
	SIGSTOP = int(unix.SIGSTOP)
	SIGCONT = int(unix.SIGCONT)
	SIGKILL = int(unix.SIGKILL)
	SIGSEGV = int(unix.SIGSEGV)
	SIGSYS  = int(unix.SIGSYS)
)

// EndOf tells how a child ended: its exit status, or the signal that killed it.
func EndOf(state *os.ProcessState) (code, signal int) {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 0, int(status.Signal())
	}
	return state.ExitCode(), 0
}
