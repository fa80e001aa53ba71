//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd || windows)

package sys

import "os"

// OpenSerial opens a serial line or a named pipe as it is: its user has to put a line into raw mode.
func OpenSerial(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }
