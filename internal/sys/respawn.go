//go:build linux

package sys

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Inherited are the descriptors that a process started by Respawn has behind its standard files, in order.
const Inherited = 3

// Respawn starts the program that this process runs once more, as a child of the calling thread in a session of its own, with
// nothing in common with this process but a channel and a file: no terminal, no standard files, no environment and no folder.
// name is all that the new process has for arguments.
func Respawn(name string, channel Channel, file *os.File) (pid int, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	attr := &syscall.ProcAttr{
		Dir: "/",
		// The garbage collector would stop the threads of the process for each other.
		Env:   []string{"GOGC=off", "GOTRACEBACK=none"},
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), uintptr(channel.fd), file.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	pid, err = syscall.ForkExec("/proc/self/exe", []string{name}, attr)
	if err != nil {
		return 0, fmt.Errorf("starting %s once more: %w", "/proc/self/exe", err)
	}
	return pid, nil
}

// WaitChild waits for the end of a child of the calling thread.
func WaitChild(pid int) {
	for {
		if _, s, err := Wait(pid); err != ErrInterrupted && (err != nil || s.Ended()) {
			return
		}
	}
}

// Endure makes this process as hard to end as it is permitted to: it ignores every signal that can be ignored, is the last that
// the OOM killer takes, and has its memory locked.
func Endure() {
	signal.Ignore()
	const never = -1000
	for _, score := range []int{never, 0} { // raising a score that was inherited is permitted to everybody, lowering it is not
		if os.WriteFile("/proc/self/oom_score_adj", []byte(strconv.Itoa(score)), 0) == nil {
			break
		}
	}
	unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT)
}

// CloseInherited closes the files that this process was started with, from a descriptor on. What it opened itself is marked to be
// closed on exec, and stays.
func CloseInherited(from int) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < from {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}

// SetName sets the name of this process that the kernel shows (ps -o comm, pkill), of 15 bytes at most.
func SetName(name string) error { return os.WriteFile("/proc/self/comm", []byte(name), 0) }

// shortestSlice is the shortest slice of a processor's time that a thread can ask for, in nanoseconds.
const shortestSlice = 100_000

// setSchedule changes how the calling thread is scheduled.
func setSchedule(attr unix.SchedAttr) error {
	attr.Size = unix.SizeofSchedAttr
	return unix.SchedSetAttr(0, &attr, 0)
}

// ShortenSlices has the calling thread scheduled in short slices: it gets no more of a busy processor than before, but sooner
// when it wakes up (Linux 6.12). Everybody may do that.
func ShortenSlices() error {
	now, err := unix.SchedGetAttr(0, 0)
	if err != nil || now.Policy != unix.SCHED_NORMAL {
		return err
	}
	now.Runtime = shortestSlice
	return setSchedule(*now)
}

// Hurry has the calling thread scheduled ahead of others as soon as it can run, as far as this process is permitted: as a
// real-time thread, or by the highest niceness, or, which everybody may, by the shortest slices (Linux 6.12). Threads that it
// starts have none of it.
func Hurry() error {
	const realTimePriority, highestNiceness = 50, -20
	const resetOnFork = unix.SCHED_FLAG_RESET_ON_FORK
	var errs []error
	for _, attr := range []unix.SchedAttr{
		{Policy: unix.SCHED_FIFO, Priority: realTimePriority, Flags: resetOnFork},
		{Policy: unix.SCHED_NORMAL, Nice: highestNiceness, Runtime: shortestSlice, Flags: resetOnFork},
		{Policy: unix.SCHED_NORMAL, Runtime: shortestSlice, Flags: resetOnFork},
	} {
		err := setSchedule(attr)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
