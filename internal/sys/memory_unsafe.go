//go:build linux

package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Vector is a reusable list of ranges for one process_vm_readv. The kernel takes up to 1024 at a time.
type Vector struct {
	local  []unix.Iovec
	remote []unix.RemoteIovec
}

// MaxVector is the kernel's limit on ranges in one call.
const MaxVector = 1024

// Reset empties the vector.
func (v *Vector) Reset() { v.local, v.remote = v.local[:0], v.remote[:0] }

// Add appends the range at addr that dst is to receive. The buffers must stay alive until Read.
func (v *Vector) Add(addr uint64, dst []byte) {
	v.local = append(v.local, unix.Iovec{Base: unsafe.SliceData(dst), Len: uint64(len(dst))})
	v.remote = append(v.remote, unix.RemoteIovec{Base: uintptr(addr), Len: len(dst)})
}

// Len is the number of ranges.
func (v *Vector) Len() int { return len(v.local) }

// Read reads all ranges from the process and returns the bytes read; the first unreadable byte ends it.
func (v *Vector) Read(pid int) (int, error) {
	if len(v.local) == 0 {
		return 0, nil
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(pid),
		uintptr(unsafe.Pointer(&v.local[0])), uintptr(len(v.local)),
		uintptr(unsafe.Pointer(&v.remote[0])), uintptr(len(v.remote)), 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// WriteVM writes p at addr by process_vm_writev, which obeys the page protections.
func WriteVM(pid int, addr uint64, p []byte) (int, error) {
	local := unix.Iovec{Base: unsafe.SliceData(p), Len: uint64(len(p))}
	remote := unix.RemoteIovec{Base: uintptr(addr), Len: len(p)}
	n, _, errno := unix.RawSyscall6(unix.SYS_PROCESS_VM_WRITEV, uintptr(pid),
		uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
