//go:build linux

package sys

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A RobustFutex is a futex in memory that processes share, which the kernel releases when the thread that holds it ends,
// whatever ends it. The kernel does so early in the end of a thread, in exit_mm: before it closes files (exit_files) and before
// it detaches from tracees (exit_notify).
type RobustFutex struct{ block *robustBlock }

// robustBlock is what the holder registers with the kernel (set_robust_list): a list of one futex, the pointers being those of
// the holder's mapping. It lies in the shared memory, which the OOM reaper leaves alone.
type robustBlock struct {
	next    uintptr // struct robust_list_head
	offset  int64   // from an entry of the list to its futex
	pending uintptr
	entry   uintptr // struct robust_list of the futex
	word    uint32
	_       uint32
}

// From linux/futex.h.
const (
	futexWait      = 0
	futexWaiters   = 0x80000000
	futexOwnerDied = 0x40000000
)

// RobustFutexWords is how many words a RobustFutex takes.
const RobustFutexWords = int(unsafe.Sizeof(robustBlock{})) / 8

// RobustFutexIn is the futex at the beginning of shared memory, which is zero before its first use.
func RobustFutexIn(shared []uint64) RobustFutex {
	_ = shared[RobustFutexWords-1]
	return RobustFutex{(*robustBlock)(unsafe.Pointer(unsafe.SliceData(shared)))}
}

// Hold has the calling thread hold the futex until drop is called on the same thread or the thread ends. A thread has one list
// of robust futexes: one that the C library has registered is replaced meanwhile.
func (f RobustFutex) Hold() (drop func(), err error) {
	b := f.block
	head := uintptr(unsafe.Pointer(&b.next))
	b.entry, b.pending = head, 0
	b.offset = int64(unsafe.Offsetof(b.word)) - int64(unsafe.Offsetof(b.entry))
	b.next = uintptr(unsafe.Pointer(&b.entry))
	var former, size uintptr
	_, _, errno := unix.RawSyscall(unix.SYS_GET_ROBUST_LIST, 0, uintptr(unsafe.Pointer(&former)), uintptr(unsafe.Pointer(&size)))
	if errno != 0 {
		return nil, fmt.Errorf("reading the thread's list of robust futexes: %w", errno)
	}
	const headSize = unsafe.Offsetof(b.entry)
	if _, _, errno := unix.RawSyscall(unix.SYS_SET_ROBUST_LIST, head, headSize, 0); errno != 0 {
		return nil, fmt.Errorf("registering a robust futex: %w", errno)
	}
	// The kernel wakes waiters only if the word says that there are some.
	atomic.StoreUint32(&b.word, uint32(unix.Gettid())|futexWaiters)
	return func() {
		atomic.StoreUint32(&b.word, 0)
		unix.RawSyscall(unix.SYS_SET_ROBUST_LIST, former, headSize, 0)
	}, nil
}

// WaitForDeath returns when the thread that holds the futex, or will, has ended without dropping it.
func (f RobustFutex) WaitForDeath() {
	for {
		word := atomic.LoadUint32(&f.block.word)
		if word&futexOwnerDied != 0 {
			return
		}
		unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&f.block.word)), futexWait, uintptr(word), 0, 0, 0)
	}
}
