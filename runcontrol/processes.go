package runcontrol

import (
	"fmt"
	"slices"

	"tracewell/target"
	"tracewell/trace"
)

// Learn takes note of what an event says of processes. Settle does so itself.
func (d *Debuggee) Learn(ev target.Event) {
	if d.config.Happened != nil {
		d.config.Happened(ev)
	}
	pid := ev.Thread.PID
	switch ev.Kind {
	case target.Execed: // breakpoints went with the memory
		d.forgetBreakpoints(pid)
	case target.Forked, target.Vforked:
		d.attached[ev.Child.PID] = d.attached[pid] // as gdbserver has it
		d.inheritBreakpoints(pid, ev.Child.PID)
		if pid == d.traced {
			d.fork = &ev
		}
	case target.Exited, target.Terminated:
		// The owner prints the end as gdbserver does, whether or not a client is there.
		if d.config.Notify.Ended != nil {
			d.config.Notify.Ended(ev)
		}
	}
	// The run ends before the process is forgotten: its frames stay, and their status says why there are no more.
	if why := endOfRun(ev); why != "" && pid == d.traced {
		d.endRun(why)
	}
	if Ends(ev) {
		d.forget(pid)
	}
}

// Welcome takes note of a new process, whose thread stopped with ev; attached says that the process ran before.
func (d *Debuggee) Welcome(ev target.Event, attached bool) {
	d.attached[ev.Thread.PID] = attached
	// How the program stopped last, until it runs.
	d.last = &ev
	if d.nonStop != nil {
		d.nonStop.stops[ev.Thread] = ev
	}
	d.publish()
}

// Attached reports whether a process ran before it came to the debuggee; children count as their parents do. A process is not
// known while the event of the fork that made it is still to come.
func (d *Debuggee) Attached(pid int) (attached, known bool) {
	attached, known = d.attached[pid]
	return attached, known
}

// Knows reports whether an event is of a process that the debuggee still has: one may come that happened before its end.
func (d *Debuggee) Knows(ev target.Event) bool {
	_, known := d.attached[ev.Thread.PID]
	return known || ev.Kind == target.NoneResumed
}

// forget takes note that a process is gone or let go.
func (d *Debuggee) forget(pid int) {
	delete(d.attached, pid)
	d.forgetBreakpoints(pid)
	// Without one of the two there is nothing to choose between: the run cannot move any more.
	if d.fork != nil && (pid == d.fork.Thread.PID || pid == d.fork.Child.PID) {
		d.fork = nil
	}
	// What the next client is told must not be about a process that the client has detached from or killed itself.
	if d.last != nil && d.last.Thread.PID == pid {
		d.last = nil
	}
	d.publish()
}

// ForgetEnded forgets the processes that have ended since the last client left and whose end is still to be heard of: the next
// client knows nothing of them. Should none be left, it is told of the end.
func (d *Debuggee) ForgetEnded() {
	live := d.Processes()
	// With none left the map stays as it is, since the event of the last end is what the client is told.
	for pid := range d.attached {
		if len(live) > 0 && !slices.Contains(live, pid) {
			delete(d.attached, pid)
		}
	}
}

// parts takes note that parent or child of a fork go on: from then on the one is no substitute for the other.
func (d *Debuggee) parts(actions []target.Action) {
	for _, a := range actions {
		if d.fork != nil && (a.Thread.Covers(d.fork.Thread) || a.Thread.Covers(d.fork.Child)) {
			d.fork = nil
		}
	}
}

// Heir is the process that the trace run moves to when that of pid is let go: the child of a fork that just happened, whose
// client then follows it. It is 0 where there is none.
func (d *Debuggee) Heir(pid int) int {
	if d.fork == nil || d.fork.Thread.PID != pid || pid != d.traced {
		return 0
	}
	return d.fork.Child.PID
}

// endedByClient is what the status of a trace run says that ended because its client ended the program.
const endedByClient = "the debugger ended the program"

// endOfRun is what the status of a trace run says that ev ended, "" for an event that ends none. With the program its traps
// are gone; those of another program would lie elsewhere.
func endOfRun(ev target.Event) string {
	switch ev.Kind {
	case target.Exited:
		return fmt.Sprintf("the program exited with status %d", ev.Code)
	case target.Terminated:
		return "the program was ended by " + SignalName(ev.Signal)
	case target.Execed:
		return fmt.Sprintf("the program replaced itself by %s", ev.Path)
	}
	return ""
}

// endRun ends the trace run, so that its frames can be looked at: GDB shows none while a run is on. There is no reason for a
// stop in GDB's list that fits, and so it is given as that of a tstop command, which takes a text.
func (d *Debuggee) endRun(why string) {
	d.traced = 0
	if d.engine != nil {
		_ = d.engine.Stop(trace.ReasonStop, why) // the error is about sites, which are gone with the program
	}
}

// fatalSignals names the signals that end most programs, by GDB's numbers (GDB prints them by "info signals").
var fatalSignals = [...]string{
	1: "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGEMT", "SIGFPE", "SIGKILL", "SIGBUS", "SIGSEGV",
	"SIGSYS", "SIGPIPE", "SIGALRM", "SIGTERM",
}

// SignalName is the name of a signal that ends most programs, and the number of any other.
func SignalName(sig target.Signal) string {
	if sig > 0 && int(sig) < len(fatalSignals) {
		return fatalSignals[sig]
	}
	return fmt.Sprintf("signal %d of GDB's", sig)
}
