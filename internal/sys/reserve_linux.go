package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// Reserve returns memory of any size, of which pages are taken as they are written, and what gives it back. It fails where there is
// no room for it in the address space, or the system promises no memory that it has not got (vm.overcommit_memory = 2).
func Reserve(size int) (memory []byte, release func(), err error) {
	if size == 0 {
		return nil, func() {}, nil
	}
	memory, err = unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return memory, func() { _ = unix.Munmap(memory) }, nil
}
