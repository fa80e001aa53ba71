//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package sys

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// OpenSerial opens a serial line for reading and writing and puts it into the state in which every byte arrives as it was
// sent: raw, eight bits without parity, modem lines ignored. The speed stays what it is, as stty(1) has set it. A named
// pipe or another character device is opened as it is.
func OpenSerial(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	if t, err := unix.IoctlGetTermios(fd, getTermios); err == nil { // else it is no terminal
		if err := makeRaw(fd, t); err != nil {
			unix.Close(fd)
			return nil, fmt.Errorf("setting up the line %s: %w", path, err)
		}
	}
	f := os.NewFile(uintptr(fd), path) // which polls, so that closing it ends a read
	if f.SetDeadline(time.Time{}) != nil {
		// macOS cannot poll all of its terminals. Reads that find nothing have to wait then.
		if err := unix.SetNonblock(fd, false); err != nil {
			f.Close()
			return nil, fmt.Errorf("setting up the line %s: %w", path, err)
		}
	}
	return f, nil
}

func makeRaw(fd int, t *unix.Termios) error {
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
	t.Cflag = t.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8 | unix.CLOCAL | unix.CREAD
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(fd, setTermios, t)
}
