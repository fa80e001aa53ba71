package serve

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/routine"
	"tracewell/stub"
	"tracewell/target"
)

// messages prints gdbserver's messages about processes on the console, in its words and at its moments: GDB's test-suite and the
// tools that start gdbserver wait for them. The program under trace shares the terminal, so nothing else is printed while it
// runs.
type messages struct {
	out      io.Writer
	live     func() []target.ThreadID
	terminal console.Terminal
	quiet    bool // GDB is at the other end of stdio, shares the terminal, and prints how programs end itself

	unguarded func() error // why attached processes would not survive a SIGKILL of this one; nil if they do
	warned    bool         // the warning about that has been printed

	attached []int // process IDs attached to and not detached from
	detached []int // process IDs of programs that were launched here and detached from
}

// printWarnings prints the warnings of a target until their channel is closed, which Close of the target does. The returned
// function waits for that, so that the last ones are not lost with the process.
func printWarnings(w io.Writer, warnings <-chan error) (wait func()) {
	closed := make(chan struct{})
	routine.Go(func() {
		defer close(closed)
		for err := range warnings {
			fmt.Fprintf(w, "tracewell: warning: %v\n", err)
		}
	})
	return func() { <-closed }
}

// notify returns the messages as callbacks of the stub, which calls them from the goroutine of its session.
func (m *messages) notify() stub.Notify {
	return stub.Notify{
		Started:   m.started,
		Attached:  m.attachedTo,
		Refused:   m.refused,
		Detaching: m.detaching,
		Killing:   m.killing,
		Ended:     m.ended,
	}
}

// started is printed after the program has been executed and has stopped, when its process ID is final.
func (m *messages) started(path string, pid int) {
	fmt.Fprintf(m.out, "Process %s created; pid = %d\n", path, pid)
}

// attachedTo warns once that the guard which restores attached processes could not be set up (internal/guard). Breakpoints that
// stay in a process without a tracer kill it by SIGTRAP.
func (m *messages) attachedTo(pid int) {
	m.attached = append(m.attached, pid)
	fmt.Fprintf(m.out, "Attached; pid = %d\n", pid)
	if err := m.unguarded(); err != nil && !m.warned {
		m.warned = true
		fmt.Fprintf(m.out, "tracewell: warning: should this server be killed by SIGKILL, process %d dies with its next hit: %v\n", pid,
			err)
	}
}

// refused is called when a client asks for a program or a process, by run or attach, that cannot be launched or attached to. GDB
// only gets an error number.
func (m *messages) refused(err error) {
	fmt.Fprintf(m.out, "tracewell: %v\n", err)
}

// detaching is called for each process that a client detaches from. A launched one is then no child to kill at the end.
func (m *messages) detaching(pid int) {
	if !m.forget(pid) {
		m.detached = append(m.detached, pid)
	}
	fmt.Fprintf(m.out, "Detaching from process %d\n", pid)
}

func (m *messages) killing(pids []int) {
	for _, pid := range pids {
		m.forget(pid)
	}
	m.list("Killing process(es):", pids)
}

// ended prints the end of a process, on a line of its own, as the program may have left the cursor behind its output.
func (m *messages) ended(ev target.Event) {
	m.forget(ev.Thread.PID)
	m.tidy()
	switch {
	case m.quiet:
	case ev.Kind == target.Exited:
		fmt.Fprintf(m.out, "\nChild exited with status %d\n", ev.Code)
	default:
		fmt.Fprintf(m.out, "\nChild terminated with signal = 0x%x (%s)\n", int(ev.Signal), stub.SignalName(ev.Signal))
	}
}

// forget removes a process from the attached ones and reports whether it was one.
func (m *messages) forget(pid int) bool {
	i := slices.Index(m.attached, pid)
	if i >= 0 {
		m.attached = slices.Delete(m.attached, i, i+1)
	}
	return i >= 0
}

// tidy takes the foreground of the terminal back when no process is left to use it. Calling it again does no harm.
func (m *messages) tidy() {
	if len(m.live()) == 0 {
		m.terminal.GiveBack()
	}
}

// leaving prints what happens to the remaining processes as the server exits: it detaches from those that it attached to and kills
// those that it launched, as gdbserver does. Threads of one process are listed once.
func (m *messages) leaving() {
	var kill, detach []int
	for _, id := range m.live() {
		list := &kill
		if slices.Contains(m.attached, id.PID) {
			list = &detach
		}
		if !slices.Contains(*list, id.PID) {
			*list = append(*list, id.PID)
		}
	}
	m.list("Killing process(es):", kill)
	m.list("Detaching process(es):", detach)
}

// list prints process IDs with blanks between them, or nothing if there are none.
func (m *messages) list(what string, pids []int) {
	if len(pids) > 0 {
		fmt.Fprintf(m.out, "%s %s\n", what, strings.Trim(fmt.Sprint(pids), "[]"))
	}
}

// outlive waits until the launched programs that were detached from have exited, or stop is closed. gdbserver waits as well: their
// terminal is this process's, and a shell would take it back as soon as this process exits.
func (m *messages) outlive(stop <-chan struct{}) {
	ended := make(chan struct{})
	routine.Go(func() {
		defer close(ended)
		for _, pid := range m.detached {
			if p, err := os.FindProcess(pid); err == nil {
				_, _ = p.Wait() // an error means that the process has been reaped
			}
		}
	})
	select {
	case <-ended:
	case <-stop:
	}
}
