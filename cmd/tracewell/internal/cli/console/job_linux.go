package console

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"tracewell/internal/routine"
	"tracewell/internal/sys"
)

// A shell knows of a job that it has been stopped when the kernel says so of its processes. The one that traces others must not be
// stopped for long: whoever it is attached to stands still at the next tracepoint, signal or new thread.
//
// So a job that is attached to processes goes on in the background, as after bg, when it is stopped from the terminal: it stops for
// as short as the shell needs to see it. A job that launched its program stops and goes on together with that. The program has a
// process group of its own, which the terminal's keys are for.

// backgrounds are how long a job is stopped for its shell to see, one after the other until it has.
var backgrounds = []time.Duration{
	20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond,
	400 * time.Millisecond, 800 * time.Millisecond,
}

// Job is what a shell and a terminal have to do with this process.
type Job struct {
	terminal Terminal       // of standard input, whose foreground a program may take
	Control  *os.File       // the controlling terminal, nil without
	keys     chan os.Signal // SIGTSTP
	done     chan struct{}
	running  routine.Group // the goroutine that waits for keys
	messages io.Writer
	quiet    func() (resume func())
}

// NewJob has SIGTSTP do what stopped says, or put the job into the background, until close is called. quiet is called before this
// process is stopped, and what it returns when it goes on.
func NewJob(t Terminal, messages io.Writer, stopped func(), quiet func() (resume func())) *Job {
	j := &Job{terminal: t, keys: make(chan os.Signal, 1), done: make(chan struct{}), messages: messages, quiet: quiet}
	j.Control, _ = os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if stopped == nil {
		stopped = j.toBackground
	}
	if signal.Ignored(syscall.SIGTSTP) { // the shell has no job control
		return j
	}
	signal.Notify(j.keys, syscall.SIGTSTP)
	j.running.Go(func() {
		for {
			select {
			case <-j.keys:
				stopped()
			case <-j.done:
				return
			}
		}
	})
	return j
}

// Close gives the foreground back.
func (j *Job) Close() {
	signal.Stop(j.keys)
	close(j.done)
	j.running.Wait() // it may be about to put the job into the background
	j.terminal.GiveBack()
	if j.Control != nil {
		j.Control.Close()
	}
}

// Foreground reports whether the keys of the terminal are for this process.
func (j *Job) Foreground() bool {
	if j.Control == nil {
		return false
	}
	group, err := sys.ForegroundGroup(int(j.Control.Fd()))
	return err == nil && group == sys.ProcessGroup()
}

// stop stops this process, by the signal's default action.
func (j *Job) stop(limit time.Duration) {
	if err := sys.StopProcess(limit); err != nil {
		fmt.Fprintf(j.messages, "tracewell: cannot stop as a job: %v\n", err)
	}
}

// toBackground has the shell take its terminal back, and goes on. So do the other processes of the job, as those that print what
// this one writes.
func (j *Job) toBackground() {
	defer j.quiet()()
	wasForeground := j.Foreground()
	for _, limit := range backgrounds {
		j.stop(limit)
		if !wasForeground || !j.Foreground() {
			break
		}
	}
	sys.Kill(0, sys.SIGCONT)
}

// Missing returns a function that calls resume and, where hits are missing since now, warns of it.
func Missing(resume func(), missing bool, warn func(error)) func() {
	begin := time.Now()
	return func() {
		resume()
		if missing {
			warn(fmt.Errorf("hits of %v are missing: tracewell was stopped", time.Since(begin).Round(time.Millisecond)))
		}
	}
}

// Suspend stops this process together with the program that it launched, which a signal of job control has stopped, and has that
// go on when this process does. A SIGSTOP that somebody sent to a program in the background is between the two.
func (j *Job) Suspend(pid, by int) {
	if j.Control == nil || by == sys.SIGSTOP && !j.programInFront(pid) {
		return
	}
	sys.StopOthers()
	resume := j.quiet()
	j.stop(0)
	resume()
	if j.Foreground() && j.terminal.group != 0 {
		sys.SetForegroundGroup(j.terminal.fd, pid)
	}
	sys.Kill(-pid, sys.SIGCONT)
}

// StopGroup has a program stop, with all of its group, as by the terminal's key.
func StopGroup(pid int) { sys.Kill(-pid, int(syscall.SIGTSTP)) }

// programInFront reports whether the keys of the terminal are for the program.
func (j *Job) programInFront(pid int) bool {
	group, err := sys.ForegroundGroup(int(j.Control.Fd()))
	return err == nil && group == pid
}

// IgnoreTerminalStops keeps this process from being stopped when it writes to its terminal from the background, in which a
// program that takes the terminal leaves it.
func IgnoreTerminalStops() { signal.Ignore(syscall.SIGTTOU, syscall.SIGTTIN) }
