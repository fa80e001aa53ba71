//go:build linux

package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/sys"
	"tracewell/internal/test/testtool"
)

// shells are those with a completion, and what starts them without what their user has set up.
var shells = map[string][]string{
	"bash": {"--noprofile", "--norc", "-i"},
	"zsh":  {"-f", "-i"},
	"fish": {"--no-config", "--interactive"},
}

// loading are the commands that load the completion.
var loading = map[string]string{
	"bash": "source <(tracewell completion bash)",
	"zsh":  "autoload -U compinit; compinit -u -D; unsetopt beep; source <(tracewell completion zsh)",
	"fish": "tracewell completion fish | source",
}

// imitation answers completion as tracewell and prints its arguments otherwise.
const imitation = `#!/bin/sh
case $1 in __complete|completion) exec env %s=1 %s "$@" ;; esac
printf '\nGOT:'; printf ' <%%s>' "$@"; echo .
`

// TestShells types command lines in real shells, completes them with the tabulator key, and has them run.
func TestShells(t *testing.T) {
	for name := range shells {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startCompletingShell(t, name)
			for _, test := range []struct{ typed, want string }{
				{"tracewell vers\t", "<version>"},
				{"tracewell help tdesc lay\t", "<help> <tdesc> <layout>"},
				{"tracewell show --cou\t", "<show> <--count>"},
				{"tracewell show ru\t --count", "<show> <run.tf> <--count>"},
				{"tracewell show --exec=que\t", "<show> <--exec=queue>"},
				{"tracewell show --endian=li\t", "<show> <--endian=little>"},
				{"tracewell show --endian li\t", "<show> <--endian> <little>"},
				{"tracewell show run.tf -r fs_\t", "<show> <run.tf> <-r> <fs_base>"},
				{"tracewell convert --from match\t", "<convert> <--from> <matcher>"},
				{"tracewell show --exec=./queue --pc wor\t", "<show> <--exec=./queue> <--pc> <work>"},
				{"tracewell record --at wor -- ./queue" + strings.Repeat("\x02", len(" -- ./queue")) + "\t", "<record> <--at> <work> <--> <./queue>"},
				{"tracewell record --at queue.c:16 -- ./queue" + strings.Repeat("\x02", len(" -- ./queue")) + "\t", "<record> <--at> <queue.c:16> <--> <./queue>"},
				{"tracewell nonsense --wh\t", "<nonsense> <--wh>"},
			} {
				if name == "fish" && strings.Contains(test.typed, "\x02") {
					continue // it does not tell what stands behind the cursor
				}
				s.enter(t, test.typed, test.want)
			}
		})
	}
}

// typedShell is a shell on a terminal.
type typedShell struct {
	keyboard io.Writer
	screen   *clitest.Screen
}

func startCompletingShell(t *testing.T, name string) *typedShell {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{clitest.Basic: "run.tf", clitest.BasicProgram: "queue"} {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bin := t.TempDir()
	script := fmt.Sprintf(imitation, clitest.IsTracewell, os.Args[0])
	if err := os.WriteFile(filepath.Join(bin, "tracewell"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	master, path, err := sys.OpenTerminalPair()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	line, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	cmd := testtool.Command(t, name, shells[name]...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + t.TempDir(), "TERM=dumb", "LC_ALL=C.UTF-8", "COLUMNS=500", "LINES=50"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = line, line, line
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); cmd.Process.Wait() })
	s := &typedShell{keyboard: master, screen: &clitest.Screen{}}
	go io.Copy(s.screen, master)
	io.WriteString(master, loading[name]+"; echo load''ed\r")
	s.screen.Shows(t, "loaded")
	return s
}

// enter types a command line, and waits for the arguments that its command gets.
func (s *typedShell) enter(t *testing.T, typed, want string) {
	t.Helper()
	s.screen.Mu.Lock()
	s.screen.Text.Reset()
	s.screen.Mu.Unlock()
	io.WriteString(s.keyboard, typed)
	io.WriteString(s.keyboard, "\r")
	got := s.screen.Shows(t, ">.")
	if !strings.Contains(got, "GOT: "+want+".") {
		t.Errorf("%q: want %s in\n%q", typed, want, got)
	}
}
