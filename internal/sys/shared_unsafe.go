//go:build linux

package sys

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// NewShared makes a file in memory, of zeros, that processes can share by MapShared. Pages are taken up when they are first
// written to.
func NewShared(name string, size int) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if err := f.Truncate(int64(size)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// MapShared maps a file of whole words to be read and written by all who map it.
func MapShared(f *os.File) (words []uint64, unmap func() error, err error) {
	status, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, int(status.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, &os.PathError{Op: "map", Path: f.Name(), Err: err}
	}
	words = unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory)/8)
	return words, func() error { return unix.Munmap(memory) }, nil
}
