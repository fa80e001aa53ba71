package guardtest

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/gdbtest"
	"tracewell/internal/testprog"
	"tracewell/rsp"
)

// patience is how long anything may take that a test waits for.
const patience = 30 * time.Second

// lab is what the trials of a test share.
type lab struct {
	*testing.T
	tracewell string
	program   *testprog.Program
	tick      uint64 // the address that is traced
	dir       string
	untraced  map[int]string // what the program prints, by its threads
}

func newLab(t *testing.T) *lab {
	p := testprog.Build(t, "steady", testprog.Variant{NoPIE: true})
	l := &lab{T: t, tracewell: gdbtest.Binary(t), program: p, dir: t.TempDir(), untraced: map[int]string{}}
	f, err := elf.Open(p.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == "tick" {
			l.tick = s.Value
		}
	}
	return l
}

// subject is the program, with what it prints line by line.
type subject struct {
	*exec.Cmd
	in    io.WriteCloser
	lines chan string
}

// run starts the program.
func (l *lab) run(threads, rate int) *subject {
	l.Helper()
	cmd := exec.Command(l.program.Path, strconv.Itoa(threads), strconv.Itoa(rate))
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		l.Fatal(err)
	}
	return &subject{cmd, in, lines(out)}
}

// lines sends what is read, line by line, and is closed at the end.
func lines(r io.Reader) chan string {
	c := make(chan string, 1<<20)
	go func() {
		defer close(c)
		for s := bufio.NewScanner(r); s.Scan(); {
			c <- s.Text()
		}
	}()
	return c
}

// finish has the program make some more calls, end, and returns what it printed and how it ended.
func (s *subject) finish() (printed string, err error) {
	stuck := time.AfterFunc(patience, func() { s.Process.Kill() })
	defer stuck.Stop()
	io.WriteString(s.in, "\n")
	line, more := <-s.lines
	s.in.Close()
	for ; more; line, more = <-s.lines {
		printed += line + "\n"
	}
	return printed, s.Wait()
}

// expect is what the program prints untraced.
func (l *lab) expect(threads int) string {
	l.Helper()
	if l.untraced[threads] == "" {
		printed, err := l.run(threads, 1000).finish()
		if err != nil {
			l.Fatal(err)
		}
		l.untraced[threads] = printed
	}
	return l.untraced[threads]
}

// tracer is a tracer that traces.
type tracer struct {
	*exec.Cmd
	output string      // the trace file of a recorder
	lines  chan string // what a recorder has printed of frames
	conn   net.Conn    // to a server
}

// record attaches a recorder, and waits for the first frame.
func (l *lab) record(pid int) *tracer {
	l.Helper()
	k := &tracer{output: filepath.Join(l.dir, fmt.Sprintf("%d.tf", pid))}
	k.Cmd = exec.Command(l.tracewell, "record", "-q", "--at", "tick", "--collect", "i", "--format", "{frame} {i}",
		"--pid", strconv.Itoa(pid), "-o", k.output)
	l.begin(k)
	k.lines <- <-k.lines
	return k
}

// begin starts a tracer.
func (l *lab) begin(k *tracer) {
	l.Helper()
	k.Stderr = os.Stderr
	out, err := k.StdoutPipe()
	if err := errors.Join(err, k.Start()); err != nil {
		l.Fatal(err)
	}
	k.lines = lines(out)
}

// serve attaches a server, and starts a trace run in it.
func (l *lab) serve(pid int) *tracer {
	l.Helper()
	address := filepath.Join(l.dir, fmt.Sprintf("%d.sock", pid))
	k := &tracer{Cmd: exec.Command(l.tracewell, "serve", "--attach", "unix:"+address, strconv.Itoa(pid))}
	if err := k.Start(); err != nil {
		l.Fatal(err)
	}
	var err error
	for end := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		if k.conn, err = net.Dial("unix", address); err == nil || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		l.Fatal(err)
	}
	k.conn.SetDeadline(time.Now().Add(patience))
	c := rsp.NewClient(k.conn)
	for _, packet := range []string{
		"QTinit", fmt.Sprintf("QTDP:1:%x:E:0:0-", l.tick), fmt.Sprintf("QTDP:-1:%x:R03FFFF", l.tick), "QTStart",
	} {
		if reply, err := c.Exchange(packet); reply != "OK" || err != nil {
			l.Fatalf("reply to %s: %q, %v", packet, reply, err)
		}
	}
	if err := c.Send([]byte("vCont;c")); err != nil {
		l.Fatal(err)
	}
	return k
}

// kill kills the tracer by SIGKILL at a random moment.
func (k *tracer) kill(within time.Duration) {
	time.Sleep(rand.N(within))
	k.Process.Kill()
	k.Wait()
	if k.conn != nil {
		k.conn.Close()
	}
}

// survives reports whether the program survives a tracer that is killed, and fails the test if it does not do what it should then.
func (l *lab) survives(attach func(pid int) *tracer, threads, rate int) bool {
	l.Helper()
	want := l.expect(threads)
	s := l.run(threads, rate)
	k := attach(s.Process.Pid)
	k.kill(300 * time.Millisecond)
	printed, err := s.finish()
	var end *exec.ExitError
	switch {
	case errors.As(err, &end) && strings.Contains(end.String(), "trace/breakpoint trap"):
		return false
	case err != nil || printed != want:
		l.Errorf("the program ended with %v and printed %q, want %q", err, printed, want)
	}
	return true
}
