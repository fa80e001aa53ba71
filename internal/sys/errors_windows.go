package sys

import "syscall"

// Errors of sockets, for errors.Is: WSAEADDRINUSE and WSAECONNREFUSED.
const (
	ErrAddressInUse      = syscall.Errno(10048)
	ErrConnectionRefused = syscall.Errno(10061)
)
