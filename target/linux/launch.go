//go:build linux

package linux

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"tracewell/internal/sys"
	"tracewell/target"
)

// Streams are target.Streams.
type Streams = target.Streams

// New returns a target without a process. It learns the machine's registers from a program that it starts for a moment: this
// one, stopped before its first instruction.
func New(streams Streams) (*Target, error) {
	if host == nil {
		return nil, errors.New("tracing processes is not supported on " + runtime.GOARCH + " yet")
	}
	t, err := newTarget()
	if err != nil {
		return nil, err
	}
	t.streams = Streams{In: orElse(streams.In, os.Stdin), Out: orElse(streams.Out, os.Stdout), Err: orElse(streams.Err, os.Stderr)}
	t.do(func() { t.clock, err = startClock(), t.learnRegisters() })
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// options are what every task is seized with.
const options = sys.TraceSysGood | sys.TraceFork | sys.TraceVfork | sys.TraceClone | sys.TraceExec | sys.TraceVforkDone

// learnRegisters makes the register file.
func (t *Target) learnRegisters() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	self := sys.Launch{Path: "/proc/self/exe", Args: []string{"registers"}, Files: []*os.File{null, null, null}, Terminal: -1}
	pid, err := self.Start(sys.ExitKill)
	if err != nil {
		return fmt.Errorf("asking for the machine's registers: %w", err)
	}
	t.regs, err = host.newRegisterFile(pid)
	sys.KillAndReap(pid)
	return err
}

// Start implements target.Launcher. The program dies with this process.
func (t *Target) Start(p target.Program) (id target.ThreadID, err error) {
	if !t.do(func() { id, err = t.launch(p) }) {
		err = target.ErrNoProcess
	}
	return id, err
}

func (t *Target) launch(p target.Program) (target.ThreadID, error) {
	name := inFolder(p.Path)
	path, err := lookUp(name)
	if err != nil {
		return target.ThreadID{}, err
	}
	args := append([]string{name}, p.Args...)
	if p.Wrapper != nil {
		args = slices.Concat(p.Wrapper, []string{path}, p.Args)
		if path, err = lookUp(p.Wrapper[0]); err != nil {
			return target.ThreadID{}, err
		}
	}
	dir, err := expandHome(p.Dir)
	if err != nil {
		return target.ThreadID{}, err
	}
	files, closeFiles, err := t.openFiles(p.Files)
	if err != nil {
		return target.ThreadID{}, err
	}
	defer closeFiles()
	l := sys.Launch{
		Path:           path,
		Args:           args,
		Env:            p.Env,
		Dir:            dir,
		Files:          files,
		Terminal:       -1,
		FixedAddresses: !p.RandomAddresses,
	}
	if l.Env == nil {
		l.Env = os.Environ()
	}
	if sys.IsTerminal(int(l.Files[0].Fd())) {
		l.Terminal = 0
	}
	pid, err := l.Start(options | sys.ExitKill)
	if err != nil {
		return target.ThreadID{}, err
	}
	if p.Wrapper != nil {
		err = sys.PassExec(pid, options|sys.ExitKill)
	}
	var fresh *process
	if err == nil {
		fresh, err = t.newProcess(pid, true)
	}
	if err != nil {
		sys.KillAndReap(pid)
		return target.ThreadID{}, err
	}
	t.procs = append(t.procs, fresh)
	k := t.adopt(pid, fresh)
	if p.Wrapper == nil {
		k.why = atSignal
	}
	return k.id(), nil
}

// openFiles opens the standard streams of a program. The function that it returns closes what it has opened; the program keeps its
// own.
func (t *Target) openFiles(paths [3]string) (files []*os.File, closeAll func(), err error) {
	files = []*os.File{t.streams.In, t.streams.Out, t.streams.Err}
	var opened []*os.File
	closeAll = func() {
		for _, f := range opened {
			f.Close()
		}
	}
	for i, path := range paths {
		if path == "" {
			continue
		}
		how := os.O_WRONLY | os.O_CREATE
		if i == 0 {
			how = os.O_RDONLY
		}
		// A terminal must not become that of this process.
		f, err := os.OpenFile(path, how|sys.NoTerminal, 0o666)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		files[i], opened = f, append(opened, f)
	}
	return files, closeAll, nil
}

// expandHome puts the home folder for the ~ that a folder may begin with, as gdbserver does: GDB leaves that to the server.
func expandHome(dir string) (string, error) {
	rest, ok := strings.CutPrefix(dir, "~")
	if !ok || rest != "" && rest[0] != '/' {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder %q: %w", dir, err)
	}
	return home + rest, nil
}

// inFolder makes a bare name that is one of a file in the working folder absolute, as gdbserver does.
func inFolder(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	if status, err := os.Stat(name); err != nil || !status.Mode().IsRegular() {
		return name
	}
	if path, err := filepath.Abs(name); err == nil {
		return path
	}
	return name
}

// lookUp finds a program as the shell does. The path is absolute, for the program may begin in another directory.
func lookUp(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

func orElse(f, otherwise *os.File) *os.File {
	if f != nil {
		return f
	}
	return otherwise
}

// examine finds out, before the first tracepoint of a program, what its kernel features forbid.
func (t *Target) examine(p *process) error {
	filter, err := t.kernel.statusField(p.alive(), "Seccomp")
	if err != nil {
		return fmt.Errorf("reading the status of process %d: %w", p.pid, err)
	}
	p.filtered = filter != "" && filter != "0"
	features, err := t.kernel.statusField(p.alive(), "x86_Thread_features")
	p.shadowStack = strings.Contains(features, "shstk")
	return err
}
