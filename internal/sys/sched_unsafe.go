//go:build linux

package sys

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Policy is a scheduling policy of a thread.
type Policy int

// The policies that a tracer uses.
const (
	PolicyNormal Policy = unix.SCHED_NORMAL
	PolicyIdle   Policy = unix.SCHED_IDLE
)

// SetPolicy changes the policy of a thread of this process.
func SetPolicy(tid int, p Policy) error {
	var priority int32
	_, _, errno := unix.RawSyscall(unix.SYS_SCHED_SETSCHEDULER, uintptr(tid), uintptr(p), uintptr(unsafe.Pointer(&priority)))
	if errno != 0 {
		return errno
	}
	return nil
}

// CanLeaveIdle reports whether the calling thread may go back from PolicyIdle: a thread needs CAP_SYS_NICE for that, or a
// resource limit that allows its nice value.
func CanLeaveIdle() bool {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NICE, &limit) == nil && limit.Cur >= 20 {
		return true
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	return unix.Capget(&header, &sets[0]) == nil && sets[0].Effective&(1<<unix.CAP_SYS_NICE) != 0
}

// ThreadID is the calling thread's.
func ThreadID() int { return unix.Gettid() }

// CPU is the processor that the calling thread runs on, -1 if the kernel does not tell.
func CPU() int {
	var cpu uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return -1
	}
	return int(cpu)
}

// Schedule tells how a thread of this process is scheduled.
type Schedule struct{ schedstat, stat *os.File }

// OpenSchedule opens the files of a thread for Look.
func OpenSchedule(tid int) (*Schedule, error) {
	schedstat, err1 := os.Open(taskPath(tid, "schedstat"))
	stat, err2 := OpenStat(tid)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return &Schedule{schedstat, stat}, nil
}

// Close closes the files.
func (s *Schedule) Close() { s.schedstat.Close(); s.stat.Close() }

// ScheduleLook is how things are for a thread at one time. The kernel adds a wait to Delay only when it is over.
type ScheduleLook struct {
	Delay    time.Duration // that it has waited for a processor in all, while it could run
	Slices   int64         // how often it has been given one
	Runnable bool          // it runs, or waits to
}

// Look looks. buf is scratch space.
func (s *Schedule) Look(buf []byte) (ScheduleLook, error) {
	var l ScheduleLook
	n, err := s.schedstat.ReadAt(buf, 0)
	if n == 0 {
		return l, err
	}
	_, waits, _ := bytes.Cut(bytes.TrimSpace(buf[:n]), []byte(" ")) // behind the time that it has run
	delay, count, _ := bytes.Cut(waits, []byte(" "))
	ns, err1 := strconv.ParseInt(string(delay), 10, 64)
	slices, err2 := strconv.ParseInt(string(count), 10, 64)
	if n, err = s.stat.ReadAt(buf, 0); n == 0 {
		return l, err
	}
	_, state, _ := bytes.Cut(buf[:n], []byte(") "))
	l = ScheduleLook{time.Duration(ns), slices, bytes.HasPrefix(state, []byte("R"))}
	return l, errors.Join(err1, err2)
}
