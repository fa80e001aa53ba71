//go:build linux

package sys

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// spare is a file descriptor that is kept for looks at /proc. A tracer that could not tell whether a thread lives, since it may
// open no more files, would leave a program in disorder.
var spare struct {
	sync.Mutex
	kept *os.File
}

// KeepSpare has looks at /proc succeed from now on, though this process may open no more files.
func KeepSpare() {
	spare.Lock()
	defer spare.Unlock()
	if spare.kept == nil {
		spare.kept, _ = os.Open(os.DevNull)
	}
}

// look reads a file of /proc, which it closes. It is given the spare descriptor if there is no other.
func look[T any](read func() (T, error)) (T, error) {
	v, err := read()
	if !errors.Is(err, unix.EMFILE) && !errors.Is(err, unix.ENFILE) {
		return v, err
	}
	spare.Lock()
	defer spare.Unlock()
	if spare.kept == nil {
		return v, err
	}
	spare.kept.Close()
	v, err = read()
	spare.kept, _ = os.Open(os.DevNull)
	return v, err
}
