//go:build linux

package sys

import (
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Memory that a tracee and its tracer share is a file in memory that the tracee made, since a tracer can open the files of a
// tracee and not the other way round. The tracer opens it by OpenFileOf, gives it its length and seals it: from then on the
// tracee can write nonsense into it, but cannot take it away under the tracer, which would get a SIGBUS.

// OpenFileOf opens, to be read and written, the file that pid has open as fd.
func OpenFileOf(pid, fd int) (*os.File, error) {
	return os.OpenFile(procPath(pid, "fd/"+strconv.Itoa(fd)), os.O_RDWR, 0)
}

// SealLength keeps a file in memory as long as it is, for good.
func SealLength(f *os.File) error {
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return os.NewSyscallError("sealing a file in memory", err)
	}
	return nil
}

// MapRing maps size bytes of a file, from offset on, twice in a row: what runs over the end of the first is at the beginning of
// the second. size and offset are multiples of the page size.
func MapRing(f *os.File, offset int64, size int) (ring []byte, unmap func() error, err error) {
	return mapParts(f, []part{{offset, size}, {offset, size}})
}

// part is a stretch of a file; an offset below 0 means memory of this process's own.
type part struct {
	offset int64
	size   int
}

// mapParts maps parts of a file one behind the other.
func mapParts(f *os.File, parts []part) (memory []byte, unmap func() error, err error) {
	whole := 0
	for _, p := range parts {
		whole += p.size
	}
	base, err := mmap(0, whole, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, -1, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("reserving %d bytes of address space: %w", whole, err)
	}
	memory = unsafe.Slice((*byte)(base), whole)
	unmap = func() error { return munmap(base, whole) }
	at := 0
	for _, p := range parts {
		flags, fd := unix.MAP_SHARED|unix.MAP_FIXED, int(f.Fd())
		if p.offset < 0 {
			flags, fd = unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED, -1
		}
		place := uintptr(unsafe.Pointer(&memory[at]))
		if _, err := mmap(place, p.size, unix.PROT_READ|unix.PROT_WRITE, flags, fd, max(p.offset, 0)); err != nil {
			unmap()
			return nil, nil, &os.PathError{Op: "map", Path: f.Name(), Err: err}
		}
		at += p.size
	}
	return memory, unmap, nil
}

// mmap maps memory that the Go runtime and package unix know nothing of.
func mmap(at uintptr, size, prot, flags, fd int, offset int64) (unsafe.Pointer, error) {
	base, _, errno := unix.Syscall6(unix.SYS_MMAP, at, uintptr(size), uintptr(prot), uintptr(flags), uintptr(fd), uintptr(offset))
	if errno != 0 {
		return nil, errno
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&base)), nil
}

func munmap(base unsafe.Pointer, size int) error {
	if _, _, errno := unix.Syscall(unix.SYS_MUNMAP, uintptr(base), uintptr(size), 0); errno != 0 {
		return errno
	}
	return nil
}

// Populate takes up the pages of a shared mapping, which the first to write there would wait for otherwise. A kernel before 5.14
// cannot do that, which costs time later.
func Populate(memory []byte) { unix.Madvise(memory, unix.MADV_POPULATE_WRITE) }

// WakeWaiters wakes all threads, of any process, that wait for a change of a word in shared memory.
func WakeWaiters(word *uint32) {
	const wake, all = 1, 1<<31 - 1
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), wake, all, 0, 0, 0)
}
