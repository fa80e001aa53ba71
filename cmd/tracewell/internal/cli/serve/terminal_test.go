//go:build linux

package serve

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/sys"
	"tracewell/rsp"
)

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
	server.Env = append(os.Environ(), clitest.OnTerminal+"=serve unix:"+socket+" grep --line-buffered ^SigIgn /proc/self/status -")
	server.Stdin, server.Stdout, server.Stderr = line, line, line
	server.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	line.Close()
	defer server.Process.Kill()
	var printed clitest.Screen
	go io.Copy(&printed, master)

	printed.Shows(t, "Listening on socket")
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := rsp.NewClient(conn)
	if err := c.Send([]byte("vCont;c")); err != nil {
		t.Fatal(err)
	}
	shown := printed.Shows(t, "SigIgn:\t")
	for !strings.HasSuffix(shown, "\n") {
		shown = printed.Shows(t, "SigIgn:\t")
	}
	_, mask, _ := strings.Cut(shown, "SigIgn:\t")
	ignored, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
	const jobControl = 1<<(syscall.SIGTTIN-1) | 1<<(syscall.SIGTTOU-1) | 1<<(syscall.SIGTSTP-1)
	if err != nil || ignored&jobControl != 0 { // with the race detector's C library one of its own is ignored
		t.Errorf("the program ignores signals %q, %v, want none of job control", mask, err)
	}
	io.WriteString(master, "SigIgn typed\n")
	printed.Shows(t, "(standard input):SigIgn typed\r\n")
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
