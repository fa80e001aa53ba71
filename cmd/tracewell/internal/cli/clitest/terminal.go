//go:build linux

package clitest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tracewell/internal/routine"
	"tracewell/internal/sys"
	"tracewell/internal/test/testtool"
)

// AsTracewell puts a command tracewell into the PATH: a script that executes this test binary, with the arguments in the
// environment, as the testing package would take them for its own flags. Arguments must not hold blanks.
func AsTracewell(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// exec keeps the process ID that the caller has started, so that signals reach the command and not the shell.
	script := fmt.Sprintf("#!/bin/sh\n%s=\"$*\" exec %s\n", OnTerminal, self)
	if err := os.WriteFile(filepath.Join(folder, "tracewell"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
}

// Shell runs a script with sh and returns what it prints on both streams, and its exit status. A script that cannot be started
// fails the test.
func Shell(t *testing.T, script string, env ...string) (string, int) {
	t.Helper()
	c := exec.Command(testtool.Path(t, "sh"), "-c", script)
	c.Env = append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	return string(out), c.ProcessState.ExitCode()
}

// Session is a command line that runs on a pseudo-terminal of its own, in a session of its own, so that keys have their effect
// there and nowhere else.
type Session struct {
	Screen  Screen
	Command *exec.Cmd
	Typist  io.Writer
}

// OnPTY runs a command line of tracewell on a terminal, as this test binary, with variables added to the environment.
func OnPTY(t *testing.T, variables []string, args ...string) *Session {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "TERM=xterm", OnTerminal+"="+strings.Join(args, " "))
	command.Env = append(command.Env, variables...)
	return StartOnPTY(t, command)
}

// StartOnPTY starts a command on a terminal of its own, which is killed and closed at the end of the test. The screen gets all
// that is printed, with escape sequences.
func StartOnPTY(t *testing.T, command *exec.Cmd) *Session {
	t.Helper()
	// Setsid and Setctty make the terminal the controlling one of the command, so that ^C and ^Z become signals to its foreground
	// group. O_NOCTTY keeps the test itself from getting it.
	master, path, err := sys.OpenTerminalPair()
	if err != nil {
		t.Fatal(err)
	}
	// The command gets the other side of the pair as all three streams, as from a terminal emulator. Here it is closed again once the
	// command has it: reading the master fails when the last process that has it open has ended.
	line, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	s := &Session{Command: command, Typist: master}
	s.Command.Stdin, s.Command.Stdout, s.Command.Stderr = line, line, line
	s.Command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.Command.Start(); err != nil {
		t.Fatal(err)
	}
	copied := make(chan struct{})
	routine.Go(func() {
		io.Copy(&s.Screen, master)
		close(copied)
	})
	// Closing the master ends the copying even if a child of the command still has the terminal.
	t.Cleanup(func() {
		s.Command.Process.Kill()
		master.Close()
		<-copied
	})
	return s
}

// Status waits until the command has ended and returns its exit status, -1 if a signal has killed it.
func (s *Session) Status(t *testing.T) int {
	t.Helper()
	err := s.Command.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return s.Command.ProcessState.ExitCode()
}

// Screen is what has been printed on a terminal, from the beginning. It may be read while the command prints.
type Screen struct {
	Mu   sync.Mutex
	Text bytes.Buffer
}

// Write appends p.
func (s *Screen) Write(p []byte) (int, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Text.Write(p)
}

// Has reports whether the terminal has got a text.
func (s *Screen) Has(want string) bool { return strings.Contains(s.String(), want) }

// String returns what the terminal has got.
func (s *Screen) String() string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Text.String()
}

// Shows waits up to a minute until the terminal has got a text, and returns all of it.
func (s *Screen) Shows(t *testing.T, want string) string {
	t.Helper()
	// A minute is far more than any command takes, because machines that run many tests at once are slow.
	for deadline := time.Now().Add(time.Minute); !s.Has(want); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the terminal lacks %q:\n%s", want, s)
		}
	}
	return s.String()
}
