//go:build linux

package sys

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// Numbers of system calls that a tracee can be made to make.
const (
	CallMmap        = unix.SYS_MMAP
	CallMunmap      = unix.SYS_MUNMAP
	CallMremap      = unix.SYS_MREMAP
	CallClose       = unix.SYS_CLOSE
	CallMemfdCreate = unix.SYS_MEMFD_CREATE
	CallSigaction   = unix.SYS_RT_SIGACTION
)

// Protections of what a tracee is made to map.
const (
	Inaccessible = unix.PROT_NONE
	ReadExecute  = unix.PROT_READ | unix.PROT_EXEC
	ReadWrite    = unix.PROT_READ | unix.PROT_WRITE
)

// Protection is what a mapping permits.
func Protection(read, write, exec bool) (bits int) {
	for _, p := range [...]struct {
		is  bool
		bit int
	}{{read, unix.PROT_READ}, {write, unix.PROT_WRITE}, {exec, unix.PROT_EXEC}} {
		if p.is {
			bits |= p.bit
		}
	}
	return bits
}

// Flags of an mmap that a tracee is made to call. A kernel before 4.17 takes an address with OnlyWhereFree for a hint, so the
// result is to be looked at.
const (
	OwnMemory     = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
	SharedFile    = unix.MAP_SHARED
	OnlyWhereFree = unix.MAP_FIXED_NOREPLACE
	InPlaceOf     = unix.MAP_FIXED // of what is mapped at the address
)

// MoveTo has an mremap that a tracee is made to call put the mapping at an address, in place of what is mapped there.
const MoveTo = unix.MREMAP_MAYMOVE | unix.MREMAP_FIXED

// Flags of a memfd_create that a tracee is made to call. A kernel before 6.3 refuses NotExecutable; one that is set up to
// (vm.memfd_noexec) refuses a file without.
const (
	SealableMemory = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	NotExecutable  = unix.MFD_NOEXEC_SEAL
)

// CallName is the name of a system call that a tracee can be made to make.
func CallName(number uint64) string {
	switch number {
	case CallMmap:
		return "mmap"
	case CallMunmap:
		return "munmap"
	case CallMremap:
		return "mremap"
	case CallClose:
		return "close"
	case CallMemfdCreate:
		return "memfd_create"
	case CallSigaction:
		return "rt_sigaction"
	}
	return "system call " + strconv.FormatUint(number, 10)
}

// ErrorText is the kernel's error number in words.
func ErrorText(errno int) string { return unix.Errno(errno).Error() }
