//go:build unix && !linux

package sys

import "golang.org/x/sys/unix"

// Errors of sockets, for errors.Is.
const (
	ErrAddressInUse      = unix.EADDRINUSE
	ErrConnectionRefused = unix.ECONNREFUSED
)
