package fake

import (
	"io"
	"io/fs"
	"os"

	"tracewell/target"
)

// File is a file of a program.
type File struct {
	Bytes []byte
	Mode  fs.FileMode
	Link  string // what a symbolic link holds: an absolute path
}

// files is the file system of the program. The server's own, of pid 0, is the same; there is none of another process.
type files struct{ t *Target }

// find returns the file at a path, behind symbolic links if follow says so. The target's mutex is held.
func (fsys files) find(pid int, path string, follow bool) (*File, error) {
	if pid != 0 {
		if _, err := fsys.t.find(target.ThreadID{PID: pid, TID: target.All}); err != nil {
			return nil, target.ENOENT
		}
	}
	// A chain of links that is longer, or a circle, is EINVAL: among the errors of vFile there is no ELOOP.
	const maxLinks = 8
	for range maxLinks {
		f := fsys.t.program.Files[path]
		if f == nil {
			return nil, target.ENOENT
		}
		if f.Link == "" || !follow {
			return f, nil
		}
		path = f.Link
	}
	return nil, target.EINVAL
}

// Open supports the flags os.O_CREATE, os.O_EXCL and os.O_TRUNC. The access mode is looked at for folders only: permissions are the
// affair of a real system, and are tested there.
func (fsys files) Open(pid int, path string, flags int, perm fs.FileMode) (target.File, error) {
	fsys.t.mu.Lock()
	defer fsys.t.mu.Unlock()
	f, err := fsys.find(pid, path, true)
	switch {
	case err == target.ENOENT && flags&os.O_CREATE != 0:
		f = &File{Mode: perm}
		fsys.t.program.Files[path] = f
	case err != nil:
		return nil, err
	case flags&os.O_EXCL != 0:
		return nil, target.EEXIST
	case f.Mode.IsDir() && flags&(os.O_WRONLY|os.O_RDWR) != 0:
		return nil, target.EISDIR
	}
	if flags&os.O_TRUNC != 0 {
		f.Bytes = nil
	}
	return openFile{fsys.t, f}, nil
}

// Stat implements target.Files.
func (fsys files) Stat(pid int, path string) (target.FileStat, error) {
	return fsys.stat(pid, path, true)
}

// Lstat implements target.Files.
func (fsys files) Lstat(pid int, path string) (target.FileStat, error) {
	return fsys.stat(pid, path, false)
}

func (fsys files) stat(pid int, path string, follow bool) (target.FileStat, error) {
	fsys.t.mu.Lock()
	defer fsys.t.mu.Unlock()
	f, err := fsys.find(pid, path, follow)
	if err != nil {
		return target.FileStat{}, err
	}
	return f.stat(), nil
}

func (f *File) stat() target.FileStat {
	return target.FileStat{Mode: f.Mode, Links: 1, Size: int64(len(f.Bytes)), BlockSize: 4096}
}

// Unlink implements target.Files.
func (fsys files) Unlink(pid int, path string) error {
	fsys.t.mu.Lock()
	defer fsys.t.mu.Unlock()
	f, err := fsys.find(pid, path, false)
	switch {
	case err != nil:
		return err
	case f.Mode.IsDir():
		return target.EISDIR
	}
	delete(fsys.t.program.Files, path)
	return nil
}

// Readlink implements target.Files.
func (fsys files) Readlink(pid int, path string) (string, error) {
	fsys.t.mu.Lock()
	defer fsys.t.mu.Unlock()
	f, err := fsys.find(pid, path, false)
	if err == nil && f.Link == "" {
		err = target.EINVAL
	}
	if err != nil {
		return "", err
	}
	return f.Link, nil
}

// openFile is a file that stays what it is when it is unlinked, as POSIX has it. GDB reads a library through its descriptor while
// the program may have replaced the file (vFile:open, then vFile:pread).
type openFile struct {
	t *Target
	f *File
}

// ReadAt implements io.ReaderAt.
func (o openFile) ReadAt(p []byte, offset int64) (int, error) {
	o.t.mu.Lock()
	defer o.t.mu.Unlock()
	if offset >= int64(len(o.f.Bytes)) {
		return 0, io.EOF
	}
	n := copy(p, o.f.Bytes[offset:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// maxFile keeps a write far away from taking all memory.
const maxFile = 1 << 20

// WriteAt implements io.WriterAt.
func (o openFile) WriteAt(p []byte, offset int64) (int, error) {
	o.t.mu.Lock()
	defer o.t.mu.Unlock()
	if offset > maxFile-int64(len(p)) {
		return 0, target.EFBIG
	}
	if missing := offset + int64(len(p)) - int64(len(o.f.Bytes)); missing > 0 {
		o.f.Bytes = append(o.f.Bytes, make([]byte, missing)...)
	}
	return copy(o.f.Bytes[offset:], p), nil
}

// Stat implements target.File.
func (o openFile) Stat() (target.FileStat, error) {
	o.t.mu.Lock()
	defer o.t.mu.Unlock()
	return o.f.stat(), nil
}

// Close implements io.Closer.
func (openFile) Close() error { return nil }
