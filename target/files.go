package target

import (
	"io"
	"io/fs"
	"time"
)

// Files gives the files that the program sees. Every method names the process whose file system is meant: one in a
// container has another root than the server; pid 0 is the server itself. Errors wrap the FileError that tells the reason,
// as far as the list of those has one.
type Files interface {
	// Open opens a file for the flags of package os. It never waits, for instance for the other end of a pipe.
	Open(pid int, path string, flags int, perm fs.FileMode) (File, error)
	// Stat tells of a file, and Lstat of a symbolic link itself.
	Stat(pid int, path string) (FileStat, error)
	Lstat(pid int, path string) (FileStat, error)
	// Unlink removes a file, but no directory.
	Unlink(pid int, path string) error
	// Readlink returns what a symbolic link holds.
	Readlink(pid int, path string) (string, error)
}

// File is an open file. A short read means the end of the file; its error is io.EOF then.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (FileStat, error)
}

// FileStat is what a file system tells of a file. What it does not tell is zero.
type FileStat struct {
	Device, Inode, Links uint64
	Mode                 fs.FileMode
	UID, GID             uint32
	Special              uint64 // the device that a device file stands for
	Size                 int64  // in bytes
	BlockSize            int64  // in bytes, to read and write best
	Blocks               int64  // of 512 bytes, that it occupies

	Accessed, Modified, Changed time.Time
}

// FileError is the reason why a file operation failed, by GDB's number (GDB manual, File-I/O, Errno Values).
type FileError int

// The reasons that GDB knows, named as in the manual.
const (
	EPERM        FileError = 1
	ENOENT       FileError = 2
	EINTR        FileError = 4
	EIO          FileError = 5
	EBADF        FileError = 9
	EACCES       FileError = 13
	EFAULT       FileError = 14
	EBUSY        FileError = 16
	EEXIST       FileError = 17
	ENODEV       FileError = 19
	ENOTDIR      FileError = 20
	EISDIR       FileError = 21
	EINVAL       FileError = 22
	ENFILE       FileError = 23
	EMFILE       FileError = 24
	EFBIG        FileError = 27
	ENOSPC       FileError = 28
	ESPIPE       FileError = 29
	EROFS        FileError = 30
	ENOSYS       FileError = 88
	ENAMETOOLONG FileError = 91
	EUNKNOWN     FileError = 9999
)

var fileErrorTexts = map[FileError]string{
	EPERM: "operation not permitted", ENOENT: "no such file or directory", EINTR: "interrupted", EIO: "input/output error",
	EBADF: "file not open", EACCES: "permission denied", EFAULT: "bad address", EBUSY: "resource busy",
	EEXIST: "file exists", ENODEV: "no such device", ENOTDIR: "not a directory", EISDIR: "is a directory",
	EINVAL: "invalid argument", ENFILE: "too many open files in the system", EMFILE: "too many open files",
	EFBIG: "file too large", ENOSPC: "no space left", ESPIPE: "cannot seek", EROFS: "read-only file system",
	ENOSYS: "not implemented", ENAMETOOLONG: "name too long",
}

// Error gives the reason in words.
func (e FileError) Error() string {
	if text, ok := fileErrorTexts[e]; ok {
		return text
	}
	return "unknown error"
}
