// Package wholefile writes files that are whole or not there: who reads one, at any time and whatever happens, finds what was
// there before or all that has been written.
package wholefile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// bufferSize is enough that the kernel's part of writing does not count.
const bufferSize = 1 << 18

// Write has the file of that name written by a function, in place of one that exists. A symbolic link stays and the file that
// it leads to is replaced. The new file has the permissions of the old one, or without one those that the umask leaves.
//
// The bytes go to a file beside it, which takes its name when they are on the disk. If anything fails, which the error says,
// the old file is as it was and the new one gone.
func Write(name string, write func(io.Writer) error) error {
	return WriteTogether([]string{name}, func(files []io.Writer) error { return write(files[0]) })
}

// WriteTogether is Write for files that only make sense together. None takes its name before all of them are on the disk; then they
// do in the order of names, so that the last one can say that the others are there.
func WriteTogether(names []string, write func([]io.Writer) error) error {
	if err := replace(names, write); err != nil {
		return fmt.Errorf("write %s: %w", names[0], err)
	}
	return nil
}

// A draft is a file that has not taken its name yet.
type draft struct {
	*os.File
	name string      // that it is to take
	mode fs.FileMode // that it is to have, 0 for what it has
}

func replace(names []string, write func([]io.Writer) error) (err error) {
	var drafts []draft
	defer func() { // what has taken its name is not among them any more
		for _, d := range drafts {
			d.Close() // again, unless a later one could not be made
			err = errors.Join(err, os.Remove(d.Name()))
		}
	}()
	for _, name := range names {
		path, mode, err := destination(name)
		if err != nil {
			return err
		}
		file, err := create(path)
		if err != nil {
			return err
		}
		drafts = append(drafts, draft{file, path, mode})
	}
	err = fill(drafts, write)
	for _, d := range drafts {
		if d.mode != 0 {
			err = errors.Join(err, d.Chmod(d.mode))
		}
		err = errors.Join(err, d.Close())
	}
	for err == nil && len(drafts) > 0 {
		if err = os.Rename(drafts[0].Name(), drafts[0].name); err == nil {
			err = syncFolder(filepath.Dir(drafts[0].name))
			drafts = drafts[1:]
		}
	}
	return err
}

// destination is the path of what name leads to and, if that exists, its permissions. Anything but a regular file, as a folder
// or a device, could only be replaced by destroying it.
func destination(name string) (path string, mode fs.FileMode, err error) {
	path, err = filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		return name, 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	status, err := os.Stat(path)
	if err != nil {
		return "", 0, err
	}
	if !status.Mode().IsRegular() {
		return "", 0, errors.New("it exists and is not a regular file")
	}
	return path, status.Mode().Perm(), nil
}

// create opens a new file beside name. Package os makes temporary files for their owner alone, so the name is found here.
func create(name string) (*os.File, error) {
	for i := 0; ; i++ {
		draft := fmt.Sprintf("%s.%d.%d.part", name, os.Getpid(), i)
		f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// fill writes the files and has them reach the disk.
func fill(drafts []draft, write func([]io.Writer) error) error {
	buffers := make([]*bufio.Writer, len(drafts))
	files := make([]io.Writer, len(drafts))
	for i, d := range drafts {
		buffers[i] = bufio.NewWriterSize(d, bufferSize)
		files[i] = buffers[i]
	}
	if err := write(files); err != nil {
		return err
	}
	for i, d := range drafts {
		if err := buffers[i].Flush(); err != nil {
			return err
		}
		if err := d.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// syncFolder makes a rename last.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
