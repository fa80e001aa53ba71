package sys

import (
	"errors"
	"syscall"
)

// Errors of sockets, for errors.Is: WSAEADDRINUSE and WSAECONNREFUSED.
const (
	ErrAddressInUse      = syscall.Errno(10048)
	ErrConnectionRefused = syscall.Errno(10061)
)

// IsFull reports whether a file could not be written for want of room: ERROR_HANDLE_DISK_FULL or ERROR_DISK_FULL.
func IsFull(err error) bool {
	return errors.Is(err, syscall.Errno(39)) || errors.Is(err, syscall.Errno(112))
}
