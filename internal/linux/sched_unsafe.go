package linux

import (
	"bytes"
	"fmt"
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

// OpenSchedule opens the schedule statistics of a thread of this process for RunDelay.
func OpenSchedule(tid int) (*os.File, error) {
	return os.Open(taskPath(os.Getpid(), tid, "schedstat"))
}

// RunDelay is the time that the thread has waited for a processor while it could run. buf is scratch space.
func RunDelay(schedule *os.File, buf []byte) (time.Duration, error) {
	n, err := schedule.ReadAt(buf, 0)
	if n == 0 {
		return 0, err
	}
	fields := bytes.Fields(buf[:n])
	if len(fields) < 2 {
		return 0, fmt.Errorf("schedule statistics %q: want three numbers", buf[:n])
	}
	ns, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return time.Duration(ns), err
}
