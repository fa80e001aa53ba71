//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package sys

import "golang.org/x/sys/unix"

// How termios(3) is read and written.
const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)
