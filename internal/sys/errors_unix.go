//go:build unix && !linux

package sys

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Errors of sockets, for errors.Is.
const (
	ErrAddressInUse      = unix.EADDRINUSE
	ErrConnectionRefused = unix.ECONNREFUSED
)

// IsFull reports whether a file could not be written for want of room: on the disk, in a quota, or below a limit.
func IsFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}
