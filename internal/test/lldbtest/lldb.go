// Package lldbtest drives the LLDB that is installed, unchanged, against the tracewell binary of this tree, and holds what it shows
// against what GDB does.
//
// LLDB sees neither the user's settings nor other folders of symbols, and is killed with everything it starts when the test ends.
// Where it is missing the test fails; nothing here skips. Only tests import this package.
package lldbtest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

// patience is how long LLDB may take for what a command is to show.
const patience = 5 * time.Minute

// settings come first: the same output on every terminal, few lines of source, and no questions.
const settings = `settings set use-color false
settings set stop-line-count-before 0
settings set stop-line-count-after 0
settings set stop-disassembly-count 0
settings set auto-confirm true
`

// prompt begins each line in which LLDB repeats a command.
const prompt = "(lldb) "

// Output is what LLDB printed, by the commands that it was given.
type Output struct {
	All      string
	commands []string // each with what it printed
}

// Of returns what a command printed the n-th time that it was given, counted from 0.
func (o *Output) Of(t testing.TB, command string, n int) string {
	t.Helper()
	for _, text := range o.commands {
		if rest, ok := strings.CutPrefix(text, command+"\n"); ok {
			if n == 0 {
				return strings.TrimSpace(rest)
			}
			n--
		}
	}
	t.Fatalf("LLDB has not carried out %q so many times:\n%s", command, o.All)
	return ""
}

// Run runs commands, one a line, with program as the executable if it is not empty. A command waits for the stop that it leads to. One
// that fails ends the script, and with it the test.
func Run(t testing.TB, program, script string) *Output {
	t.Helper()
	var lines []string
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	last := "version"
	path := filepath.Join(t.TempDir(), "script.lldb")
	if err := os.WriteFile(path, []byte(settings+strings.Join(append(lines, last), "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	all, err := command(t, ctx, program, "--batch", "--source", path).CombinedOutput()
	o := &Output{All: string(all), commands: strings.Split(string(all), prompt)}
	if !strings.Contains(o.commands[len(o.commands)-1], last+"\n") {
		t.Fatalf("LLDB did not get to the end of the script (%v):\n%s", err, o.All)
	}
	return o
}

// command prepares LLDB in a process group of its own, which is what is killed when ctx ends.
func command(t testing.TB, ctx context.Context, program string, args ...string) *exec.Cmd {
	t.Helper()
	args = append([]string{"--no-lldbinit"}, args...)
	if program != "" {
		args = append(args, program)
	}
	cmd := exec.CommandContext(ctx, testtool.Path(t, "lldb"), args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "LC_ALL=C", "TERM=dumb", "DEBUGINFOD_URLS=")
	gdbtest.Isolate(cmd)
	return cmd
}

// Session is an LLDB that is given one command after another. No command waits for the program.
type Session struct {
	in     io.WriteCloser
	cancel context.CancelFunc // kills it
	end    func()             // waits for its end

	mu   sync.Mutex
	text strings.Builder // guarded by mu
	seen int             // of the text, by Await
}

// Start starts one.
func Start(t testing.TB, program string) *Session {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := command(t, ctx, program)
	s := &Session{cancel: cancel}
	var err error
	if s.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = s, s
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	s.end = sync.OnceFunc(func() { cmd.Wait() })
	t.Cleanup(func() {
		s.Kill(t)
		if t.Failed() {
			t.Logf("LLDB printed:\n%s", s.text.String())
		}
	})
	for line := range strings.Lines(settings) {
		s.Say(t, strings.TrimSpace(line))
	}
	return s
}

// Kill kills it, as SIGKILL does, and waits for its end.
func (s *Session) Kill(t testing.TB) {
	t.Helper()
	s.cancel()
	s.end()
}

// Write takes what LLDB prints.
func (s *Session) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

// Say gives a command.
func (s *Session) Say(t testing.TB, command string) {
	t.Helper()
	if _, err := fmt.Fprintln(s.in, command); err != nil {
		t.Fatal(err)
	}
}

// Await waits until LLDB has printed all of some texts, in any order, since the last call returned, and returns what it printed.
func (s *Session) Await(t testing.TB, texts ...string) string {
	t.Helper()
	got, missing := s.await(patience, texts...)
	if missing != "" {
		t.Fatalf("LLDB has not printed %q after %v", missing, patience)
	}
	return got
}

// await is Await with a time of its own; it returns the last text that is missing then.
func (s *Session) await(within time.Duration, texts ...string) (got, missing string) {
	for deadline := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		got = s.text.String()[s.seen:]
		s.mu.Unlock()
		missing = ""
		for _, text := range texts {
			if !strings.Contains(got, text) {
				missing = text
			}
		}
		if missing == "" {
			s.seen += len(got)
			return got, ""
		}
		if time.Now().After(deadline) {
			return got, missing
		}
	}
}
