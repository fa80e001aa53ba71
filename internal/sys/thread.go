//go:build linux

package sys

import (
	"time"

	"golang.org/x/sys/unix"
)

// Kill sends a signal to a process.
func Kill(pid, signal int) error { return unix.Kill(pid, unix.Signal(signal)) }

// KillThread sends a signal to one thread.
func KillThread(pid, tid, signal int) error { return unix.Tgkill(pid, tid, unix.Signal(signal)) }

// Affinity is the set of processors that the calling thread may run on.
type Affinity struct{ set unix.CPUSet }

// ThreadAffinity reads the calling thread's set.
func ThreadAffinity() (a Affinity, err error) {
	err = unix.SchedGetaffinity(0, &a.set)
	return a, err
}

// Has reports whether cpu is in the set.
func (a *Affinity) Has(cpu int) bool { return a.set.IsSet(cpu) }

// Apply makes a thread run on the set.
func (a *Affinity) Apply(tid int) error { return unix.SchedSetaffinity(tid, &a.set) }

// Single is the set of one processor.
func Single(cpu int) (a Affinity) {
	a.set.Set(cpu)
	return a
}

// IsTerminal reports whether fd is a terminal.
func IsTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// ForegroundGroup is the process group in the foreground of the terminal fd.
func ForegroundGroup(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.TIOCGPGRP) }

// SetForegroundGroup puts a process group in the foreground of the terminal fd. Called from the background it needs SIGTTOU
// ignored.
func SetForegroundGroup(fd, pgid int) error {
	return unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, pgid)
}

// SharesMemory reports whether two threads have one address space. It is false where the kernel will not tell.
func SharesMemory(a, b int) bool {
	const kcmpVM = 1
	order, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), kcmpVM, 0, 0, 0)
	return errno == 0 && order == 0
}

// longNap is from where on the runtime's own sleep is exact enough, which lasts a millisecond at least where nothing else is to be
// done. It is cheaper: in a system call the runtime watches for 50 times 20 µs whether that comes to an end.
const longNap = 2 * time.Millisecond

// Nap sleeps for about as long as d.
func Nap(d time.Duration) {
	if d >= longNap {
		time.Sleep(d)
		return
	}
	t := unix.NsecToTimespec(d.Nanoseconds())
	_ = unix.Nanosleep(&t, nil) // which a signal may end
}
