//go:build !unix

package sys

import (
	"errors"
	"io"
	"os"
)

// Map reads a whole file, where there is no mapping as UNIX has it. What it returns besides has nothing to take back.
func Map(f *os.File) (data []byte, unmap func() error, err error) {
	status, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !status.Mode().IsRegular() {
		return nil, nil, &os.PathError{Op: "map", Path: f.Name(), Err: errors.ErrUnsupported}
	}
	data = make([]byte, status.Size())
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, status.Size()), data); err != nil {
		return nil, nil, &os.PathError{Op: "read", Path: f.Name(), Err: err}
	}
	return data, func() error { return nil }, nil
}

// Release does nothing where there is no mapping.
func Release([]byte) {}
