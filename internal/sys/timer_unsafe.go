//go:build linux

package sys

import (
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sigevent is the kernel's struct sigevent.
type sigevent struct {
	value  uint64
	signal int32
	notify int32 // 0: a signal to the process
	_      [48]byte
}

// StopProcess stops this process by the default action of SIGTSTP, until a SIGCONT. With a limit above 0 the kernel sends that
// SIGCONT itself, since a stopped process could not: after the limit, and again after twice, four times and so on of it, as a
// SIGCONT that comes before the process has stopped is lost. In an orphaned process group, where nobody would continue it, the
// kernel does not stop a process. (The Go runtime, once it has caught a signal, does not go back to the default action.)
func StopProcess(limit time.Duration) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var caught kernelSigaction
	if err := sigaction(unix.SIGTSTP, &kernelSigaction{handler: actionDefault}, &caught); err != nil {
		return fmt.Errorf("setting the action of SIGTSTP: %w", err)
	}
	defer sigaction(unix.SIGTSTP, &caught, nil)
	for after := limit; after > 0 && after < longestStop; after *= 2 {
		stop, err := continueAfter(after)
		if err != nil {
			return err
		}
		defer stop()
	}
	// Sent to the calling thread the signal has stopped the process before the system call returns.
	return unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGTSTP)
}

// longestStop is more than a process takes to stop once it has a timer.
const longestStop = time.Minute

// continueAfter has the kernel send a SIGCONT to this process, unless stop is called before. One timer that repeats would not do:
// since Linux 6.13 it is not armed again while its signal is ignored, as SIGCONT is by default.
func continueAfter(d time.Duration) (stop func(), err error) {
	event := sigevent{signal: int32(unix.SIGCONT)}
	var timer int32
	if _, _, errno := unix.RawSyscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&event)),
		uintptr(unsafe.Pointer(&timer))); errno != 0 {
		return nil, fmt.Errorf("making a timer: %w", errno)
	}
	stop = func() { unix.RawSyscall(unix.SYS_TIMER_DELETE, uintptr(timer), 0, 0) }
	times := [2]unix.Timespec{{}, unix.NsecToTimespec(d.Nanoseconds())} // no interval, and the first time
	_, _, errno := unix.RawSyscall6(unix.SYS_TIMER_SETTIME, uintptr(timer), 0, uintptr(unsafe.Pointer(&times)), 0, 0, 0)
	if errno != 0 {
		stop()
		return nil, fmt.Errorf("setting a timer: %w", errno)
	}
	return stop, nil
}

// StopOthers sends SIGTSTP to the process group of this process, which ignores it.
func StopOthers() {
	var caught kernelSigaction
	if sigaction(unix.SIGTSTP, &kernelSigaction{handler: actionIgnore}, &caught) == nil {
		_ = unix.Kill(0, unix.SIGTSTP)
		_ = sigaction(unix.SIGTSTP, &caught, nil)
	}
}
