package cli

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tracewell/internal/sys"
	"tracewell/internal/test/testtool"
)

// session is a command line that runs on a terminal of its own.
type session struct {
	screen  screen
	command *exec.Cmd
	typist  io.Writer
}

// onPTY runs a command line on a terminal, with variables added to the environment.
func onPTY(t *testing.T, variables []string, args ...string) *session {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "TERM=xterm", onTerminal+"="+strings.Join(args, " "))
	command.Env = append(command.Env, variables...)
	return startOnPTY(t, command)
}

// startOnPTY starts a command on a terminal of its own.
func startOnPTY(t *testing.T, command *exec.Cmd) *session {
	t.Helper()
	master, path, err := sys.OpenTerminalPair()
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	s := &session{command: command, typist: master}
	s.command.Stdin, s.command.Stdout, s.command.Stderr = line, line, line
	s.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	copied := make(chan struct{})
	go func() {
		io.Copy(&s.screen, master)
		close(copied)
	}()
	t.Cleanup(func() {
		s.command.Process.Kill()
		master.Close()
		<-copied
	})
	return s
}

// status waits for the end.
func (s *session) status(t *testing.T) int {
	t.Helper()
	err := s.command.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return s.command.ProcessState.ExitCode()
}

// TestPager: long output goes through the user's pager, and the command ends as it would without one.
func TestPager(t *testing.T) {
	for name, test := range map[string]struct {
		pager  string
		args   []string
		status int
		shows  []string // one after the other
	}{
		"through it":           {"PAGER=sed s/work/WORK/", []string{"show", basic}, statusDone, []string{"\x1b[1mframe", "   81   4  WORK (step)"}},
		"one that does not":    {"PAGER=no-such-pager", []string{"show", basic}, statusDone, []string{"   81   4  work (step)"}},
		"none":                 {"PAGER=", []string{"show", basic}, statusDone, []string{"   81   4  work (step)"}},
		"not wanted":           {"PAGER=false", []string{"show", "--no-pager", basic}, statusDone, []string{"   81   4  work (step)"}},
		"one that ends early":  {"PAGER=head -1", []string{"show", "--json", basic}, statusDone, []string{`{"frame":0`}},
		"one that fails":       {"PAGER=false", []string{"show", "--json", basic}, statusDone, nil},
		"a message behind it":  {"PAGER=cat -n", []string{"show", damaged}, statusFailure, []string{"(damaged)", "tracewell: "}},
		"wrong usage after it": {"PAGER=cat -n", []string{"show", basic, "--value", "m"}, statusFailure, []string{"there is no m"}},
		"of info":              {"PAGER=sed s/Trace/TRACE/", []string{"info", basic}, statusDone, []string{"TRACE run", "TRACE state variables"}},
		"less":                 {"PAGER=" + testtool.Path(t, "less"), []string{"show", basic, "--limit", "1"}, statusDone, []string{"frame", "queue.c:23"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := onPTY(t, []string{test.pager}, test.args...)
			if got := s.status(t); got != test.status {
				t.Errorf("exit status %d, want %d", got, test.status)
			}
			for _, want := range test.shows {
				s.screen.shows(t, want)
			}
		})
	}
}

// TestPagerInterrupted: Ctrl-C is for the pager, which has what was printed by then; the command ends when the pager does.
func TestPagerInterrupted(t *testing.T) {
	printed := filepath.Join(t.TempDir(), "printed")
	// The pager reads the first line, so that there is one, and no more before it was interrupted.
	const script = "trap hit=1 INT; read -r line; echo started; until test $hit; do sleep .01; done; " +
		`printf "%s\n" "$line" >FILE; cat >>FILE; echo ended`
	pager := "PAGER=sh -c '" + strings.ReplaceAll(script, "FILE", printed) + "'"
	s := onPTY(t, []string{pager}, "show", "--json", basic)
	s.screen.shows(t, "started")
	if _, err := s.typist.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	s.screen.shows(t, "ended")
	if got := s.status(t); got != statusDone || !strings.HasPrefix(content(t, printed), `{"frame":0,`) {
		t.Errorf("exit status %d, %d bytes printed", got, len(content(t, printed)))
	}
}
