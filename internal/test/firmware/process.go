package firmware

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"tracewell/internal/routine"
	"tracewell/internal/test/testtool"
)

// inherited is the first descriptor that a process gets beside those of its streams and its lifeline.
const inherited = 4

// watched is a shell script that becomes the command in its arguments, with a watcher beside it: when the other end of
// descriptor 3 is closed without a line, the process of the test has been killed, and so is the command. The command cannot use more
// processor time than its limit.
const watched = `ulimit -t "$1"; shift
{ read line || kill -9 $$; } <&3 4<&- 5<&- >/dev/null 2>&1 &
exec "$@" 3<&-`

// process is a command that ends with its test at the latest.
type process struct {
	cmd         *exec.Cmd
	output, log string // paths of its standard output and of what it reports
	ended       chan struct{}
	err         error // of its end, once ended is closed
}

// start starts a command with files as its descriptors from inherited on, which it closes here.
func start(t testing.TB, limit time.Duration, files []*os.File, command ...string) *process {
	t.Helper()
	read, lifeline, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	output, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	seconds := strconv.Itoa(2 * int(limit/time.Second)) // of two processors
	cmd := testtool.Command(t, "sh", append([]string{"-c", watched, "sh", seconds}, command...)...)
	cmd.Stdout, cmd.Stderr = output, log
	cmd.ExtraFiles = append([]*os.File{read}, files...)
	err = cmd.Start()
	for _, file := range append(cmd.ExtraFiles, output, log) {
		file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, output: output.Name(), log: log.Name(), ended: make(chan struct{})}
	routine.Go(func() {
		p.err = cmd.Wait()
		lifeline.WriteString("\n") // dismisses the watcher before another process can get the number
		lifeline.Close()
		close(p.ended)
	})
	timer := time.AfterFunc(limit, p.kill)
	t.Cleanup(func() {
		timer.Stop()
		p.kill()
	})
	return p
}

// kill kills the command. It is gone when kill returns.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.ended
}

// wait waits for the end of the command, and returns what exec.Cmd.Wait does.
func (p *process) wait() error {
	<-p.ended
	return p.err
}

// gone reports whether the command has ended.
func (p *process) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// messages returns what the command has printed.
func (p *process) messages() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
