package stub

import (
	"fmt"

	"tracewell/target"
	"tracewell/trace"
)

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
