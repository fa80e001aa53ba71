//go:build linux && amd64

package record

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/recording"
	"tracewell/internal/test/testprog"
)

// resident is a process that runs until its standard input ends.
type resident struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startResident starts a process that is ready.
func startResident(t *testing.T, path string) *resident {
	t.Helper()
	r := &resident{Cmd: exec.Command(path, "1000", "2")}
	out, err := r.StdoutPipe()
	if err == nil {
		r.in, err = r.StdinPipe()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Process.Kill(); r.Wait() })
	r.out = bufio.NewReader(out)
	if line, err := r.out.ReadString('\n'); err != nil || !strings.HasPrefix(line, "ready ") {
		t.Fatalf("%q, %v", line, err)
	}
	return r
}

// TestRecordSeveral: of two processes one is killed, which a line tells, and ^C ends the run over the other, which goes on. The
// file opens in GDB.
func TestRecordSeveral(t *testing.T) {
	path := testprog.Build(t, "residents", testprog.Variant{NoPIE: true}).Path
	one, two := startResident(t, path), startResident(t, path)
	file := filepath.Join(t.TempDir(), "run.tf")
	pids := fmt.Sprintf("%d,%d", one.Process.Pid, two.Process.Pid)
	s := clitest.OnPTY(t, []string{"NO_COLOR=1"}, "record", "-o", file, "--at", "tick", "--collect", "n", "--format", "{pid}:made:{n}", "-p", pids)
	for _, r := range []*resident{one, two} {
		s.Screen.Shows(t, fmt.Sprintf("%d:made:", r.Process.Pid))
	}
	s.Screen.Shows(t, fmt.Sprintf("Process %d runs %s, and is recorded, too", max(one.Process.Pid, two.Process.Pid), path))
	one.Process.Kill()
	s.Screen.Shows(t, fmt.Sprintf("Process %d was killed by signal 9 (killed)", one.Process.Pid))
	io.WriteString(s.Typist, "\x03")
	if got := s.Status(t); got != 0 {
		t.Errorf("status %d", got)
	}
	s.Screen.Shows(t, "in "+file+": interrupted")
	two.in.Close()
	if rest, err := io.ReadAll(two.out); err != nil || !strings.Contains(string(rest), "done threads=2") {
		t.Errorf("%q, %v", rest, err)
	}
	frames := recording.File(t, file).NumFrames()
	shown := gdbtest.Run(t, path, fmt.Sprintf("target tfile %s\ntfind %d\n-- last --\nprintf \"%%d\\n\", $pid\n", file, frames-1))
	if got := shown.Section(t, "last"); got != fmt.Sprint(two.Process.Pid) {
		t.Errorf("GDB reads %s in the last frame, want %d", got, two.Process.Pid)
	}
}

// TestRecordGone: a process that cannot be attached to is a warning, and the rest is traced.
func TestRecordGone(t *testing.T) {
	path := testprog.Build(t, "residents", testprog.Variant{}).Path
	own := startResident(t, path)
	file := filepath.Join(t.TempDir(), "run.tf")
	got := clitest.Run(t, "record", "-o", file, "--at", "tick", "--frames", "3", "--pid", "1073741824", "--pid", fmt.Sprint(own.Process.Pid))
	if got.Status != 0 || !strings.Contains(got.Stderr, "warning: cannot attach to process 1073741824: no such process") ||
		!strings.Contains(got.Stderr, "\n3 frames, ") {
		t.Errorf("status %d\n%s", got.Status, got.Stderr)
	}
}

// TestRecordSync: the line of a hit is written before its thread goes on, which then writes a line itself.
func TestRecordSync(t *testing.T) {
	p := testprog.Build(t, "who", testprog.Variant{})
	t.Chdir(t.TempDir())
	got := clitest.Run(t, "record", "-q", "--sync", "--follow", "--at", "who", "--collect", "process, thread",
		"--format", "at pid={process} tid={thread}", "--", p.Path)
	ahead, calls := make(map[string]int), 0 // by thread
	for line := range strings.Lines(got.Stdout) {
		kind, thread, _ := strings.Cut(line, " ")
		switch kind {
		case "at":
			ahead[thread]++
		case "who":
			calls++
			ahead[thread]--
		}
		if ahead[thread] < 0 || ahead[thread] > 1 {
			t.Errorf("%q is out of turn in\n%s", line, got.Stdout)
		}
	}
	if calls != 12 || got.Status != 0 {
		t.Errorf("%d calls, status %d\n%s%s", calls, got.Status, got.Stdout, got.Stderr)
	}
	if left, _ := os.ReadDir("."); len(left) > 0 {
		t.Errorf("files that nobody has asked for: %v", left)
	}
}

// TestRecordToPipe: the trace file goes to standard output, and what the program prints there to standard error.
func TestRecordToPipe(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	t.Setenv("TMPDIR", t.TempDir())
	got := clitest.Run(t, "record", "-q", "-o", "-", "--at", "push", "--collect", "item->number", "--", p.Path, "6")
	file := filepath.Join(t.TempDir(), "run.tf")
	if err := os.WriteFile(file, []byte(got.Stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := recording.File(t, file).NumFrames(); n != 6 || strings.Count(got.Stderr, "push number=") != 6 {
		t.Errorf("%d frames\n%s", n, got.Stderr)
	}
	if checked := clitest.Run(t, "check", file); checked.Status != 0 {
		t.Errorf("check: %s", checked.Stdout)
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("it has left %v", left)
	}
	s := clitest.OnPTY(t, nil, "record", "-o", "-", "--at", "push", "--", p.Path, "6")
	s.Screen.Shows(t, "-o -: standard output is a terminal")
	if status := s.Status(t); status != 2 {
		t.Errorf("status %d on a terminal", status)
	}
}

// TestRecordTexts: a pointer to characters is printed as its text, as the program itself prints it.
func TestRecordTexts(t *testing.T) {
	p := testprog.Build(t, "collects", testprog.Variant{})
	got := clitest.Run(t, "record", "-q", "--at", "handle", "--collect", "$args, text", "--format", "<{label}> <{text}> {values}", "--", p.Path)
	for i := range 5 { // the program calls handle with text + i
		label := "hello world"[i:]
		if !strings.Contains(got.Stdout, fmt.Sprintf("<%s> <hello world> ", label)) || !strings.Contains(got.Stdout, fmt.Sprintf("label = %q", label)) {
			t.Errorf("no line with %q in\n%s", label, got.Stdout)
		}
	}
	if got.Status != 0 {
		t.Errorf("status %d\n%s", got.Status, got.Stderr)
	}
}
