package cli

import (
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tracewell/internal/sys"
	"tracewell/rsp"
)

// onTerminal is what TestMain finds in the environment of a test binary that is to be tracewell.
const onTerminal = "TRACEWELL_TEST_ARGUMENTS"

// isTracewell is the same for one that has the arguments itself.
const isTracewell = "TRACEWELL_TEST_ITSELF"

// TestMain makes the test binary tracewell itself for TestTerminal, which needs one in a session of its own.
func TestMain(m *testing.M) {
	if args := os.Getenv(onTerminal); args != "" {
		os.Unsetenv(onTerminal)
		os.Exit(Run(strings.Fields(args), Streams{os.Stdin, os.Stdout, os.Stderr}))
	}
	if os.Getenv(isTracewell) != "" {
		os.Exit(Run(os.Args[1:], Streams{os.Stdin, os.Stdout, os.Stderr}))
	}
	os.Exit(m.Run())
}

// screen is what has been printed on a terminal.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends p.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// has reports whether the terminal has got a text.
func (s *screen) has(want string) bool { return strings.Contains(s.String(), want) }

// String returns what the terminal has got.
func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// shows waits for a text.
func (s *screen) shows(t *testing.T, want string) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !s.has(want); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the terminal lacks %q:\n%s", want, s)
		}
	}
	return s.String()
}

// TestTerminal: the program has the terminal of its server, which goes on in the background. It may read there, Ctrl-C is
// for it, and it does not ignore the signals of job control that its server has to ignore.
func TestTerminal(t *testing.T) {
	master, path, err := sys.OpenTerminalPair()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	line, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), onTerminal+"=serve unix:"+socket+" grep --line-buffered ^SigIgn /proc/self/status -")
	server.Stdin, server.Stdout, server.Stderr = line, line, line
	server.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	line.Close()
	defer server.Process.Kill()
	var printed screen
	go io.Copy(&printed, master)

	printed.shows(t, "Listening on socket")
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := rsp.NewClient(conn)
	if err := c.Send([]byte("vCont;c")); err != nil {
		t.Fatal(err)
	}
	shown := printed.shows(t, "SigIgn:\t")
	for !strings.HasSuffix(shown, "\n") {
		shown = printed.shows(t, "SigIgn:\t")
	}
	_, mask, _ := strings.Cut(shown, "SigIgn:\t")
	ignored, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
	const jobControl = 1<<(syscall.SIGTTIN-1) | 1<<(syscall.SIGTTOU-1) | 1<<(syscall.SIGTSTP-1)
	if err != nil || ignored&jobControl != 0 { // with the race detector's C library one of its own is ignored
		t.Errorf("the program ignores signals %q, %v, want none of job control", mask, err)
	}
	io.WriteString(master, "SigIgn typed\n")
	printed.shows(t, "(standard input):SigIgn typed\r\n")
	io.WriteString(master, "\x03")
	if reply, err := c.Receive(); err != nil || !strings.HasPrefix(string(reply), "T02") {
		t.Errorf("Ctrl-C brought %q, %v", reply, err)
	}
	if err := c.Send([]byte("k")); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}
