//go:build linux && amd64

package robust

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
	"tracewell/rsp/request"
	"tracewell/tfile"
)

// The tests here fill the ring of a traced program while its tracer, or whoever takes what the tracer writes, stands still. What the
// program may be made to wait is the table of docs/fast.md.

// steady is that program, untraced at first. It calls tick as fast as it can, and answers when five more calls have been made.
type steady struct {
	*testing.T
	*exec.Cmd
	in    io.WriteCloser
	lines chan string
}

// begin starts a command that is, or launches, steady. Its other output goes elsewhere.
func begin(t *testing.T, cmd *exec.Cmd) *steady {
	t.Helper()
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	s := &steady{t, cmd, in, make(chan string, 1<<10)}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	go func() {
		defer close(s.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			s.lines <- scanner.Text()
		}
	}()
	return s
}

func (s *steady) ask() { io.WriteString(s.in, "\n") }

// answers reports whether the program answers within a time, rightly.
func (s *steady) answers(within time.Duration) bool {
	s.Helper()
	select {
	case line := <-s.lines:
		if line != "right" {
			s.Errorf("the program says %q", line)
		}
		return true
	case <-time.After(within):
		return false
	}
}

// goesOn has the program show that it makes calls.
func (s *steady) goesOn(within time.Duration) {
	s.Helper()
	begin := time.Now()
	s.ask()
	if !s.answers(within) {
		s.Fatalf("the program stands still for %v", within)
	}
	s.Logf("the program goes on after %v", time.Since(begin).Round(time.Millisecond))
}

// standsStill waits until the program makes no calls any more, as soon as its ring is full, and has it show that it does not go on. The
// answer is still to come.
func (s *steady) standsStill(within time.Duration) {
	s.Helper()
	begin := time.Now()
	for s.ask(); s.answers(fills); s.ask() {
		if time.Since(begin) > within {
			s.Fatal("the program goes on, which was to wait")
		}
	}
	if s.answers(within) {
		s.Fatal("the program goes on after a while, which was to wait")
	}
}

// runs waits until the program has had a processor for a time.
func (s *steady) runs(wanted time.Duration) {
	s.Helper()
	begin := testprog.Ran(s.T, s.Process.Pid)
	until(s.T, func() bool { return testprog.Ran(s.T, s.Process.Pid) >= begin+wanted },
		func() string { return "the program has no processor" })
}

// recorder is tracewell record, attached to steady by pads.
type recorder struct {
	*testing.T
	*exec.Cmd
	file     string
	messages *os.File
	printed  io.ReadCloser // with --format
	ended    chan error
}

// pressed starts steady and a recorder of it, and returns when that has frames. limit is of the file, in blocks of 512 bytes.
func pressed(t *testing.T, limit string, options ...string) (*steady, *recorder) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.tf")
	s, r := startRecorder(t, `ulimit -f `+limit+`; exec "$@"`, append([]string{"-o", file}, options...)...)
	r.await(file)
	return s, r
}

// startRecorder starts steady, and a shell that executes a recorder of it, which is what the script has as its arguments.
func startRecorder(t *testing.T, script string, options ...string) (*steady, *recorder) {
	t.Helper()
	program := testprog.Build(t, "steady", testprog.Variant{NoPIE: true})
	s := begin(t, exec.Command(program.Path, "2", "0"))
	r := &recorder{T: t, ended: make(chan error, 1)}
	r.Cmd = testtool.Command(t, "unshare", append([]string{"--mount", "sh", "-ec", script, "sh", gdbtest.Binary(t), "record", "-q",
		"--at", "tick", "--collect", "$rdi, $rsp", "--pid", fmt.Sprint(s.Process.Pid)}, options...)...)
	var err error
	if r.messages, err = os.CreateTemp(t.TempDir(), "messages"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.messages.Close() })
	r.Stderr = r.messages
	if r.printed, err = r.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := r.Process.Wait()
		r.ended <- err
	}()
	t.Cleanup(func() { r.Process.Signal(syscall.SIGCONT); r.Process.Kill() })
	return s, r
}

// await waits until a file of the recorder has frames.
func (r *recorder) await(file string) {
	r.Helper()
	r.file = file
	r.grows(64<<10, "no frames")
}

// grows waits until the file is longer than a size.
func (r *recorder) grows(size int64, otherwise string) {
	r.Helper()
	until(r.T, func() bool {
		status, err := os.Stat(r.file)
		return err == nil && status.Size() > size
	}, func() string { return otherwise + ": " + r.said() })
}

// drains waits until a stopped recorder that goes on has written a ring's worth of frames.
func (r *recorder) drains() {
	r.Helper()
	begin, err := os.Stat(r.file)
	if err != nil {
		r.Fatal(err)
	}
	r.grows(begin.Size()+8<<20, "the ring is not drained")
}

// said is what the recorder has printed on standard error.
func (r *recorder) said() string {
	text, _ := os.ReadFile(r.messages.Name())
	return string(text)
}

// says waits until the recorder has ended, and looks for a message.
func (r *recorder) says(want string) {
	r.Helper()
	select {
	case <-r.ended:
	case <-time.After(20 * time.Second):
		r.Fatalf("the recorder does not end: %s", r.said())
	}
	if got := r.said(); !strings.Contains(got, want) {
		r.Errorf("the recorder says %q, want %q in it", got, want)
	}
}

// whole checks the file, and returns the number of frames.
func (r *recorder) whole() int {
	r.Helper()
	data, err := os.ReadFile(r.file)
	if err != nil {
		r.Fatal(err)
	}
	f, err := tfile.OpenBytes(data)
	if err != nil || len(f.Findings()) > 0 {
		r.Fatalf("%v, %v", err, f.Findings())
	}
	return f.NumFrames()
}

// untraced looks whether the program is as if it had never been traced.
func (s *steady) untraced() {
	s.Helper()
	s.goesOn(afterwait)
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", s.Process.Pid))
	if err != nil || strings.Contains(string(maps), "memfd:tracewell") {
		s.Errorf("the tracer's memory is still there, %v", err)
	}
}

const (
	fills     = 300 * time.Millisecond // in which a ring is full whose reader stands still
	afterwait = 10 * time.Second       // the second that threads wait, and what a busy machine takes besides
	stillness = 2 * time.Second        // more than that second
)

// TestTracerStopped sends SIGSTOP to a recorder. An attached program goes on after a second, unless it is to wait, and the recorder
// tells why the run has ended when it goes on itself.
func TestTracerStopped(t *testing.T) {
	t.Parallel()
	t.Run("attached", func(t *testing.T) {
		t.Parallel()
		s, r := pressed(t, "unlimited")
		r.Process.Signal(syscall.SIGSTOP)
		time.Sleep(fills)
		s.goesOn(afterwait)
		time.Sleep(stillness - fills) // the second is over, whatever made it go on
		s.goesOn(afterwait)
		r.Process.Signal(syscall.SIGCONT)
		r.says("were not taken")
		r.whole()
		s.untraced()
	})
	t.Run("wait", func(t *testing.T) {
		t.Parallel()
		s, r := pressed(t, "unlimited", "--when-full", "wait")
		r.Process.Signal(syscall.SIGSTOP)
		s.standsStill(stillness)
		r.Process.Signal(syscall.SIGCONT)
		if !s.answers(afterwait) {
			t.Error("the program stands still")
		}
		r.Process.Signal(syscall.SIGTERM)
		r.says("")
		s.untraced()
	})
	t.Run("drop", func(t *testing.T) {
		t.Parallel()
		s, r := pressed(t, "unlimited", "--when-full", "drop")
		r.Process.Signal(syscall.SIGSTOP)
		s.runs(fills)
		s.goesOn(afterwait)
		r.Process.Signal(syscall.SIGCONT)
		r.drains() // and counts what was dropped
		r.Process.Signal(syscall.SIGTERM)
		r.says("frames lost for want of room")
		s.untraced()
	})
	t.Run("stop", func(t *testing.T) {
		t.Parallel()
		s, r := pressed(t, "unlimited", "--when-full", "stop")
		r.Process.Signal(syscall.SIGSTOP)
		time.Sleep(fills)
		s.goesOn(afterwait)
		r.Process.Signal(syscall.SIGCONT)
		r.says("(--when-full=stop)")
		s.untraced()
	})
	t.Run("launched", func(t *testing.T) {
		t.Parallel()
		program := testprog.Build(t, "steady", testprog.Variant{NoPIE: true})
		file := filepath.Join(t.TempDir(), "run.tf")
		cmd := exec.Command(gdbtest.Binary(t), "record", "-q", "--at", "tick", "--collect", "$rdi", "-o", file, "--",
			program.Path, "2", "0")
		cmd.Stderr = os.Stderr
		s := begin(t, cmd)
		s.goesOn(patience)
		cmd.Process.Signal(syscall.SIGSTOP)
		s.standsStill(stillness)
		cmd.Process.Signal(syscall.SIGCONT)
		if !s.answers(afterwait) {
			t.Error("the program stands still")
		}
		s.in.Close()
		for line := range s.lines {
			if line != "2 threads: right" {
				t.Errorf("the program says %q", line)
			}
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// TestDiskFull has the trace file reach a limit. The run ends with the reason, and the program goes on.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	s, r := pressed(t, "8000")
	r.says("file too large")
	if r.whole() == 0 {
		t.Error("no frame in the file")
	}
	s.untraced()
}

// TestFileSystemFull has the trace file on a file system of the recorder's own that is soon full.
func TestFileSystemFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, r := startRecorder(t, fmt.Sprintf(`mount -t tmpfs -o size=4m none %s; exec "$@"`, dir), "-o", filepath.Join(dir, "run.tf"))
	r.await(fmt.Sprintf("/proc/%d/root%s/run.tf", r.Process.Pid, dir))
	kept, err := os.Open(r.file) // the file system is gone when the recorder is
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	r.file = fmt.Sprintf("/proc/self/fd/%d", kept.Fd())
	r.says("no space left on device")
	if r.whole() == 0 {
		t.Error("no frame in the file")
	}
	s.untraced()
}

// TestNobodyReads has a recorder print frames into a pipe that nobody reads.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	t.Run("attached", func(t *testing.T) {
		t.Parallel()
		s, r := pressed(t, "unlimited", "--format", "{frame}")
		time.Sleep(stillness)
		s.goesOn(afterwait)
		r.says("nobody reads what is printed")
		r.whole()
		s.untraced()
	})
	t.Run("wait", func(t *testing.T) {
		t.Parallel()
		s, r := pressed(t, "unlimited", "--format", "{frame}", "--when-full", "wait")
		s.standsStill(stillness)
		go io.Copy(io.Discard, r.printed)
		if !s.answers(afterwait) {
			t.Error("the program stands still")
		}
		r.Process.Signal(syscall.SIGTERM)
		r.says("")
		s.untraced()
	})
	t.Run("drop", func(t *testing.T) {
		t.Parallel()
		s, r := pressed(t, "unlimited", "--format", "{frame}", "--when-full", "drop")
		time.Sleep(2 * fills)
		s.goesOn(afterwait)
		go io.Copy(io.Discard, r.printed)
		r.Process.Signal(syscall.SIGTERM)
		r.says("frames lost for want of room")
		s.untraced()
	})
}

// TestNobodyReadsAndNoFile is TestNobodyReads without a trace file: there is none unless -o names one. What is printed are whole lines of
// all calls from the first one on, until the run ended.
func TestNobodyReadsAndNoFile(t *testing.T) {
	t.Parallel()
	for choice, reason := range map[string]string{"": "nobody reads what is printed", "stop": "(--when-full=stop)"} {
		t.Run(cmp.Or(choice, "attached"), func(t *testing.T) {
			t.Parallel()
			options := []string{"--format", "{frame} {values}"}
			if choice != "" {
				options = append(options, "--when-full", choice)
			}
			s, r := startRecorder(t, `exec "$@"`, options...)
			lines := bufio.NewReader(r.printed)
			if _, err := lines.Peek(1); err != nil {
				t.Fatalf("nothing is printed: %s", r.said())
			}
			time.Sleep(stillness)
			s.goesOn(afterwait)
			if choice == "" { // else it has ended the run, and waits for somebody to read the rest
				r.says(reason)
			}
			n, calls := 0, map[int]int{} // the last call of each thread, by its stack
			for ; ; n++ {
				line, err := lines.ReadString('\n')
				if err != nil {
					if line != "" && choice == "stop" { // else it is cut where nobody read on
						t.Errorf("the last line is %q", line)
					}
					break
				}
				var frame, call, stack int
				_, err = fmt.Sscanf(line, "%d $rdi = %v, $rsp = %v\n", &frame, &call, &stack)
				if last, ok := calls[stack]; err != nil || frame != n || ok && call != last+1 {
					t.Fatalf("line %d is %q behind call %#x, %v", n, line, last, err)
				}
				calls[stack] = call
			}
			if choice != "" {
				r.says(reason)
			}
			if t.Logf("%d lines", n); n == 0 {
				t.Error("no line")
			}
			s.untraced()
		})
	}
}

// TestSlowReader has somebody read what a recorder prints, and rest in between. Nothing is lost, and the run goes on.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	s, r := pressed(t, "unlimited", "--format", "{frame}")
	lines := bufio.NewReader(r.printed)
	next := 0
	read := func() bool {
		line, err := lines.ReadString('\n')
		if err != nil {
			return false
		}
		if line != fmt.Sprintln(next) {
			t.Fatalf("line %d is %q", next, line)
		}
		next++
		return true
	}
	for range 15 {
		time.Sleep(200 * time.Millisecond)
		for range 20_000 {
			if !read() {
				t.Fatalf("the recorder has ended: %s", r.said())
			}
		}
	}
	s.goesOn(afterwait)
	r.Process.Signal(syscall.SIGTERM)
	for read() {
	}
	r.says("")
	if n := r.whole(); n != next {
		t.Errorf("%d lines and %d frames", next, n)
	}
	s.untraced()
}

// TestServerStopped sends SIGSTOP to a server, with its client and without. The program goes on after a second, and the run has ended
// with the reason.
func TestServerStopped(t *testing.T) {
	t.Parallel()
	for _, leaves := range []bool{false, true} {
		t.Run(fmt.Sprintf("client leaves %v", leaves), func(t *testing.T) {
			t.Parallel()
			s := serveReading(t, nil, "hammer", "2")
			c := s.connect()
			do(c, request.CircularBuffer, true) // or it is full, and the run over, before anything is tried
			do(c, request.Disconnected, leaves)
			c.trace(s.at("tick_slot"))
			c.goOn()
			c.makesProgress()
			if leaves {
				c.hangUp()
			}
			s.server.Signal(t, syscall.SIGSTOP)
			time.Sleep(stillness)
			s.makesProgress()
			s.server.Signal(t, syscall.SIGCONT)
			if leaves {
				c = s.connect()
				c.wants(c.ask("?"), "T")
			} else {
				c.wants(c.interrupt(), "T02")
			}
			want := fmt.Sprintf("T0;terror:%x", "the frames of the program were not taken")
			c.wants(c.ask("qTStatus"), want)
			c.goOn()
			c.makesProgress()
			s.end()
			c.wants(c.hear(), "W00")
			s.rightResults()
		})
	}
}
