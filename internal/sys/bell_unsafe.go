//go:build linux

package sys

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Bell wakes one thread out of Wait.
//
// A tracer blocks in wait4 and can be told nothing there. Stopping a tracee to wake it would cut the tracee's system calls
// short, and a tracee in a group-stop would not stop at all. So the bell is a signal to the tracer's own thread. The Go
// runtime installs its handlers with SA_RESTART, under which wait4 would start again; the bell takes that flag off one
// real-time signal that the runtime otherwise ignores, and wait4 returns EINTR. A ring that comes just before wait4 is
// entered is lost, so whoever rings repeats until answered.
type Bell struct{ pid, tid int }

// bellSignal is a real-time signal that neither the Go runtime nor libc uses.
const bellSignal = unix.Signal(40)

// restart is SA_RESTART, the same on every Linux that Go runs on but MIPS and SPARC.
const restart = 0x10000000

// kernelSigaction is the kernel's struct sigaction.
type kernelSigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// NewBell makes the bell of the calling thread, to which its goroutine must be locked.
func NewBell() (Bell, error) {
	var sa kernelSigaction
	if err := sigaction(bellSignal, nil, &sa); err != nil {
		return Bell{}, fmt.Errorf("reading the bell signal's action: %w", err)
	}
	sa.flags &^= restart
	if err := sigaction(bellSignal, &sa, nil); err != nil {
		return Bell{}, fmt.Errorf("setting the bell signal's action: %w", err)
	}
	return Bell{os.Getpid(), unix.Gettid()}, nil
}

// Ring interrupts the thread's Wait, if it is in one.
func (b Bell) Ring() { unix.Tgkill(b.pid, b.tid, bellSignal) }

// IgnoreReserved has the process ignore the real-time signals that the Go runtime leaves to C libraries (32 to 34): their default
// action would end it, and package os/signal cannot catch them. Programs that Launch starts do not inherit that.
func IgnoreReserved() { setReserved(actionIgnore) }

// The actions that are no functions: SIG_DFL and SIG_IGN.
const (
	actionDefault = 0
	actionIgnore  = 1
)

// setReserved sets the action of the reserved signals and returns the one that they had.
func setReserved(handler uintptr) (before uintptr) {
	for s := unix.Signal(32); s <= 34; s++ {
		var old kernelSigaction
		_ = sigaction(s, &kernelSigaction{handler: handler}, &old) // there is no way for it to fail
		before = old.handler
	}
	return before
}

func sigaction(signal unix.Signal, new, old *kernelSigaction) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(new)),
		uintptr(unsafe.Pointer(old)), unsafe.Sizeof(kernelSigaction{}.mask), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
