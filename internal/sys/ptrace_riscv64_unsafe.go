//go:build linux && riscv64

package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// RegSetVector is the register set of vectors. The kernel has it only of threads that have executed an instruction with vectors;
// otherwise it returns EINVAL.
const RegSetVector = unix.NT_RISCV_VECTOR

// GetRegs reads the general registers in the order of user_regs_struct: the pc, then x1 to x31.
func GetRegs(tid int, regs *[32]uint64) error {
	iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(regs)), Len: uint64(unsafe.Sizeof(*regs))}
	return request(unix.PTRACE_GETREGSET, tid, unix.NT_PRSTATUS, uintptr(unsafe.Pointer(&iov)))
}

// SetRegs writes the general registers.
func SetRegs(tid int, regs *[32]uint64) error {
	iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(regs)), Len: uint64(unsafe.Sizeof(*regs))}
	return request(unix.PTRACE_SETREGSET, tid, unix.NT_PRSTATUS, uintptr(unsafe.Pointer(&iov)))
}

// PC reads the pc alone, with which the set begins.
func PC(tid int) (pc uint64, err error) {
	iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(&pc)), Len: uint64(unsafe.Sizeof(pc))}
	err = request(unix.PTRACE_GETREGSET, tid, unix.NT_PRSTATUS, uintptr(unsafe.Pointer(&iov)))
	return pc, err
}

// SetPC writes the pc alone.
func SetPC(tid int, pc uint64) error {
	iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(&pc)), Len: uint64(unsafe.Sizeof(pc))}
	return request(unix.PTRACE_SETREGSET, tid, unix.NT_PRSTATUS, uintptr(unsafe.Pointer(&iov)))
}
