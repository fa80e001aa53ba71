package fake

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"

	"tracewell/target"
)

func fileProgram(t *testing.T) *Target {
	f, err := New(Program{
		ISA: Toy, Description: ToyDescription(),
		Threads: []target.Thread{{ID: target.ThreadID{PID: 5, TID: 5}}},
		Files: map[string]*File{
			"/a": {Bytes: []byte("abc"), Mode: 0o600}, "/b": {Link: "/a", Mode: fs.ModeSymlink},
			"/c": {Link: "/c", Mode: fs.ModeSymlink}, "/d": {Mode: fs.ModeDir | 0o700},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFiles(t *testing.T) {
	fsys := fileProgram(t).Files()
	f, err := fsys.Open(5, "/b", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := f.WriteAt([]byte("XY"), 2); n != 2 || err != nil {
		t.Errorf("WriteAt: %d, %v", n, err)
	}
	if err := fsys.Unlink(5, "/a"); err != nil {
		t.Error(err)
	}
	b := make([]byte, 9)
	if n, err := f.ReadAt(b, 1); string(b[:n]) != "bXY" || err != io.EOF {
		t.Errorf("ReadAt: %q, %v", b[:n], err)
	}
	if stat, err := f.Stat(); err != nil || stat.Size != 4 || stat.Mode != 0o600 {
		t.Errorf("Stat: %+v, %v", stat, err)
	}
	if where, err := fsys.Readlink(0, "/b"); err != nil || where != "/a" {
		t.Errorf("Readlink: %q, %v", where, err)
	}
}

func TestFileErrors(t *testing.T) {
	fsys := fileProgram(t).Files()
	open := func(pid int, path string, flags int) error {
		_, err := fsys.Open(pid, path, flags, 0o600)
		return err
	}
	_, notLink := fsys.Readlink(0, "/a")
	for _, test := range []struct {
		err, want error
	}{
		{open(0, "/none", 0), target.ENOENT},
		{open(6, "/a", 0), target.ENOENT},
		{open(5, "/c", 0), target.EINVAL},
		{open(5, "/a", os.O_CREATE|os.O_EXCL), target.EEXIST},
		{open(5, "/d", os.O_WRONLY), target.EISDIR},
		{fsys.Unlink(5, "/d"), target.EISDIR},
		{notLink, target.EINVAL},
		{open(5, "/new", os.O_CREATE), nil},
	} {
		if !errors.Is(test.err, test.want) {
			t.Errorf("%v, expected %v", test.err, test.want)
		}
	}
}

// TestPassedSignalIsNoEvent has a signal pass and another stop the program.
func TestPassedSignalIsNoEvent(t *testing.T) {
	f := fileProgram(t)
	f.PassSignals([]target.Signal{14})
	f.Play(Step{Event: &target.Event{Signal: 14}}, Step{Event: &target.Event{Signal: 15}})
	if err := f.Resume([]target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}}); err != nil {
		t.Fatal(err)
	}
	if ev := <-f.Events(); ev.Signal != 15 {
		t.Errorf("event of signal %d, expected 15", ev.Signal)
	}
}
