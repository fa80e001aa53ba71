//go:build unix

package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// Map maps a whole file to be read, and returns what takes the mapping back. An empty file gives no bytes.
func Map(f *os.File) (data []byte, unmap func() error, err error) {
	status, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !status.Mode().IsRegular() {
		return nil, nil, &os.PathError{Op: "map", Path: f.Name(), Err: unix.ENODEV}
	}
	if status.Size() == 0 {
		return nil, func() error { return nil }, nil
	}
	data, err = unix.Mmap(int(f.Fd()), 0, int(status.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, &os.PathError{Op: "map", Path: f.Name(), Err: err}
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// Release gives back the memory that a mapping of Map takes. Its content stays, and is read again where it is used.
func Release(data []byte) {
	if len(data) > 0 {
		_ = unix.Madvise(data, unix.MADV_DONTNEED) // it stays where it is then
	}
}
