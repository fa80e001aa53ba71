//go:build linux && riscv64

package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// numGeneral is how many general registers there are: those of user_regs_struct, the pc, then x1 to x31.
const numGeneral = 32

// RegSetVector is the register set of vectors. The kernel has it only of threads that have executed an instruction with vectors;
// otherwise it returns EINVAL.
const RegSetVector = unix.NT_RISCV_VECTOR

// PC reads the pc alone, with which the set begins.
func PC(tid int) (pc uint64, err error) {
	err = general(unix.PTRACE_GETREGSET, tid, unsafe.Pointer(&pc), unsafe.Sizeof(pc))
	return pc, err
}

// SetPC writes the pc alone.
func SetPC(tid int, pc uint64) error {
	return general(unix.PTRACE_SETREGSET, tid, unsafe.Pointer(&pc), unsafe.Sizeof(pc))
}
