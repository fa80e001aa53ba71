//go:build linux && arm64

package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// GetRegs reads the general registers in the order of user_pt_regs.
func GetRegs(tid int, regs *[34]uint64) error {
	iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(regs)), Len: uint64(unsafe.Sizeof(*regs))}
	return request(unix.PTRACE_GETREGSET, tid, RegSetGeneral, uintptr(unsafe.Pointer(&iov)))
}

// SetRegs writes the general registers.
func SetRegs(tid int, regs *[34]uint64) error {
	iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(regs)), Len: uint64(unsafe.Sizeof(*regs))}
	return request(unix.PTRACE_SETREGSET, tid, RegSetGeneral, uintptr(unsafe.Pointer(&iov)))
}
