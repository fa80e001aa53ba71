//go:build linux && amd64

package local

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracewell/internal/sys"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/recording"
	"tracewell/internal/test/testprog"
	"tracewell/record"
	"tracewell/tfile"
)

// visits is how often TestAttachAndLeave comes.
var visits = flag.Int("visits", 5, "how often the test of attaching and leaving does so")

// resident is a process that runs before anybody traces it.
type resident struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t testing.TB, path string, args ...string) *resident {
	t.Helper()
	r := &resident{Cmd: exec.Command(path, args...)}
	var err error
	if r.in, err = r.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Process.Kill(); r.Wait() })
	return r
}

// ask has the program tell its progress.
func (r *resident) ask(t testing.TB) string {
	t.Helper()
	if _, err := r.in.Write([]byte{'?'}); err != nil {
		t.Fatal(err)
	}
	line, err := r.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// attachment is a config for a process.
func attachment(t testing.TB, script string, pid int) Config {
	t.Helper()
	return Config{Config: record.Config{Plan: recording.Plan(t, script), Output: filepath.Join(t.TempDir(), "run.tf")}, PIDs: []int{pid}}
}

// TestAttachedGoesOn: a process that is attached to answers before the run begins.
func TestAttachedGoesOn(t *testing.T) {
	p := testprog.Build(t, "busy", testprog.Variant{})
	r := start(t, p.Path, "2")
	s, err := Open(attachment(t, "trace tick\n", r.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	r.ask(t)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	r.ask(t)
}

// TestAttachAndLeave comes to a busy process with 50 threads that send each other signals, traces it for a moment, and leaves,
// again and again. The process checks what it computes and that each signal comes once and in its turn.
func TestAttachAndLeave(t *testing.T) {
	p := testprog.Build(t, "busy", testprog.Variant{})
	r := start(t, p.Path, "50")
	before := r.ask(t)
	text := code(t, r.Process.Pid, p.Path)
	maps := executable(t, r.Process.Pid)
	for visit := range *visits {
		c := attachment(t, fmt.Sprintf("trace tick\ntrace busy.c:%d\n", p.Line(t, "tick-line")), r.Process.Pid)
		c.Duration = time.Duration(1+visit%20) * time.Millisecond
		if visit%5 == 0 {
			c.MaxFrames = 100
		}
		o := runUntil(t, c, context.Background())
		if o.End != record.TimeUp && o.End != record.EnoughFrames {
			t.Fatalf("visit %d: %+v", visit, o.Result)
		}
		if c.MaxFrames > 0 && o.End == record.EnoughFrames && o.file.NumFrames() != 100 {
			t.Errorf("visit %d: %d frames, want 100", visit, o.file.NumFrames())
		}
		if now := code(t, r.Process.Pid, p.Path); now != text {
			t.Fatalf("visit %d has changed the code of the program", visit)
		}
		if now := executable(t, r.Process.Pid); now != maps {
			t.Fatalf("visit %d has left a mapping:\n%s\nwas\n%s", visit, now, maps)
		}
		if said := r.ask(t); !strings.Contains(said, " wrong=0 disorder=0 other=0 ") {
			t.Fatalf("visit %d: %s(before: %s)", visit, said, before)
		}
	}
	r.in.Close()
	last, err := r.out.ReadString('\n')
	if err != nil || !strings.HasPrefix(last, "done threads=50 wrong=0 disorder=0 other=0 lost=0 ") {
		t.Errorf("%q, %v", last, err)
	}
	if err := r.Wait(); err != nil {
		t.Error(err)
	}
}

// mapping finds the lines of a process's mappings.
func mappings(t testing.TB, pid int, match func(line string) bool) (lines []string) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if match(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// executable lists what a process may execute.
func executable(t testing.TB, pid int) string {
	return strings.Join(mappings(t, pid, func(line string) bool { return strings.Contains(line, "x") && strings.Contains(line, "r-xp") }), "")
}

// code reads the code of a program from its process.
func code(t testing.TB, pid int, path string) string {
	t.Helper()
	lines := mappings(t, pid, func(line string) bool { return strings.Contains(line, "r-xp") && strings.Contains(line, path) })
	var from, to int64
	if _, err := fmt.Sscanf(strings.Join(lines, ""), "%x-%x", &from, &to); err != nil {
		t.Fatalf("%q: %v", lines, err)
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	b := make([]byte, to-from)
	if _, err := mem.ReadAt(b, from); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// state is what the kernel says of a process.
func state(t testing.TB, pid int) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest[:1]
}

// TestStoppedStaysStopped traces a process that job control has stopped. It stays so until somebody continues it, whether that
// is during the run or after it.
func TestStoppedStaysStopped(t *testing.T) {
	p := testprog.Build(t, "busy", testprog.Variant{})
	for _, during := range []bool{false, true} {
		r := start(t, p.Path, "3")
		r.ask(t)
		sys.Kill(r.Process.Pid, sys.SIGSTOP)
		for state(t, r.Process.Pid) != "T" {
			time.Sleep(time.Millisecond)
		}
		c := attachment(t, "trace tick\n", r.Process.Pid)
		c.Duration = 300 * time.Millisecond
		if during {
			c.Duration, c.MaxFrames = time.Minute, 10
			time.AfterFunc(150*time.Millisecond, func() { sys.Kill(r.Process.Pid, sys.SIGCONT) })
		}
		o := run(t, c)
		if n := o.file.NumFrames(); n > 0 != during {
			t.Errorf("continued %v: %d frames", during, n)
		}
		for end := time.Now().Add(time.Minute); !during && state(t, r.Process.Pid) != "T"; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the process is not stopped any more")
			}
		}
		if during && state(t, r.Process.Pid) == "T" {
			t.Error("the process is stopped again")
		}
		sys.Kill(r.Process.Pid, sys.SIGCONT)
		if said := r.ask(t); !strings.Contains(said, " wrong=0 disorder=0 ") {
			t.Errorf("continued %v: %s", during, said)
		}
	}
}

// TestCancel ends runs by their context: a process that was attached to lives on, a program that was launched ends.
func TestCancel(t *testing.T) {
	p := testprog.Build(t, "busy", testprog.Variant{})
	r := start(t, p.Path, "5")
	r.ask(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := attachment(t, "trace tick\n", r.Process.Pid)
	c.Frames = func(record.Frame) { cancel() }
	o := runUntil(t, c, ctx)
	if o.End != record.Cancelled || o.file.NumFrames() == 0 || o.ProgramEnded {
		t.Errorf("%+v with %d frames", o.Result, o.file.NumFrames())
	}
	if said := r.ask(t); !strings.Contains(said, " wrong=0 ") {
		t.Error(said)
	}
	c = config(t, "trace tick\n", p.Path, "5")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	c.Streams.In = read
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	c.Frames = func(record.Frame) { cancel() }
	o = runUntil(t, c, ctx)
	if o.End != record.Cancelled || o.file.NumFrames() == 0 || !o.ProgramEnded || o.Signal != sys.SIGTERM {
		t.Errorf("%+v with %d frames", o.Result, o.file.NumFrames())
	}
}

// TestNotAttached says why a process cannot be had.
func TestNotAttached(t *testing.T) {
	reasons := map[int]string{1 << 30: "no such process", os.Getpid(): "it is this"}
	const kthreadd = 2 // outside of a namespace of processes
	if name, err := sys.StatusField(kthreadd, "Name"); err == nil && name == "kthreadd" {
		reasons[kthreadd] = "thread of the kernel"
	}
	for pid, want := range reasons {
		c := attachment(t, "trace tick\n", pid)
		_, err := Open(c)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("process %d: %v, want %q", pid, err, want)
		}
	}
}

// TestKilledRecorder kills tracewell in the middle of a run. What is in the file is whole, and it is all but the last moment.
func TestKilledRecorder(t *testing.T) {
	p := testprog.Build(t, "hammer", testprog.Variant{NoPIE: true})
	path := filepath.Join(t.TempDir(), "run.tf")
	// By traps: a file to which pads write grows faster than it can be read.
	r := start(t, gdbtest.Binary(t), "record", "--no-pads", "--at", "tick_slot", "--collect", "$rip, $rdi", "-o", path, "--", p.Path, "4")
	defer r.in.Close()
	frames := 0
	for end := time.Now().Add(2 * time.Minute); frames < 2000; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after two minutes there are %d frames", frames)
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) == 0 {
			continue // it has not begun
		}
		file, err := tfile.OpenBytes(b)
		if err != nil {
			t.Fatalf("while it is written: %v", err)
		}
		frames = file.NumFrames()
	}
	sys.Kill(r.Process.Pid, sys.SIGKILL)
	r.Wait()
	if n := recording.File(t, path).NumFrames(); n < frames {
		t.Errorf("%d frames, and %d were there before", n, frames)
	}
}
