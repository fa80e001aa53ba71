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

// narrator tells in gdbserver's words and at its moments what becomes of processes. The program under trace shares the
// terminal, so nothing else is printed while it runs.
type narrator struct {
	messages io.Writer
	live     func() []target.ThreadID
	terminal console.Terminal
	quiet    bool // GDB is on the same terminal and tells of ends itself

	unguarded func() error // why attached processes do not survive SIGKILL of this one
	warned    bool         // of that

	attached []int // processes that ran before and are still here
	letGo    []int // programs that were started here and run on without us
}

// printWarnings prints what a target warns of, until that is closed. The function that it returns waits for that.
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

// notify is the narrator as the stub wants it.
func (n *narrator) notify() stub.Notify {
	return stub.Notify{
		Started:   n.started,
		Attached:  n.attachedTo,
		Refused:   n.refused,
		Detaching: n.detaching,
		Killing:   n.killing,
		Ended:     n.ended,
	}
}

func (n *narrator) started(path string, pid int) {
	fmt.Fprintf(n.messages, "Process %s created; pid = %d\n", path, pid)
}

func (n *narrator) attachedTo(pid int) {
	n.attached = append(n.attached, pid)
	fmt.Fprintf(n.messages, "Attached; pid = %d\n", pid)
	if err := n.unguarded(); err != nil && !n.warned {
		n.warned = true
		fmt.Fprintf(n.messages, "tracewell: warning: should this server be killed by SIGKILL, process %d dies with its next hit: %v\n", pid, err)
	}
}

func (n *narrator) refused(err error) {
	fmt.Fprintf(n.messages, "tracewell: %v\n", err)
}

func (n *narrator) detaching(pid int) {
	if !n.forget(pid) {
		n.letGo = append(n.letGo, pid)
	}
	fmt.Fprintf(n.messages, "Detaching from process %d\n", pid)
}

func (n *narrator) killing(pids []int) {
	for _, pid := range pids {
		n.forget(pid)
	}
	n.tellList("Killing process(es):", pids)
}

func (n *narrator) ended(ev target.Event) {
	n.forget(ev.Thread.PID)
	n.tidy()
	switch {
	case n.quiet:
	case ev.Kind == target.Exited:
		fmt.Fprintf(n.messages, "\nChild exited with status %d\n", ev.Code)
	default:
		fmt.Fprintf(n.messages, "\nChild terminated with signal = 0x%x (%s)\n", int(ev.Signal), stub.SignalName(ev.Signal))
	}
}

// forget takes a process from the attached ones and reports whether it was there.
func (n *narrator) forget(pid int) bool {
	i := slices.Index(n.attached, pid)
	if i >= 0 {
		n.attached = slices.Delete(n.attached, i, i+1)
	}
	return i >= 0
}

// tidy takes the terminal back when no process is left to use it.
func (n *narrator) tidy() {
	if len(n.live()) == 0 {
		n.terminal.GiveBack()
	}
}

// leaving says what becomes of the processes that are left when the server ends: those that ran before are let go, the
// others killed.
func (n *narrator) leaving() {
	var kill, detach []int
	for _, id := range n.live() {
		list := &kill
		if slices.Contains(n.attached, id.PID) {
			list = &detach
		}
		if !slices.Contains(*list, id.PID) {
			*list = append(*list, id.PID)
		}
	}
	n.tellList("Killing process(es):", kill)
	n.tellList("Detaching process(es):", detach)
}

func (n *narrator) tellList(what string, pids []int) {
	if len(pids) > 0 {
		fmt.Fprintf(n.messages, "%s %s\n", what, strings.Trim(fmt.Sprint(pids), "[]"))
	}
}

// outlive waits for the programs that were started here and let go, until stop is closed: their terminal is this
// process's, and who waits for this process waits for them. gdbserver does so, too.
func (n *narrator) outlive(stop <-chan struct{}) {
	ended := make(chan struct{})
	routine.Go(func() {
		defer close(ended)
		for _, pid := range n.letGo {
			if p, err := os.FindProcess(pid); err == nil {
				_, _ = p.Wait() // it fails for a process that is gone, which is as well
			}
		}
	})
	select {
	case <-ended:
	case <-stop:
	}
}
