//go:build linux

package guardtest

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/rsp/client"
	"tracewell/rsp/request"
	"tracewell/tfile"
	"tracewell/trace"
)

// patience is how long anything may take that a test waits for.
const patience = 2 * time.Minute

// lab is what the trials of a test share.
type lab struct {
	*testing.T
	tracewell string
	program   *testprog.Program
	tick      uint64 // the address that is traced, in the program's file
	code      []byte // of the first instructions there
	dir       string
	untraced  map[int]string // what the program prints, by its threads
	servers   atomic.Int32   // that were started
}

// newLab has a program that is loaded where its file says.
func newLab(t *testing.T) *lab { return newLabOf(t, testprog.Variant{NoPIE: true}) }

func newLabOf(t *testing.T, how testprog.Variant) *lab {
	p := testprog.Build(t, "steady", how)
	l := &lab{T: t, tracewell: gdbtest.Binary(t), program: p, dir: t.TempDir(), untraced: map[int]string{}}
	f, err := elf.Open(p.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l.tick = testprog.Symbols(t, p.Path)["tick"].Value
	l.code = make([]byte, 16)
	if _, err := f.Section(".text").ReadAt(l.code, int64(l.tick-f.Section(".text").Addr)); err != nil {
		t.Fatal(err)
	}
	return l
}

// subject is the program, with what it prints line by line.
type subject struct {
	*exec.Cmd
	in    io.WriteCloser
	lines chan string
}

// run starts the program; rate is its second argument, and more are the others.
func (l *lab) run(threads int, rate string, more ...string) *subject {
	l.Helper()
	cmd := exec.Command(l.program.Path, append([]string{strconv.Itoa(threads), rate}, more...)...)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		l.Fatal(err)
	}
	return &subject{cmd, in, lines(out)}
}

// bias is the difference between where the program is loaded and where its file says.
func (l *lab) bias(pid int) uint64 {
	l.Helper()
	f, err := elf.Open(l.program.Path)
	if err != nil {
		l.Fatal(err)
	}
	defer f.Close()
	maps, err := sys.Mappings(pid)
	if err != nil {
		l.Fatal(err)
	}
	i := slices.IndexFunc(maps, func(m sys.Mapping) bool { return m.Path == l.program.Path })
	if i < 0 || f.Type == elf.ET_EXEC {
		return 0
	}
	return maps[i].Start
}

// lines sends what is read, line by line, and is closed at the end. What is behind the last line feed is left out.
func lines(r io.Reader) chan string {
	c := make(chan string, 1<<20)
	go func() {
		defer close(c)
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			c <- line
		}
	}()
	return c
}

// ask has the program make some more calls, and returns what it prints then, "" if it has ended.
func (s *subject) ask() string {
	io.WriteString(s.in, "\n")
	return <-s.lines
}

// finish is ask, and has the program end. It returns what it printed and how it ended.
func (s *subject) finish() (printed string, err error) {
	stuck := time.AfterFunc(patience, func() { s.Process.Kill() })
	defer stuck.Stop()
	printed = s.ask()
	s.in.Close()
	for line := range s.lines {
		printed += line
	}
	return printed, s.Wait()
}

// expect is what the program prints untraced.
func (l *lab) expect(threads int) string {
	l.Helper()
	if l.untraced[threads] == "" {
		printed, err := l.run(threads, "asked").finish()
		if err != nil {
			l.Fatal(err)
		}
		l.untraced[threads] = printed
	}
	return l.untraced[threads]
}

// tracer is a tracer at work.
type tracer struct {
	*lab
	*exec.Cmd
	traceFile string      // of a recorder
	lines     chan string // what it prints
	conn      net.Conn    // to a server
	*client.Client
}

// A tool attaches to a process, or launches one, and traces calls of tick: by a trap, or by what it has by default.
type tool struct {
	name   string
	attach func(l *lab, pid int, flags ...string) *tracer
	launch func(l *lab, threads int, rate string, flags ...string) (k *tracer, program int)
	flags  []string
}

// noPads has a tool make traps.
const noPads = "--no-pads"

// trapping are the tools whose hits need a tracer, tools those and the others.
var (
	trapping = []tool{
		{"record " + noPads, (*lab).record, (*lab).recordNew, []string{noPads}},
		{"serve " + noPads, (*lab).serve, (*lab).serveNew, []string{noPads}},
	}
	tools = append([]tool{
		{"record", (*lab).record, (*lab).recordNew, nil},
		{"serve", (*lab).serve, (*lab).serveNew, nil},
	}, trapping...)
)

// recording is a command line that has each frame printed when it is in the file.
func recording(flags []string, more ...string) []string {
	return slices.Concat([]string{"record", "-q", "--at", "tick", "--collect", "i", "--format", "{frame} {i}"}, flags, more)
}

func (l *lab) record(pid int, flags ...string) *tracer {
	l.Helper()
	k := &tracer{lab: l, traceFile: filepath.Join(l.dir, fmt.Sprintf("%d.tf", pid))}
	k.Cmd = exec.Command(l.tracewell, recording(flags, "--pid", strconv.Itoa(pid), "-o", k.traceFile)...)
	k.begin()
	k.await("the recorder traces", func() bool { return k.records() && l.armed(pid) })
	return k
}

func (l *lab) recordNew(threads int, rate string, flags ...string) (*tracer, int) {
	l.Helper()
	k := &tracer{lab: l, traceFile: filepath.Join(l.dir, "launched.tf")}
	k.Cmd = exec.Command(l.tracewell, recording(flags, "-o", k.traceFile, "--", l.program.Path, strconv.Itoa(threads), rate)...)
	in, err := k.StdinPipe() // the program's
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { in.Close() })
	k.begin()
	k.await("the recorder has a file", k.records)
	return k, k.programOf()
}

// records reports whether a recorder has written the header of its file, which it does before the program runs. A kill in the
// middle of that one write may leave the pages of it that were done.
func (k *tracer) records() bool {
	data, err := os.ReadFile(k.traceFile)
	if err != nil {
		return false
	}
	_, err = tfile.OpenBytes(data)
	return err == nil
}

// begin starts a tracer.
func (k *tracer) begin() {
	k.Helper()
	k.Stderr = os.Stderr
	out, err := k.StdoutPipe()
	if err := errors.Join(err, k.Start()); err != nil {
		k.Fatal(err)
	}
	k.lines = lines(out)
}

// programOf is the process of the program that a tracer has launched, when it is traced.
func (k *tracer) programOf() (pid int) {
	k.Helper()
	k.await("the program is launched and traced", func() bool {
		for _, child := range sys.Children(k.Process.Pid) {
			if path, _ := sys.Executable(child); path == k.program.Path && k.armed(child) {
				pid = child
			}
		}
		return pid != 0
	})
	return pid
}

// armed reports whether tick of a process is not as it is in the file.
func (l *lab) armed(pid int) bool {
	mem, err := sys.OpenMemory(pid)
	if err != nil {
		return false
	}
	defer mem.Close()
	return l.patched(mem, l.bias(pid)+l.tick)
}

// patched reports whether tick is not as it is in the file, in the memory of a process. A process that has ended has nothing.
func (l *lab) patched(mem io.ReaderAt, tick uint64) bool {
	now := make([]byte, len(l.code))
	n, err := mem.ReadAt(now, int64(tick))
	return n == len(now) && err == nil && !bytes.Equal(now, l.code)
}

// await waits until a condition holds.
func (l *lab) await(what string, holds func() bool) {
	l.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			l.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func (l *lab) serve(pid int, flags ...string) *tracer {
	l.Helper()
	k := l.server(append(flags, "--attach"), strconv.Itoa(pid))
	k.trace()
	return k
}

func (l *lab) serveNew(threads int, rate string, flags ...string) (*tracer, int) {
	l.Helper()
	k := l.server(flags, l.program.Path, strconv.Itoa(threads), rate)
	k.trace()
	return k, k.programOf()
}

// server starts a server of a process or a program and connects to it.
func (l *lab) server(flags []string, subject ...string) *tracer {
	l.Helper()
	address := filepath.Join(l.dir, fmt.Sprintf("%d.sock", l.servers.Add(1)))
	k := &tracer{lab: l, Cmd: exec.Command(l.tracewell, slices.Concat([]string{"serve"}, flags, []string{"unix:" + address}, subject)...)}
	in, err := k.StdinPipe()
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { in.Close() })
	k.begin()
	k.await("the server listens", func() bool {
		k.conn, err = net.Dial("unix", address)
		return err == nil
	})
	k.Client = client.New(k.conn)
	k.Patience = patience
	return k
}

// goOn has the program run.
func (k *tracer) goOn() {
	k.Helper()
	if err := k.Resume(request.Action{Verb: 'c', All: true}); err != nil {
		k.Fatal(err)
	}
}

// trace starts a trace run in a server and has the program run.
func (k *tracer) trace() {
	k.Helper()
	k.traceAt(k.tick)
}

// traceAt is trace with an address of the process's.
func (k *tracer) traceAt(addr uint64) {
	k.Helper()
	point := trace.Tracepoint{Number: 1, Addr: arch.Addr(addr), Enabled: true, Actions: []trace.Action{
		{Kind: trace.CollectRegisters, Mask: []byte{3, 0xff, 0xff}},
	}}
	err := errors.Join(client.Command(k.Client, request.TraceInit, request.None{}),
		k.Define(&point, func(string) bool { return true }),
		client.Command(k.Client, request.TraceStart, request.None{}))
	if err != nil {
		k.Fatal(err)
	}
	k.goOn()
}

// guards are the guard processes of a tracer.
func (k *tracer) guards() []int { return guardsOf(k.Process.Pid) }

func guardsOf(pid int) []int {
	return slices.DeleteFunc(sys.Children(pid), func(pid int) bool { return sys.ThreadName(pid) != "tw-guard" })
}

// allEnded reports whether processes have ended.
func allEnded(pids []int) bool {
	return !slices.ContainsFunc(pids, func(pid int) bool { return !sys.HasEnded(pid) })
}

// kill kills the tracer by SIGKILL, and waits until its guard has done its work.
func (k *tracer) kill() {
	k.Helper()
	guards := k.guards()
	k.Process.Kill()
	k.Wait()
	if k.conn != nil {
		k.conn.Close()
	}
	k.await("the guard ends", func() bool { return allEnded(guards) })
	k.checkFile()
}

// checkFile checks that the trace file opens, and has every frame that was printed.
func (k *tracer) checkFile() {
	k.Helper()
	if k.traceFile == "" {
		return
	}
	printed := 0
	for line := range k.lines {
		if !strings.HasPrefix(line, strconv.Itoa(printed)+" ") {
			k.Errorf("line %d is %q", printed, line)
		}
		printed++
	}
	data, err := os.ReadFile(k.traceFile)
	if err != nil {
		k.Fatal(err)
	}
	f, err := tfile.OpenBytes(data)
	if err != nil {
		k.Fatalf("the trace file: %v", err)
	}
	if f.NumFrames() < printed {
		k.Errorf("%d frames in the file, and %d were printed", f.NumFrames(), printed)
	}
	for i := range f.NumFrames() {
		if _, err := f.Frame(i); err != nil {
			k.Errorf("frame %d: %v", i, err)
		}
	}
	os.Remove(k.traceFile)
}

// trial attaches a tracer to the program, kills it at a random moment, and looks at what the program does then: it dies by
// SIGTRAP, or it goes on and prints what it prints untraced.
func (l *lab) trial(use tool, threads int, rate string) (survived bool) {
	l.Helper()
	want := l.expect(threads)
	s := l.run(threads, rate)
	defer s.Process.Kill()
	k := use.attach(l, s.Process.Pid, use.flags...)
	time.Sleep(rand.N(longest))
	k.kill()
	printed, err := s.finish()
	if trapped(err) {
		return false
	}
	if err != nil || printed != want {
		l.Errorf("%s, %d threads, %s calls/s: the program ended with %v and printed %q, want %q", use.name, threads, rate, err, printed, want)
	}
	return true
}

// trapped reports whether SIGTRAP ended a program.
func trapped(err error) bool {
	var end *exec.ExitError
	return errors.As(err, &end) && strings.HasPrefix(end.String(), "signal: trace/breakpoint trap")
}

// together is how many trials go on at a time. A trial mostly waits.
const together = 4

// trials makes n trials, and returns how many programs survived.
func (l *lab) trials(n int, use tool, threads int, rate string) int {
	l.Helper()
	l.expect(threads)
	var left, survived atomic.Int32
	left.Store(int32(n))
	var group sync.WaitGroup
	for range together {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				if l.trial(use, threads, rate) {
					survived.Add(1)
				}
			}
		})
	}
	group.Wait()
	return int(survived.Load())
}

// longest is how long a tracer has traced at most when it is killed.
const longest = 300 * time.Millisecond
