package remote

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"tracewell/rsp/client"
	"tracewell/rsp/request"
	"tracewell/target"
)

// Files implements target.Groups by host I/O (vFile), which no feature announces: a stub without it opens no file.
func (t *Target) Files() target.Files {
	if !t.processes {
		return nil
	}
	return files{t}
}

// files are those of the stub's machine, to be read.
type files struct{ t *Target }

// Open implements target.Files for reading.
func (f files) Open(_ int, path string, flags int, _ fs.FileMode) (target.File, error) {
	if flags != os.O_RDONLY {
		return nil, target.ErrUnsupported
	}
	opened := &file{t: f.t, path: path}
	err := f.t.do(func() error {
		fd, _, err := client.File(f.t.c, request.OpenFile, request.FileOpen{Path: path})
		opened.fd = int(fd)
		return f.t.check(err)
	})
	if err != nil {
		return nil, fmt.Errorf("%s at the stub: %w", path, err)
	}
	return opened, nil
}

// Stat implements target.Files.
func (files) Stat(int, string) (target.FileStat, error) {
	return target.FileStat{}, target.ErrUnsupported
}

// Lstat implements target.Files.
func (files) Lstat(int, string) (target.FileStat, error) {
	return target.FileStat{}, target.ErrUnsupported
}

// Unlink implements target.Files.
func (files) Unlink(int, string) error { return target.ErrUnsupported }

// Readlink implements target.Files.
func (files) Readlink(int, string) (string, error) { return "", target.ErrUnsupported }

// file is a descriptor of the stub's. It stays open there until Close, or the end of the connection.
type file struct {
	t    *Target
	path string
	fd   int
}

// ReadAt implements target.File. A stub may return fewer bytes than it is asked for anywhere, but none only at the end.
func (f *file) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) && err == nil {
		var content []byte
		err = f.t.do(func() (err error) {
			// Half a packet: every byte may take two.
			part := request.FileRead{Descriptor: f.fd, Count: uint64(min(len(p)-n, f.t.c.PacketSize()/2)), Offset: at + int64(n)}
			_, content, err = client.File(f.t.c, request.ReadFile, part)
			return f.t.check(err)
		})
		switch {
		case err != nil:
			err = fmt.Errorf("%s at the stub: %w", f.path, err)
		case len(content) == 0:
			err = io.EOF
		case len(content) > len(p)-n:
			err = fmt.Errorf("%s at the stub: a read brings %d bytes more than it is asked for", f.path, len(content)-len(p)+n)
		default:
			n += copy(p[n:], content)
		}
	}
	return n, err
}

// WriteAt implements target.File.
func (*file) WriteAt([]byte, int64) (int, error) { return 0, target.ErrUnsupported }

// Stat implements target.File.
func (*file) Stat() (target.FileStat, error) { return target.FileStat{}, target.ErrUnsupported }

// Close implements target.File.
func (f *file) Close() error {
	err := f.t.do(func() error {
		_, _, err := client.File(f.t.c, request.CloseFile, f.fd)
		return f.t.check(err)
	})
	if errors.Is(err, errClosed) { // and the file with the connection
		return nil
	}
	return err
}
