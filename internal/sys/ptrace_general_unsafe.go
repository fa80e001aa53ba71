//go:build linux && (arm64 || riscv64)

package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// GetRegs reads the general registers, in the kernel's order.
func GetRegs(tid int, regs *[numGeneral]uint64) error {
	return general(unix.PTRACE_GETREGSET, tid, unsafe.Pointer(regs), unsafe.Sizeof(*regs))
}

// SetRegs writes the general registers.
func SetRegs(tid int, regs *[numGeneral]uint64) error {
	return general(unix.PTRACE_SETREGSET, tid, unsafe.Pointer(regs), unsafe.Sizeof(*regs))
}

// general reads or writes so many bytes of the general registers, from the first on.
func general(op, tid int, regs unsafe.Pointer, size uintptr) error {
	iov := unix.Iovec{Base: (*byte)(regs), Len: uint64(size)}
	return request(op, tid, RegSetGeneral, uintptr(unsafe.Pointer(&iov)))
}
