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
	if err := replace(name, write); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func replace(name string, write func(io.Writer) error) error {
	name, mode, err := destination(name)
	if err != nil {
		return err
	}
	draft, err := create(name)
	if err != nil {
		return err
	}
	err = fill(draft, write)
	if mode != 0 {
		err = errors.Join(err, draft.Chmod(mode))
	}
	err = errors.Join(err, draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return syncFolder(filepath.Dir(name))
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

// fill writes a file and has it reach the disk.
func fill(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, bufferSize)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// syncFolder makes a rename last.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
