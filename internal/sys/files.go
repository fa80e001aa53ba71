//go:build linux

package sys

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Flags for opening files besides those of package os.
const (
	// WithoutWaiting keeps the opening of a pipe or terminal from waiting, and from making the latter this process's own.
	WithoutWaiting = unix.O_NONBLOCK | unix.O_NOCTTY
	NoTerminal     = unix.O_NOCTTY // a terminal that is opened does not become the controlling one
	// PathOnly opens any file, even one that may not be read, just to hold on to it.
	PathOnly = unix.O_PATH
)

// SameFiles reports whether a path means the same file to pid as to this process: both have the same mounts and the same
// root.
func SameFiles(pid int) (bool, error) {
	for _, name := range []string{"ns/mnt", "root"} {
		theirs, err := os.Readlink(procPath(pid, name))
		if err != nil {
			return false, err
		}
		ours, err := os.Readlink("/proc/self/" + name)
		if err != nil || ours != theirs {
			return false, err
		}
	}
	return true, nil
}

// RootOf is a path to the root of the file system that pid sees.
func RootOf(pid int) string { return procPath(pid, "root") }

// OpenBeneath opens path as a process would whose root is the folder root: absolute symbolic links and ".." stay in it.
func OpenBeneath(root, path string, flags int, perm fs.FileMode) (*os.File, error) {
	dir, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: root, Err: err}
	}
	defer unix.Close(dir)
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_IN_ROOT}
	if flags&os.O_CREATE != 0 {
		how.Mode = uint64(perm.Perm())
	}
	fd, err := unix.Openat2(dir, path, &how)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// PathTo is a path to a file that this process has open.
func PathTo(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

// ErrorNumber is the kernel's number of the error in err, 0 if there is none.
func ErrorNumber(err error) int {
	var number syscall.Errno
	if errors.As(err, &number) {
		return int(number)
	}
	return 0
}

// FileStatus is what the kernel keeps of a file.
type FileStatus = syscall.Stat_t

// FileStatusOf takes the kernel's part out of what package os tells of a file.
func FileStatusOf(info fs.FileInfo) *FileStatus { return info.Sys().(*syscall.Stat_t) }

// IsFull reports whether a file could not be written for want of room: on the disk, in a quota, or below a limit.
func IsFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}
