//go:build linux

package sys

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"tracewell/internal/test/testtool"
)

func TestParseMapping(t *testing.T) {
	for line, want := range map[string]Mapping{
		"00400000-00401000 r-xp 00001000 fe:00 1234                               /tmp/a b": {
			Start: 0x400000, End: 0x401000, Read: true, Exec: true, Private: true, Offset: 0x1000, Inode: 1234, Path: "/tmp/a b"},
		"7ffd1000-7ffd3000 rw-p 00000000 00:00 0                                  [stack]": {
			Start: 0x7ffd1000, End: 0x7ffd3000, Read: true, Write: true, Private: true, Path: "[stack]"},
		"10000-20000 ---s 00000000 00:00 0 ": {Start: 0x10000, End: 0x20000},
	} {
		if got, err := parseMapping(line); err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", line, got, err, want)
		}
	}
	for _, line := range []string{"", "400000", "zz-yy r-xp 0 0:0 0", "400000-401000 rx 0 0:0 0"} {
		if m, err := parseMapping(line); err == nil {
			t.Errorf("%q: got %+v, want an error", line, m)
		}
	}
}

func BenchmarkParseMapping(b *testing.B) {
	const line = "7ffff7dd5000-7ffff7f2b000 r-xp 00026000 fe:00 1181                       /usr/lib/x86_64-linux-gnu/libc.so.6"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseMapping(line); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMappingsOfThisProcess(t *testing.T) {
	maps, err := Mappings(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range maps {
		if m.Start >= m.End || i > 0 && m.Start < maps[i-1].End {
			t.Errorf("mapping %d is out of order: %+v", i, m)
		}
	}
}

func TestLastCPU(t *testing.T) {
	const before = "1 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 "
	if cpu, err := lastCPU([]byte(before + "17 0 0\n")); err != nil || cpu != 17 {
		t.Errorf("got %d, %v, want 17", cpu, err)
	}
	if cpu, err := lastCPU([]byte("1 (a) S 1 2")); err == nil {
		t.Errorf("got %d from a short line, want an error", cpu)
	}
}

func TestSharesMemory(t *testing.T) {
	if SharesMemory(os.Getpid(), os.Getppid()) {
		t.Error("this process shares its memory with its parent")
	}
}

func TestThread(t *testing.T) {
	pid := os.Getpid()
	if cpu, err := ThreadCPU(pid); err != nil || cpu < 0 || cpu > 1<<13 {
		t.Errorf("this process ran on %d, %v", cpu, err)
	}
	want, err := os.ReadFile("/proc/self/comm")
	if got := ThreadName(pid); err != nil || got+"\n" != string(want) {
		t.Errorf("this process is called %q, %v, want %q", got, err, want)
	}
	const none = 1 << 22 // the first number that no thread can have
	if cpu, err := ThreadCPU(none); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a thread that does not exist ran on %d, %v", cpu, err)
	}
	if got := ThreadName(none); got != "" {
		t.Errorf("a thread that does not exist is called %q", got)
	}
}

func TestHasEnded(t *testing.T) {
	if HasEnded(os.Getpid()) {
		t.Error("this process has not ended")
	}
	cmd := testtool.Command(t, "true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 6000 {
		if HasEnded(cmd.Process.Pid) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !HasEnded(cmd.Process.Pid) {
		t.Error("a child that has yet to be waited for has not ended")
	}
	cmd.Wait()
	if !HasEnded(cmd.Process.Pid) {
		t.Error("a child that has been waited for has not ended")
	}
}

func TestScheduleLook(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s, err := OpenSchedule(ThreadID())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var buf [512]byte
	before, err := s.Look(buf[:])
	if err != nil || !before.Runnable || before.Slices == 0 {
		t.Errorf("this thread: %+v, %v, want one that runs and has run", before, err)
	}
	time.Sleep(2 * time.Millisecond)
	if now, err := s.Look(buf[:]); err != nil || now.Slices <= before.Slices || now.Delay < before.Delay {
		t.Errorf("this thread after a sleep: %+v, %v, was %+v", now, err, before)
	}
}
