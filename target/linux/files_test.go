//go:build linux

package linux

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/internal/test/testtool"
	"tracewell/target"
)

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	var fsys files
	f, err := fsys.Open(0, path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.WriteAt([]byte("0123456789"), 2); n != 10 || err != nil {
		t.Errorf("WriteAt: %d, %v", n, err)
	}
	b := make([]byte, 100)
	if n, err := f.ReadAt(b, 1); string(b[:n]) != "\x000123456789" || err != io.EOF {
		t.Errorf("ReadAt: %q, %v", b[:n], err)
	}
	opened, err := f.Stat()
	if err != nil || opened.Size != 12 || opened.Mode != 0o640 || opened.Links != 1 || opened.Inode == 0 || opened.Modified.IsZero() {
		t.Errorf("Stat: %+v, %v", opened, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if stat, err := fsys.Stat(0, link); err != nil || stat.Inode != opened.Inode {
		t.Errorf("Stat of the link: %+v, %v", stat, err)
	}
	if stat, err := fsys.Lstat(0, link); err != nil || stat.Mode.Type() != fs.ModeSymlink {
		t.Errorf("Lstat of the link: %+v, %v", stat, err)
	}
	if where, err := fsys.Readlink(0, link); err != nil || where != "file" {
		t.Errorf("Readlink: %q, %v", where, err)
	}
	if err := fsys.Unlink(0, path); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

// TestFileErrors looks for GDB's reasons.
func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	var fsys files
	open := func(path string, flags int) error {
		f, err := fsys.Open(0, path, flags, 0)
		if err == nil {
			f.Close()
		}
		return err
	}
	_, noLink := fsys.Readlink(0, dir)
	_, noProcess := fsys.Stat(1<<30, dir)
	for _, test := range []struct {
		what string
		err  error
		want target.FileError
	}{
		{"open what there is not", open(filepath.Join(dir, "none"), 0), target.ENOENT},
		{"open a folder to write", open(dir, os.O_WRONLY), target.EISDIR},
		{"open behind a file", open("/proc/self/maps/x", 0), target.ENOTDIR},
		{"open a long name", open(filepath.Join(dir, strings.Repeat("n", 300)), 0), target.ENAMETOOLONG},
		{"unlink an empty folder", fsys.Unlink(0, dir), target.EISDIR},
		{"read a folder as a link", noLink, target.EINVAL},
		{"look at the files of no process", noProcess, target.ENOENT},
	} {
		var got target.FileError
		if !errors.As(test.err, &got) || got != test.want {
			t.Errorf("%s: %v, expected %q", test.what, test.err, test.want)
		}
	}
}

// TestOpenDoesNotWait opens a pipe that nobody writes to, and reads what has no place to read from.
func TestOpenDoesNotWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if out, err := testtool.Command(t, "mkfifo", path).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v: %s", err, out)
	}
	f, err := files{}.Open(0, path, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, target.ESPIPE) {
		t.Errorf("ReadAt: %v", err)
	}
}

func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("old "), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := files{}.Open(0, path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("new"), 0); err != nil {
		t.Error(err)
	}
	f.Close()
	if b, err := os.ReadFile(path); err != nil || string(b) != "old new" {
		t.Errorf("the file holds %q, %v", b, err)
	}
}

// TestFilesOfContainer looks at the files of a process that has mounts of its own.
func TestFilesOfContainer(t *testing.T) {
	dir := t.TempDir()
	pid := startInContainer(t, dir, `echo inside > file; ln -s `+dir+`/file link; mkdir folder`)
	var fsys files
	name := func(s string) string { return filepath.Join(dir, s) }
	if _, err := fsys.Stat(0, name("file")); !errors.Is(err, target.ENOENT) {
		t.Fatalf("the server sees the file of the container: %v", err)
	}
	f, err := fsys.Open(pid, name("link"), os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 100)
	if n, err := f.ReadAt(b, 0); string(b[:n]) != "inside\n" || err != io.EOF {
		t.Errorf("ReadAt: %q, %v", b[:n], err)
	}
	if stat, err := fsys.Stat(pid, name("link")); err != nil || !stat.Mode.IsRegular() || stat.Size != 7 {
		t.Errorf("Stat: %+v, %v", stat, err)
	}
	if stat, err := fsys.Lstat(pid, name("link")); err != nil || stat.Mode.Type() != fs.ModeSymlink {
		t.Errorf("Lstat: %+v, %v", stat, err)
	}
	if where, err := fsys.Readlink(pid, name("link")); err != nil || where != name("file") {
		t.Errorf("Readlink: %q, %v", where, err)
	}
	if err := fsys.Unlink(pid, name("folder")); !errors.Is(err, target.EISDIR) {
		t.Errorf("Unlink of a folder: %v", err)
	}
	if err := fsys.Unlink(pid, name("link")); err != nil {
		t.Error(err)
	}
	if _, err := fsys.Lstat(pid, name("link")); !errors.Is(err, target.ENOENT) {
		t.Errorf("the link is still there: %v", err)
	}
	if f, err := fsys.Open(pid, name("new"), os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
}

// startInContainer starts a process that has a file system of its own mounted on dir, and runs a script there.
func startInContainer(t *testing.T, dir, script string) int {
	cmd := testtool.Command(t, "unshare", "--mount", "sh", "-ec",
		fmt.Sprintf("mount -t tmpfs none %s; cd %s; %s; cd /; echo ready; exec sleep 60", dir, dir, script))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if b, err := io.ReadAll(io.LimitReader(out, int64(len("ready")))); err != nil || string(b) != "ready" {
		t.Fatal("mounting is not permitted; the tests run as root")
	}
	return cmd.Process.Pid
}
