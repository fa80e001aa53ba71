//go:build amd64

package linux

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// GetRegs reads the general registers in the order of user_regs_struct.
func GetRegs(tid int, regs *[27]uint64) error {
	return request(unix.PTRACE_GETREGS, tid, 0, uintptr(unsafe.Pointer(regs)))
}

// SetRegs writes the general registers.
func SetRegs(tid int, regs *[27]uint64) error {
	return request(unix.PTRACE_SETREGS, tid, 0, uintptr(unsafe.Pointer(regs)))
}

// SetReg writes one general register by its index in user_regs_struct.
func SetReg(tid, index int, value uint64) error {
	return request(unix.PTRACE_POKEUSR, tid, uintptr(index*8), uintptr(value))
}
