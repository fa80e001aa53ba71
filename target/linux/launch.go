//go:build amd64

package linux

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"tracewell/internal/linux"
)

// Program is a program to start.
type Program struct {
	Path string   // looked up as the shell does
	Args []string // behind the program's name
	Env  []string // nil for this process's own
	Dir  string   // "" for this process's own

	// Stdin, Stdout and Stderr are the program's; nil is this process's own. The program takes the terminal's foreground
	// if Stdin is a terminal.
	Stdin, Stdout, Stderr *os.File

	// RandomAddresses leaves address space randomisation on.
	RandomAddresses bool
}

// Launch starts a program and stops it before its first instruction. It dies with this process.
func Launch(p Program) (*Target, error) {
	t, err := newTarget()
	if err != nil {
		return nil, err
	}
	t.do(func() { err = t.launch(p) })
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// options are what every task is seized with.
const options = linux.TraceSysGood | linux.TraceFork | linux.TraceVfork | linux.TraceClone | linux.TraceExec | linux.TraceVforkDone

func (t *Target) launch(p Program) error {
	path, err := exec.LookPath(p.Path)
	if err != nil {
		return err
	}
	l := linux.Launch{
		Path:           path,
		Args:           append([]string{p.Path}, p.Args...),
		Env:            p.Env,
		Dir:            p.Dir,
		Files:          []*os.File{orElse(p.Stdin, os.Stdin), orElse(p.Stdout, os.Stdout), orElse(p.Stderr, os.Stderr)},
		Terminal:       -1,
		FixedAddresses: !p.RandomAddresses,
	}
	if l.Env == nil {
		l.Env = os.Environ()
	}
	if linux.IsTerminal(int(l.Files[0].Fd())) {
		l.Terminal = 0
	}
	pid, err := l.Start(options | linux.ExitKill)
	if err != nil {
		return err
	}
	if t.proc, err = newProcess(pid, true); err != nil {
		linux.Kill(pid, linux.SIGKILL)
		return err
	}
	k := t.adopt(pid, t.proc)
	k.atSignal = true
	t.regs, err = newRegisterFile(pid)
	return err
}

func orElse(f, otherwise *os.File) *os.File {
	if f != nil {
		return f
	}
	return otherwise
}

// examine finds out, before the first tracepoint of a program, what its kernel features forbid.
func (p *process) examine() error {
	filter, err := linux.StatusField(p.pid, "Seccomp")
	if err != nil {
		return fmt.Errorf("reading the status of process %d: %w", p.pid, err)
	}
	p.noScratch = filter != "" && filter != "0"
	features, err := linux.StatusField(p.pid, "x86_Thread_features")
	p.shadowStack = strings.Contains(features, "shstk")
	return err
}
