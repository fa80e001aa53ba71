//go:build linux

package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/sys"
	"tracewell/internal/test/testprog"
	"tracewell/rsp"
	"tracewell/tfile"
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

// TestStoppedFromTerminal has a user press Ctrl-Z on a server that is attached to a program with pads. The server goes on in the
// background after a moment, for which a warning says that hits are missing; the program never waits for it, nor does the client, and
// the run is whole.
func TestStoppedFromTerminal(t *testing.T) {
	program := testprog.Build(t, "steady", testprog.Variant{NoPIE: true})
	steady, goesOn := startSteady(t, program.Path)
	bash := exec.Command("/bin/bash", "--norc", "--noprofile", "-i")
	bash.Env = append(os.Environ(), "TERM=dumb", "PS1=prompt> ", "HISTFILE=")
	bash.Dir = t.TempDir()
	shell := clitest.StartOnPTY(t, bash)
	shell.Screen.Shows(t, "prompt> ")
	socket := filepath.Join(bash.Dir, "s")
	fmt.Fprintf(shell.Typist, "%s='serve --attach unix:%s %d' %s\n", clitest.OnTerminal, socket, steady, os.Args[0])
	shell.Screen.Shows(t, "Listening on socket")
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := rsp.NewClient(conn)
	conn.SetDeadline(time.Now().Add(time.Minute))
	asks := func(packet, want string) {
		t.Helper()
		if reply, err := c.Exchange(packet); err != nil || !strings.HasPrefix(reply, want) {
			t.Fatalf("%s brought %q, %v, want %s", packet, reply, err, want)
		}
	}
	tick := testprog.Symbols(t, program.Path)["tick"].Value
	asks("QTinit", "OK")
	asks("QTBuffer:circular:1", "OK")
	asks(fmt.Sprintf("QTDP:1:%x:E:0:0", tick), "OK")
	asks("QTStart", "OK")
	if err := c.Send([]byte("vCont;c")); err != nil {
		t.Fatal(err)
	}
	goesOn()
	for range 2 {
		io.WriteString(shell.Typist, "\x1a")
		shell.Screen.Shows(t, "are missing: tracewell was stopped")
		goesOn()
		shell.Screen.Mu.Lock()
		shell.Screen.Text.Reset()
		shell.Screen.Mu.Unlock()
		io.WriteString(shell.Typist, "fg\n")
		for group := bash.Process.Pid; group == bash.Process.Pid; time.Sleep(time.Millisecond) {
			if group, err = sys.ForegroundGroup(int(shell.Typist.(*os.File).Fd())); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Interrupt(); err != nil {
		t.Fatal(err)
	}
	if reply, err := c.Receive(); err != nil || !strings.HasPrefix(string(reply), "T02") {
		t.Errorf("an interrupt brought %q, %v", reply, err)
	}
	asks("qTStatus", "T1;")
	asks("QTStop", "OK")
	saved := filepath.Join(bash.Dir, "run.tf")
	asks(fmt.Sprintf("QTSave:%x", saved), "OK")
	data, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := tfile.OpenBytes(data); err != nil || len(f.Findings()) > 0 || f.NumFrames() == 0 {
		t.Errorf("the saved run is not whole: %v", err)
	}
	asks("D", "OK")
	goesOn()
}

// startSteady starts that program, and returns what has it show that it goes on.
func startSteady(t *testing.T, path string) (pid int, goesOn func()) {
	steady := exec.Command(path, "2", "0")
	in, err1 := steady.StdinPipe()
	out, err2 := steady.StdoutPipe()
	if err := errors.Join(err1, err2, steady.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { steady.Process.Kill(); steady.Wait() })
	lines := bufio.NewScanner(out)
	return steady.Process.Pid, func() {
		t.Helper()
		io.WriteString(in, "\n")
		if !lines.Scan() || lines.Text() != "right" {
			t.Fatalf("the program says %q, %v", lines.Text(), lines.Err())
		}
	}
}
