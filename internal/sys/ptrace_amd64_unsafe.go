//go:build linux && amd64

package sys

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

// GetReg reads one general register.
func GetReg(tid, index int) (value uint64, err error) {
	err = request(unix.PTRACE_PEEKUSR, tid, uintptr(index*8), uintptr(unsafe.Pointer(&value)))
	return value, err
}

// The debug registers lie behind the rest of struct user; as an index for SetReg the first is this.
const debugRegister = 848 / 8

// SetDebugReg writes debug register n, 0 to 7. The kernel refuses a DR7 that does not fit the addresses.
func SetDebugReg(tid, n int, value uint64) error { return SetReg(tid, debugRegister+n, value) }

// DebugReg reads debug register n.
func DebugReg(tid, n int) (value uint64, err error) {
	return GetReg(tid, debugRegister+n)
}
