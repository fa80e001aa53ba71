package gdbtest

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tracewell/internal/routine"
)

// patience is how long a server may take to listen and, once asked, to end.
const patience = 2 * time.Minute

// Config says how to start "tracewell serve". The zero value of each field is the usual.
type Config struct {
	Server  []string  // the server's command, one that takes gdbserver's command line; nil for this tree's tracewell serve
	Flags   []string  // before COMM
	Comm    string    // ":0" for any port; empty for a Unix socket in a folder of its own
	Command []string  // the program and its arguments
	Stdin   io.Reader // the program's standard input; nil for the null device
}

// Server is a running "tracewell serve", or another server. It is killed, with its whole process group, when the test ends.
type Server struct {
	Address string // what GDB's "target remote" takes

	cmd            *exec.Cmd
	stdout, stderr transcript
	ended          chan struct{} // closed when the server has been reaped
}

// Serve starts a server for a program on a Unix socket.
func Serve(t testing.TB, command ...string) *Server {
	t.Helper()
	return Start(t, Config{Command: command})
}

// Start starts a server and returns when it listens.
func Start(t testing.TB, c Config) *Server {
	t.Helper()
	s := &Server{ended: make(chan struct{})}
	comm, listening := c.Comm, s.listensOnPort
	if comm == "" {
		socket := filepath.Join(socketDir(t), "gdb.sock")
		comm = "unix:" + socket
		listening = func() bool { s.Address = socket; return listensOnSocket(socket) }
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := c.Server
	if server == nil {
		server = []string{Binary(t), "serve"}
	}
	args := slices.Concat(server[1:], c.Flags, []string{comm}, c.Command)
	s.cmd = exec.CommandContext(ctx, server[0], args...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = c.Stdin, &s.stdout, &s.stderr
	Isolate(s.cmd)
	if err := s.cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	routine.Go(func() {
		s.cmd.Wait() // ProcessState says how it ended
		close(s.ended)
	})
	t.Cleanup(func() {
		cancel()
		<-s.ended
		if t.Failed() {
			t.Logf("%s printed:\n%s", strings.Join(s.cmd.Args, " "), s.stderr.String())
		}
	})
	s.await(t, listening)
	return s
}

// await polls until the server listens.
func (s *Server) await(t testing.TB, listening func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !listening(); time.Sleep(5 * time.Millisecond) {
		select {
		case <-s.ended:
			t.Fatalf("the server ended before it listened: %v", s.cmd.ProcessState)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not listen after %v", patience)
		}
	}
}

var portLine = regexp.MustCompile(`(?m)^Listening on port (\d+)$`)

// listensOnPort takes the address from the line that gdbserver prints too.
func (s *Server) listensOnPort() bool {
	match := portLine.FindStringSubmatch(s.stderr.String())
	if match != nil {
		s.Address = net.JoinHostPort("localhost", match[1])
	}
	return match != nil
}

// listensOnSocket looks in the kernel's table, since connecting would take the place of GDB, and since a bound socket that
// does not listen yet refuses it.
func listensOnSocket(path string) bool {
	const accepting = "00010000" // __SO_ACCEPTCON
	table, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) == 8 && fields[3] == accepting && fields[7] == path {
			return true
		}
	}
	return false
}

// socketDir is short, as the path of a socket has to be, which the folder of a test with a long name is not.
func socketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tracewell")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Stdout returns what the program under trace has printed so far.
func (s *Server) Stdout() string { return s.stdout.String() }

// Stderr returns what the server has printed so far, and the program to its standard error.
func (s *Server) Stderr() string { return s.stderr.String() }

// PID returns the server's process id.
func (s *Server) PID() int { return s.cmd.Process.Pid }

var inferiorLine = regexp.MustCompile(`(?m)^Process .* created; pid = (\d+)$`)

// InferiorPID returns the process id of the program, from the line that gdbserver prints too.
func (s *Server) InferiorPID(t testing.TB) int {
	t.Helper()
	match := inferiorLine.FindStringSubmatch(s.stderr.String())
	if match == nil {
		t.Fatalf("the server has not told the pid of the program:\n%s", s.stderr.String())
	}
	pid, err := strconv.Atoi(match[1])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// Signal sends the server a signal.
func (s *Server) Signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// Wait waits for the server to end by itself and returns its exit status, -1 when a signal ended it.
func (s *Server) Wait(t testing.TB) int {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		t.Fatalf("the server still runs after %v", patience)
	}
	return s.cmd.ProcessState.ExitCode()
}

// transcript collects what a process prints while others look at it.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends p.
func (tr *transcript) Write(p []byte) (int, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.text.Write(p)
}

func (tr *transcript) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.text.String()
}
