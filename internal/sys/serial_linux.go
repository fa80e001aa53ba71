package sys

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// How termios(3) is read and written.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

// OpenTerminalPair opens a new pseudo-terminal. What is written to its master can be read from the terminal at path, and the
// other way round.
func OpenTerminalPair() (master *os.File, path string, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, "", &os.PathError{Op: "open", Path: "/dev/ptmx", Err: err}
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		unix.Close(fd)
		return nil, "", fmt.Errorf("unlocking a pseudo-terminal: %w", err)
	}
	return os.NewFile(uintptr(fd), "/dev/ptmx"), fmt.Sprintf("/dev/pts/%d", number), nil
}
