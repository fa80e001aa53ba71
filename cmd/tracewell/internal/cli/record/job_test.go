//go:build linux && amd64

package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/sys"
	"tracewell/internal/test/testprog"
)

// jobShell is an interactive one on a terminal, with job control.
type jobShell struct {
	*clitest.Session
	t *testing.T
}

func startShell(t *testing.T) *jobShell {
	t.Helper()
	bash := exec.Command("/bin/bash", "--norc", "--noprofile", "-i")
	bash.Env = append(os.Environ(), "TERM=dumb", "PS1=prompt> ", "HISTFILE=")
	bash.Dir = t.TempDir()
	s := &jobShell{clitest.StartOnPTY(t, bash), t}
	s.Screen.Shows(t, "prompt> ")
	return s
}

// types types keys and waits until the terminal shows a text that was not there before.
func (s *jobShell) types(keys, shows string) {
	s.t.Helper()
	s.Screen.Mu.Lock()
	s.Screen.Text.Reset()
	s.Screen.Mu.Unlock()
	io.WriteString(s.Typist, keys)
	if shows != "" {
		s.Screen.Shows(s.t, shows)
	}
}

// tracewell is the command line that runs this program.
func (s *jobShell) tracewell(args ...string) string {
	return fmt.Sprintf("%s='%s' %s\n", clitest.OnTerminal, strings.Join(args, " "), os.Args[0])
}

// toFront puts the job into the foreground, where it is when the terminal is no longer the shell's.
func (s *jobShell) toFront() {
	s.t.Helper()
	s.types("fg\n", "")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		group, err := sys.ForegroundGroup(int(s.Typist.(*os.File).Fd()))
		if err == nil && group != s.Command.Process.Pid {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the shell keeps the terminal: %v", err)
		}
	}
}

// jobsShow waits until the shell says something of its jobs.
func (s *jobShell) jobsShow(want string) {
	s.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		s.types("jobs; echo the end of jobs\n", "\nthe end of jobs\r\n")
		text := s.Screen.Shows(s.t, "\r\nprompt> ")
		switch {
		case strings.Contains(text, want):
			return
		case time.Now().After(deadline):
			s.t.Fatalf("no job is %s:\n%s", want, text)
		}
	}
}

// TestRecordJob: a program and its recorder are one job of a shell, in the foreground, stopped and in the background.
func TestRecordJob(t *testing.T) {
	s := startShell(t)
	path := filepath.Join(t.TempDir(), "run.tf")
	s.types(s.tracewell("record", "-o", path, "--at", "write", "--", "cat"), "Recording ")
	s.types("one\n", "one\r\none\r\n")
	for range 2 {
		s.types("\x1a", "Stopped")
		s.types("jobs\n", "Stopped")
		s.toFront()
		s.types("two\n", "two\r\ntwo\r\n")
	}
	s.types("\x1a", "Stopped")
	s.types("bg\n", "&\r\n") // where cat wants to read, which stops it, and the recorder with it
	s.jobsShow("Stopped")
	s.toFront()
	s.types("three\n", "three\r\nthree\r\n")
	s.types("\x04", "the program exited with status 0")
	s.types("echo status $?\n", "\nstatus 0\r\n")
	if shown := clitest.Run(t, "show", path, "--count"); shown.Stdout != "4\n" {
		t.Errorf("show --count prints %s%s", shown.Stdout, shown.Stderr)
	}
}

// TestRecordJobStoppedByName: kill -TSTP of the recorder stops the program, too.
func TestRecordJobStoppedByName(t *testing.T) {
	s := startShell(t)
	path := filepath.Join(t.TempDir(), "run.tf")
	s.types(s.tracewell("record", "-o", path, "--at", "nanosleep", "--", "sleep", "100"), "Recording ")
	s.types("\x1a", "Stopped")
	s.types("bg\n", "&\r\n")
	s.types("kill -TSTP %1\n", "prompt> ")
	s.jobsShow("Stopped")
	s.types("kill -INT %1; kill -CONT %1; wait %1; echo status $?\n", "\nstatus ")
}

// TestRecordJobAttached: a recorder that is stopped from its terminal goes on in the background, and the process that it is attached to
// does not stand still.
func TestRecordJobAttached(t *testing.T) {
	t.Run("traps", func(t *testing.T) { stopAttached(t, "", "") })
	// Pads are off while the recorder is stopped, and what is missing for that is told.
	t.Run("pads", func(t *testing.T) { stopAttached(t, "--pads", "are missing: tracewell was stopped") })
}

// stopAttached is TestRecordJobAttached with an option, by which the recorder says something when it goes on.
func stopAttached(t *testing.T, option, says string) {
	p := testprog.Build(t, "busy", testprog.Variant{})
	busy := exec.Command(p.Path, "4")
	in, err1 := busy.StdinPipe()
	out, err2 := busy.StdoutPipe()
	if err := errors.Join(err1, err2, busy.Start()); err != nil {
		t.Fatal(err)
	}
	defer busy.Wait()
	defer busy.Process.Kill()
	lines := bufio.NewReader(out)
	progress := func() testprog.Record {
		t.Helper()
		io.WriteString(in, "?")
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return testprog.Records(line)[0]
	}
	progress()
	s := startShell(t)
	path := filepath.Join(t.TempDir(), "run.tf")
	s.types(s.tracewell("record", option, "-o", path, "--at", "tick", "--pid", fmt.Sprint(busy.Process.Pid)), "Recording ")
	for range 3 {
		s.types("\x1a", "Stopped")
		if says != "" {
			s.Screen.Shows(t, says)
		}
		// Threads that stand still take no more signals, and get no more when some wait.
		first := progress().Int(t, "signals")
		for end := time.Now().Add(20 * time.Second); progress().Int(t, "signals") < first+1000; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the process stands still: %v", progress().Fields)
			}
		}
		s.toFront()
	}
	s.types("\x1a", "Stopped")
	// The shell may have heard that it stopped, and not yet that it goes on: then wait returns at once.
	s.types("kill -TERM %1; s=148; while [ $s -gt 128 ]; do wait %1 2>/dev/null; s=$?; done; echo status $s\n", "\nstatus 0\r\n")
	if line := progress(); line.Int(t, "wrong")+line.Int(t, "disorder")+line.Int(t, "other") != 0 {
		t.Errorf("the process says %v", line.Fields)
	}
	if err := busy.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the process is gone: %v", err)
	}
}
