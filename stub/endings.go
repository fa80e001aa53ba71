package stub

import (
	"fmt"
	"slices"

	"tracewell/target"
	"tracewell/trace"
)

// learn takes note of what an event says of processes.
func (s *Server) learn(ev target.Event) {
	s.debug.happened(ev)
	pid := ev.Thread.PID
	switch ev.Kind {
	case target.Execed:
		// The new program may be for another machine (a 32-bit one), with other registers, and its breakpoints went with
		// the memory.
		s.layout, s.markers.valid = nil, false
		s.forgetBreakpoints(pid)
	case target.Forked, target.Vforked:
		s.attached[ev.Child.PID] = s.attached[pid] // as gdbserver has it
		s.inheritBreakpoints(pid, ev.Child.PID)
		if pid == s.traced {
			s.fork = &ev
		}
	case target.Exited, target.Terminated:
		// The owner prints the end as gdbserver does, whether or not a client is there.
		if s.config.Notify.Ended != nil {
			s.config.Notify.Ended(ev)
		}
	}
	// The run ends before the process is forgotten: its frames stay, and their status says why there are no more.
	if why := endOfRun(ev); why != "" && pid == s.traced {
		s.endRun(why)
	}
	if ends(ev) {
		s.forget(pid)
	}
}

// ends reports whether an event is the end of a process.
func ends(ev target.Event) bool { return ev.Kind == target.Exited || ev.Kind == target.Terminated }

// forget takes note that a process is no longer the server's.
func (s *Server) forget(pid int) {
	delete(s.attached, pid)
	s.forgetBreakpoints(pid)
	// Without one of the two there is nothing to choose between: the run cannot move any more.
	if s.fork != nil && (pid == s.fork.Thread.PID || pid == s.fork.Child.PID) {
		s.fork = nil
	}
	// What ? replies must not be about a process that the client has detached from or killed itself.
	if s.last != nil && s.last.Thread.PID == pid {
		s.last = nil
	}
}

// forgetEnded forgets the processes that have ended since the last client left and whose end is still to be heard of: the next
// client knows nothing of them. Should none be left, it is told of the end.
func (s *Server) forgetEnded() {
	live := s.processes()
	// With none left the map stays as it is, since the event of the last end is the reply to ?.
	for pid := range s.attached {
		if len(live) > 0 && !slices.Contains(live, pid) {
			delete(s.attached, pid)
		}
	}
}

// parts takes note that parent or child of a fork go on: from then on the one is no substitute for the other.
func (s *Server) parts(actions []target.Action) {
	for _, a := range actions {
		if s.fork != nil && (a.Thread.Covers(s.fork.Thread) || a.Thread.Covers(s.fork.Child)) {
			s.fork = nil
		}
	}
}

// heir is the process that the trace run moves to when that of pid is let go: the child of a fork that just happened, whose
// client then follows it. It is 0 where there is none.
func (s *Server) heir(pid int) int {
	if s.fork == nil || s.fork.Thread.PID != pid || pid != s.traced {
		return 0
	}
	return s.fork.Child.PID
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
func (s *Server) endRun(why string) {
	s.traced = 0
	if s.engine != nil {
		_ = s.engine.Stop(trace.ReasonStop, why) // the error is about sites, which are gone with the program
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
