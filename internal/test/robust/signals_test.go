//go:build linux

package robust

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracewell/internal/sys"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
)

// attached is a program that runs before anybody traces it, and whoever traces it then.
type attached struct {
	*subject
	program, tracer *exec.Cmd
	lines           *linesOf
	untraced        []byte // the code of tick()
}

// linesOf collects what a process prints.
type linesOf struct{ *os.File }

// text is what there is so far.
func (l *linesOf) text(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(l.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// collect makes a file for what a process prints.
func collect(t *testing.T, name string) *linesOf {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &linesOf{f}
}

// tracers are the commands that attach to a process and trace tick() in it. Other options may be behind the name of one.
var tracers = map[string]func(a *attached) []string{
	"record": func(a *attached) []string {
		// One call in a hundred has the condition hold, or the files would have gigabytes.
		return []string{"-o", filepath.Join(a.TempDir(), "run.tf"), "--at", fmt.Sprintf("*%#x", a.at("tick")), "--if", "$rdi == 7",
			"--pid", fmt.Sprint(a.pid)}
	},
	"serve": func(a *attached) []string {
		return []string{"--attach", "unix:" + a.server.Address, fmt.Sprint(a.pid)}
	},
}

// startBusy starts the program busy.
func startBusy(t *testing.T) *attached {
	t.Helper()
	path := testprog.Build(t, "busy", testprog.Variant{NoPIE: true}).Path
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	a := &attached{subject: &subject{T: t, path: path, symbols: symbols(t, path), input: w}, lines: collect(t, "program")}
	a.program = exec.Command(path, "2")
	a.program.Stdin, a.program.Stdout = r, a.lines.File
	if err := a.program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(); a.program.Process.Kill(); a.program.Wait() })
	a.pid = a.program.Process.Pid
	a.asked()
	a.untraced = a.tick()
	return a
}

// attach has a tracer, whose messages go to a file, attach to the program.
func (a *attached) attach(tracer string, messages *os.File) {
	a.Helper()
	dir, err := os.MkdirTemp("", "tracewell")
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() { os.RemoveAll(dir) })
	a.server = &gdbtest.Server{Address: filepath.Join(dir, "s")}
	command := strings.Fields(tracer)
	a.tracer = exec.Command(gdbtest.Binary(a), append(command, tracers[command[0]](a)...)...)
	a.tracer.Stderr = messages
	if err := a.tracer.Start(); err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() { a.tracer.Process.Kill(); a.tracer.Wait() })
}

// run has a client of a server trace tick(), and leave the program to the run.
func (a *attached) run() *client {
	a.Helper()
	c := a.connect()
	c.pass(49)
	do(c, request.Disconnected, true)
	c.trace(a.at("tick"), a.at("tick")+4)
	c.goOn()
	return c
}

// attachTo starts the program busy, has a tracer attach to it, and waits until it is traced.
func attachTo(t *testing.T, tracer string) *attached {
	t.Helper()
	a := startBusy(t)
	said := collect(t, "tracer")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the tracer printed:\n%s", said.text(t))
		}
	})
	a.attach(tracer, said.File)
	if strings.HasPrefix(tracer, "serve") {
		a.await("a server", func() bool { return strings.Contains(said.text(t), "Listening") })
		a.run()
	}
	a.await("a tracepoint", a.isPatched)
	return a
}

// isPatched reports whether tick() is not as it was before the tracer came.
func (a *attached) isPatched() bool {
	return !bytes.Equal(a.tick(), a.untraced)
}

// tick is the code of tick().
func (a *attached) tick() []byte {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", a.pid))
	if err != nil {
		a.Fatal(err)
	}
	defer memory.Close()
	code := make([]byte, 16)
	if _, err := memory.ReadAt(code, int64(a.at("tick"))); err != nil {
		a.Fatal(err)
	}
	return code
}

// asked has the program print its progress.
func (a *attached) asked() testprog.Record {
	a.Helper()
	before := strings.Count(a.lines.text(a.T), "\n")
	if _, err := a.input.Write([]byte{'\n'}); err != nil {
		a.Fatal(err)
	}
	a.await("what the program says", func() bool {
		if strings.Count(a.lines.text(a.T), "\n") > before {
			return true
		}
		if !alive(a.pid) {
			a.program.Wait()
			a.Fatalf("the program has died: %v", a.program.ProcessState)
		}
		return false
	})
	all := testprog.OfKind(testprog.Records(a.lines.text(a.T)), "progress")
	return all[len(all)-1]
}

// unharmed fails the test unless the program goes on as if it had never been traced.
func (a *attached) unharmed() {
	a.Helper()
	a.asBefore()
	line := a.asked()
	if line.Int(a, "wrong")+line.Int(a, "disorder")+line.Int(a, "other") != 0 {
		a.Errorf("the program says %v", line.Fields)
	}
}

// signal sends the tracer a signal.
func (a *attached) signal(number int) {
	a.Helper()
	if err := sys.Kill(a.tracer.Process.Pid, number); err != nil {
		a.Fatal(err)
	}
}

// status is the exit status of the tracer.
func (a *attached) status() int {
	a.Helper()
	ended := make(chan error, 1)
	go func() { ended <- a.tracer.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			a.Fatal(err)
		}
		return a.tracer.ProcessState.ExitCode()
	case <-time.After(patience):
		a.Fatalf("the tracer still runs")
		return 0
	}
}

// TestSignalsWhileAttached sends every signal that can be caught to a recorder and a server that are attached to a process: those
// that end them do so after the process has been left in order, and the others do no harm.
func TestSignalsWhileAttached(t *testing.T) {
	t.Parallel()
	usual := map[int]bool{hangup: true, interrupt: true, terminate: true}
	// Those that do nothing by default (CHLD, CONT, URG, WINCH), that the Go runtime takes (PROF and real-time ones), PIPE and XFSZ.
	harmless := map[int]bool{13: true, 17: true, 18: true, 23: true, 25: true, 27: true, 28: true, 32: true, 33: true, 34: true, 40: true, 64: true}
	stops := map[int]bool{19: true, 20: true, 21: true, 22: true}
	all := []int{32, 33, 34, 40, 64}
	for signal := 1; signal <= 31; signal++ {
		if signal != kill && !stops[signal] {
			all = append(all, signal)
		}
	}
	for _, tracer := range []string{"record", "serve", "record --no-pads", "serve --no-pads"} {
		t.Run(tracer, func(t *testing.T) {
			t.Parallel()
			// Without pads a tracer takes signals as the others do, and only leaves in another way: the usual ones and one more do.
			alike := strings.HasSuffix(tracer, " --no-pads")
			t.Run("harmless", func(t *testing.T) { // a test of its own, or the program would be busy until the last of the others ends
				a := attachTo(t, tracer)
				for _, signal := range all {
					if harmless[signal] {
						a.signal(signal)
					}
				}
				time.Sleep(50 * time.Millisecond)
				a.asked()
				if !a.isPatched() {
					t.Fatal("a harmless signal has ended the tracing")
				}
				a.signal(terminate)
				a.status()
				a.unharmed()
			})
			for _, signal := range all {
				if harmless[signal] || alike && !usual[signal] && signal != quit {
					continue
				}
				t.Run(fmt.Sprint("signal ", signal), func(t *testing.T) {
					t.Parallel()
					a := attachTo(t, tracer)
					a.signal(signal)
					want := 128 + signal
					if usual[signal] {
						want = 0
					}
					if got := a.status(); got != want {
						t.Errorf("exit status %d, want %d", got, want)
					}
					a.unharmed()
				})
			}
		})
	}
}

// TestReaderOfMessagesLeaves: a server whose messages nobody reads any more goes on, and leaves in order.
func TestReaderOfMessagesLeaves(t *testing.T) {
	t.Parallel()
	a := startBusy(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	a.attach("serve", w)
	w.Close()
	messages := bufio.NewScanner(r)
	for messages.Scan() && !strings.Contains(messages.Text(), "Listening") {
	}
	r.Close()
	a.run().hangUp() // which is a message, as is the end
	a.await("a tracepoint", a.isPatched)
	a.signal(terminate)
	if got := a.status(); got != 0 {
		t.Errorf("exit status %d", got)
	}
	a.unharmed()
}

// TestInterruptBesideSignal sends a Ctrl-C that comes when a signal has just stopped the program. The client gives the thread its signal
// back, is told of the Ctrl-C instead of a run, and goes on: the signal has been delivered.
func TestInterruptBesideSignal(t *testing.T) {
	t.Parallel()
	s := serveReading(t, nil, "busy", "2")
	c := s.connect()
	given := ""
	for range 20 {
		c.tell("vCont;%sc", given)
		stop := c.hear()
		parsed, err := reply.Stopped.Parse(stop)
		if err != nil || parsed.Thread == nil {
			t.Fatalf("stop reply %q, %v", stop, err)
		}
		if given = ""; parsed.Number == 2 {
			continue
		}
		given = fmt.Sprintf("C%02x:%s;", parsed.Number, parsed.Thread)
		if err := c.Interrupt(); err != nil {
			t.Fatal(err)
		}
		c.wants(c.ask("vMustReplyEmpty"), "")
	}
	c.do("QPassSignals:31") // SIGRTMIN+3
	c.tell("vCont;%sc", given)
	if given != "" { // the last Ctrl-C
		c.wants(c.hear(), "T02")
		c.tell("vCont;c")
	}
	s.end()
	if done := s.rightResults(); done.Int(t, "lost")+done.Int(t, "disorder")+done.Int(t, "other") != 0 {
		t.Errorf("the program has not had the signals that were sent to it, and no others: %v", done.Fields)
	}
}
