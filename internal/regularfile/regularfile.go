// Package regularfile opens files that a document names, or that lie beside another file under a name of their own. Whoever made
// the document or the folder may have put anything there: opening a FIFO waits for a writer, and reading some devices never ends.
// So only regular files are opened, and what is read as a whole is limited.
package regularfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Open opens a file for reading. Anything but a regular file, or a symbolic link to one, is an error of type *fs.PathError; it
// is returned at once, also for a FIFO that nobody writes to.
func Open(name string) (*os.File, error) {
	// Opening a device may have effects. What cannot be looked at cannot be opened either, and the error is that of opening it.
	if status, err := os.Stat(name); err == nil {
		if err := refuse(name, status.Mode()); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonBlocking, 0) // another file may have taken the name since
	if err != nil {
		return nil, err
	}
	status, err := f.Stat()
	if err == nil {
		err = refuse(name, status.Mode())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read returns the content of a regular file. More than limit bytes are an error.
func Read(name string, limit int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadAll returns what is left of an open file, of whatever kind. More than limit bytes are an error.
func ReadAll(f *os.File, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, err
	}
	// Some files of /proc refuse to be read by single bytes.
	switch _, err = f.Read(make([]byte, 64)); err {
	case io.EOF:
		return content, nil
	case nil:
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("it has more than %d bytes", limit)}
	}
	return nil, err
}

// Folder is the regular files of a folder and of those below it, as os.DirFS names them.
type Folder string

var _ fs.FS = Folder("")

// Open implements fs.FS.
func (d Folder) Open(name string) (fs.File, error) {
	local, err := filepath.Localize(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := Open(filepath.Join(string(d), local))
	if err != nil {
		return nil, err
	}
	return f, nil
}

// kinds are those of files that are refused, by the bits of their mode. A character device has two of them.
var kinds = []struct {
	bit  fs.FileMode
	name string
}{
	{fs.ModeDir, "a directory"}, {fs.ModeNamedPipe, "a FIFO"}, {fs.ModeSocket, "a socket"}, {fs.ModeDevice, "a device"},
}

func refuse(name string, mode fs.FileMode) error {
	if mode.IsRegular() {
		return nil
	}
	kind := "a special file"
	for _, k := range kinds {
		if mode&k.bit != 0 {
			kind = k.name
		}
	}
	return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("it is %s, not a regular file", kind)}
}
