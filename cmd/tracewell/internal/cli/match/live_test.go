//go:build linux

package match

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
)

// TestMatchPipes compares what comes through pipes: standard input, and as shells pass them for <(COMMAND), compressed or not.
func TestMatchPipes(t *testing.T) {
	t.Chdir(traceFolder(t))
	for _, test := range []struct {
		piped  string
		status int
	}{
		{"same", console.StatusDone}, {"dut", console.StatusFinding}, {"dut.zst", console.StatusFinding}, {"ref.gz", console.StatusDone}, {"cut.gz", console.StatusFailure},
		{"empty", console.StatusFailure},
	} {
		r := clitest.Piped(t, test.piped)
		if got := clitest.RunWith(t, r, "match", "ref", "-", "-q"); got.Status != test.status {
			t.Errorf("%s on standard input: %+v", test.piped, got)
		}
		r = clitest.Piped(t, test.piped)
		if got := clitest.Run(t, "match", fmt.Sprintf("/dev/fd/%d", r.Fd()), "ref.gz"); got.Status != test.status {
			t.Errorf("%s by its descriptor: %+v", test.piped, got)
		}
	}
	f, err := os.Open("dut.zst")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := clitest.RunWith(t, f, "match", "-", "ref"); got.Status != console.StatusFinding || !strings.Contains(got.Stdout, "ref differs from standard input") {
		t.Errorf("a file on standard input: %+v", got)
	}
	r := clitest.Piped(t, "ref")
	descriptor := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if got := clitest.Run(t, "match", descriptor, descriptor); got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "the same pipe") {
		t.Errorf("one pipe as both: %+v", got)
	}
	if got := clitest.Run(t, "match", descriptor, "ref", "same"); got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "once only") {
		t.Errorf("a pipe as the reference of two: %+v", got)
	}
}

// fifos makes two named pipes.
func fifos(t *testing.T) {
	t.Helper()
	for _, name := range []string{"a", "b"} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMatchLive has one program write two named pipes by turns, which it opens in the order that a reader may not expect. The
// difference is told when it comes, though neither pipe ends.
func TestMatchLive(t *testing.T) {
	t.Chdir(traceFolder(t))
	fifos(t)
	ref, dut := strings.SplitAfter(clitest.Content(t, "ref"), "\n"), strings.SplitAfter(clitest.Content(t, "dut"), "\n")
	end := make(chan struct{})
	defer close(end)
	go func() {
		b, _ := os.OpenFile("b", os.O_WRONLY, 0)
		a, _ := os.OpenFile("a", os.O_WRONLY, 0)
		for i, line := range ref[:2500] {
			io.WriteString(a, line)
			io.WriteString(b, dut[i])
		}
		<-end
		a.Close()
		b.Close()
	}()
	done := make(chan clitest.Outcome)
	go func() { done <- clitest.Run(t, "match", "a", "b", "-fds") }()
	select {
	case got := <-done:
		if got.Status != console.StatusFinding || !strings.Contains(got.Stdout, "a:1751") {
			t.Errorf("%+v", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for more")
	}
}

// awaitOpening waits until a process waits in open, for the other end of a pipe: a thread of it is twice at the same place there.
func awaitOpening(t *testing.T, pid int) {
	t.Helper()
	opening := fmt.Sprint(syscall.SYS_OPENAT, " ")
	before := map[string]string{}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range threads {
			call, _ := os.ReadFile(thread) // of a thread that has ended there is none
			if strings.HasPrefix(string(call), opening) && before[thread] == string(call) {
				return
			}
			before[thread] = string(call)
		}
	}
	t.Fatalf("process %d opens no pipe", pid)
}

// TestMatchInterrupted stops a comparison that waits: for somebody to open a pipe, for a pipe that stalls, and in the middle of
// many pairs. It says how far it has come, and leaves no files.
func TestMatchInterrupted(t *testing.T) {
	t.Chdir(traceFolder(t))
	fifos(t)
	clitest.Put(t, "pairs", []byte("ref dut\na ref\nref same\n"))
	for _, test := range []struct {
		args  string
		opens bool // that somebody writes a part of a; the others wait for that
		says  string
	}{
		{"a ref --junit out.xml", false, "interrupted behind 0 instructions"},
		{"a ref --html out.html", true, "interrupted behind"},
		{"a b", false, "interrupted"},
		{"--pairs pairs --junit out.xml", false, "interrupted: 1 of 3 pairs were compared"},
	} {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), clitest.OnTerminal+"=match "+test.args)
		var printed strings.Builder
		c.Stdout, c.Stderr = &printed, &printed
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		var a *os.File
		if test.opens {
			var err error
			if a, err = os.OpenFile("a", os.O_WRONLY, 0); err != nil {
				t.Fatal(err)
			}
			io.WriteString(a, clitest.Content(t, "ref")[:20_000])
		} else {
			awaitOpening(t, c.Process.Pid)
		}
		c.Process.Signal(os.Interrupt)
		timer := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
		c.Wait()
		timer.Stop()
		a.Close()
		if c.ProcessState.ExitCode() != console.StatusFailure || !strings.Contains(printed.String(), test.says) {
			t.Errorf("%s: %v: %s", test.args, c.ProcessState, &printed)
		}
		for _, name := range []string{"out.xml", "out.html"} {
			if _, err := os.Stat(name); err == nil {
				t.Errorf("%s: there is a file %s", test.args, name)
			}
		}
	}
}

// TestMatchGrowing says that a trace was written to while it was compared.
func TestMatchGrowing(t *testing.T) {
	t.Chdir(traceFolder(t))
	trace, err := input.OpenStream("ref", console.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	if got := trace.Changed(); got != "" {
		t.Errorf("at first: %q", got)
	}
	f, err := os.OpenFile("ref", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, "1 clk R t0 1\n")
	f.Close()
	if got := trace.Changed(); !strings.Contains(got, "bytes at first and has") {
		t.Errorf("it has grown: %q", got)
	}
}

// TestMatchLongLine compares with a pipe that holds one enormous line, of which a report quotes the beginning.
func TestMatchLongLine(t *testing.T) {
	t.Chdir(traceFolder(t))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text := clitest.Content(t, "ref")
	go func() {
		defer w.Close()
		io.WriteString(w, text)
		for range 1000 {
			io.WriteString(w, strings.Repeat("long ", 1<<14))
		}
	}()
	got := clitest.RunWith(t, r, "match", "ref", "-", "--json")
	if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "has 1 line") || len(got.Stdout) > 20_000 {
		t.Errorf("exit status %d, %d bytes: %s", got.Status, len(got.Stdout), got.Stderr)
	}
}
