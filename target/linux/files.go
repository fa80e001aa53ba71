//go:build linux

package linux

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"tracewell/internal/sys"
	"tracewell/target"
)

// files is the file system of this process, and of those that are named. It needs no trace, so it does without the tracer.
//
// A process of another root, or in a container, is served by way of /proc/PID/root. Its symbolic links must be resolved as
// it would resolve them; a path is therefore walked by the kernel in that root, to the file itself or to the folder that
// holds it, and what was found is named through this process's own descriptor.
type files struct{}

// Open implements target.Files.
func (files) Open(pid int, name string, flags int, perm fs.FileMode) (target.File, error) {
	appends := flags&os.O_APPEND != 0
	flags = flags | sys.WithoutWaiting
	same, err := sameFiles(pid)
	if err != nil {
		return nil, fileError(err)
	}
	var f *os.File
	if same {
		f, err = os.OpenFile(name, flags, perm)
	} else {
		f, err = sys.OpenBeneath(sys.RootOf(pid), name, flags, perm)
	}
	if err != nil {
		return nil, fileError(err)
	}
	return &file{f, appends}, nil
}

func sameFiles(pid int) (bool, error) {
	if pid == 0 {
		return true, nil
	}
	return sys.SameFiles(pid)
}

// Stat implements target.Files.
func (files) Stat(pid int, name string) (target.FileStat, error) {
	same, err := sameFiles(pid)
	if err != nil {
		return target.FileStat{}, fileError(err)
	}
	if same {
		return fileStat(os.Stat(name))
	}
	f, err := sys.OpenBeneath(sys.RootOf(pid), name, sys.PathOnly, 0)
	if err != nil {
		return target.FileStat{}, fileError(err)
	}
	defer f.Close()
	return fileStat(f.Stat())
}

// Lstat implements target.Files.
func (files) Lstat(pid int, name string) (stat target.FileStat, err error) {
	err = withEntry(pid, name, func(entry string) (err error) {
		stat, err = fileStat(os.Lstat(entry))
		return err
	})
	return stat, err
}

// Unlink implements target.Files.
func (files) Unlink(pid int, name string) error {
	return withEntry(pid, name, func(entry string) error {
		info, err := os.Lstat(entry)
		if err != nil {
			return err
		}
		if info.IsDir() { // which os.Remove would remove if it is empty
			return fmt.Errorf("unlink %s: %w", name, target.EISDIR)
		}
		return os.Remove(entry)
	})
}

// Readlink implements target.Files.
func (files) Readlink(pid int, name string) (link string, err error) {
	err = withEntry(pid, name, func(entry string) (err error) {
		link, err = os.Readlink(entry)
		return err
	})
	return link, err
}

// withEntry calls f with a path to name whose last part is as it is in name: a symbolic link is not followed.
func withEntry(pid int, name string, f func(entry string) error) error {
	same, err := sameFiles(pid)
	switch {
	case err != nil:
		return fileError(err)
	case same:
		return fileError(f(name))
	}
	dir, err := sys.OpenBeneath(sys.RootOf(pid), path.Dir(name), sys.PathOnly, 0)
	if err != nil {
		return fileError(err)
	}
	defer dir.Close()
	return fileError(f(path.Join(sys.PathTo(dir), path.Base(name))))
}

// file is an open file.
type file struct {
	*os.File
	appends bool
}

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.File.ReadAt(p, offset)
	if err == io.EOF {
		return n, err
	}
	return n, fileError(err)
}

// WriteAt implements io.WriterAt. What goes to a file opened for appending goes to its end, whatever the offset.
func (f *file) WriteAt(p []byte, offset int64) (n int, err error) {
	if f.appends { // package os refuses WriteAt
		n, err = f.File.Write(p)
	} else {
		n, err = f.File.WriteAt(p, offset)
	}
	return n, fileError(err)
}

// Stat implements target.File.
func (f *file) Stat() (target.FileStat, error) { return fileStat(f.File.Stat()) }

// Close implements io.Closer.
func (f *file) Close() error { return fileError(f.File.Close()) }

// fileStat puts what package os tells into the target's words.
func fileStat(info fs.FileInfo, err error) (target.FileStat, error) {
	if err != nil {
		return target.FileStat{}, fileError(err)
	}
	s := sys.FileStatusOf(info)
	return target.FileStat{
		Device: s.Dev, Inode: s.Ino, Links: uint64(s.Nlink), Mode: info.Mode(), UID: s.Uid, GID: s.Gid, Special: s.Rdev,
		Size: s.Size, BlockSize: int64(s.Blksize), Blocks: s.Blocks,
		Accessed: time.Unix(s.Atim.Unix()), Modified: info.ModTime(), Changed: time.Unix(s.Ctim.Unix()),
	}, nil
}

// fileErrors are GDB's numbers for the kernel's.
var fileErrors = map[int]target.FileError{
	1: target.EPERM, 2: target.ENOENT, 4: target.EINTR, 5: target.EIO, 9: target.EBADF, 13: target.EACCES, 14: target.EFAULT,
	16: target.EBUSY, 17: target.EEXIST, 19: target.ENODEV, 20: target.ENOTDIR, 21: target.EISDIR, 22: target.EINVAL,
	23: target.ENFILE, 24: target.EMFILE, 27: target.EFBIG, 28: target.ENOSPC, 29: target.ESPIPE, 30: target.EROFS,
	36: target.ENAMETOOLONG, 38: target.ENOSYS,
}

// fileError adds the reason in GDB's words to an error of a file operation that has the kernel's.
func fileError(err error) error {
	if reason := fileErrors[sys.ErrorNumber(err)]; reason != 0 {
		return fmt.Errorf("%w (%w)", err, reason)
	}
	return err
}
