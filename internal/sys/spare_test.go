//go:build linux

package sys

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSpare looks at /proc while this process may open no more files.
func TestSpare(t *testing.T) {
	KeepSpare()
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(spare.kept.Fd()) + 1, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &before)
	for {
		f, err := os.Open(os.DevNull)
		if errors.Is(err, unix.EMFILE) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	self := os.Getpid()
	for range 2 {
		if HasEnded(self) {
			t.Error("a process that lives has ended")
		}
		if group, err := ThreadGroup(self); group != self {
			t.Errorf("thread group %d, %v, want %d", group, err, self)
		}
		if maps, err := Mappings(self); len(maps) == 0 {
			t.Errorf("no mappings: %v", err)
		}
		if tids, err := Threads(self); len(tids) == 0 {
			t.Errorf("no threads: %v", err)
		}
		if ThreadName(self) == "" {
			t.Error("no name")
		}
	}
}
