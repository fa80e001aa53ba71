package stub

import "tracewell/target"

// The abilities that packets need. Tracepoints need an engine beside the target's own ability; without one there are those of a
// recording.
var (
	runner       = ofTarget("Runner", target.Target.Runner)
	reverser     = ofTarget("Reverser", target.Target.Reverser)
	launcher     = ofTarget("Launcher", target.Target.Launcher)
	signalSets   = ofTarget("Signals", target.Target.Signals)
	syscallStops = ofTarget("Syscalls", target.Target.Syscalls)
	breakpoints  = ofTarget("Breakpoints", target.Target.Breakpoints)
	auxv         = ofTarget("Auxv", target.Target.Auxv)
	execFile     = ofTarget("ExecFile", target.Target.ExecFile)
	libraries    = ofTarget("Libraries", target.Target.Libraries)
	siginfo      = ofTarget("Siginfo", target.Target.Siginfo)
	threadLocals = ofTarget("ThreadLocals", target.Target.ThreadLocals)
	osTables     = ofTarget("OS", target.Target.OS)
	files        = ofTarget("Files", target.Target.Files)
	mappings     = ofTarget("Mappings", target.Target.Mappings)
	allocator    = ofTarget("Allocator", target.Target.Allocator)
	passage      = ofTarget("Passage", target.Target.Passage)
	relocator    = ofTarget("Relocator", target.Target.Relocator)
	tracer       = ability{"Tracer", func(s *Server) bool { return s.engine != nil }}
	traceRun     = ability{"Tracer|TraceRun", func(s *Server) bool { return s.recorded != nil }}
	collector    = ability{"Tracer", func(s *Server) bool { return s.engine != nil && s.engine.Collector(s.target.Tracer()) != nil }}
	// Whether a trace may be saved on the server's side is for who runs the server, and so it is not the target's.
	savedFiles = ability{"", func(s *Server) bool { return s.config.Save != nil }}
)

// groups is every packet that the server supports. It is a function and not a variable because the handlers look at the
// table, too.
func groups() []group {
	return []group{
		{"session", nil, sessionPackets()},
		{"threads", nil, threadPackets()},
		{"registers and memory", nil, statePackets()},
		{"running", []ability{runner}, runPackets()},
		{"running backwards", []ability{runner, reverser}, reversePackets()},
		{"processes", []ability{runner}, processPackets()},
		{"starting programs", []ability{launcher}, launchPackets()},
		{"signals", []ability{signalSets}, signalPackets()},
		{"system calls", []ability{syscallStops}, syscallPackets()},
		{"breakpoints", []ability{breakpoints}, breakpointPackets()},
		{"auxiliary vector", []ability{auxv}, auxvPackets()},
		{"the dynamic linker", []ability{auxv}, linkerPackets()},
		{"memory regions", []ability{mappings}, regionPackets()},
		{"memory for the client", []ability{allocator}, allocationPackets()},
		{"program file", []ability{execFile}, execFilePackets()},
		{"libraries", []ability{libraries}, libraryPackets()},
		{"signal details", []ability{siginfo}, siginfoPackets()},
		{"thread-local variables", []ability{threadLocals}, threadLocalPackets()},
		{"operating system", []ability{osTables}, osPackets()},
		{"files", []ability{files}, filePackets()},
		{"files of the client's machine", []ability{passage}, requestPackets()},
		{"defining tracepoints", []ability{traceRun}, definitionPackets()},
		{"static tracepoints", []ability{tracer, files, execFile}, markerPackets()},
		{"fast tracepoints", []ability{collector}, fastPackets()},
		{"trace runs", []ability{traceRun}, tracePackets()},
		{"copies of instructions", []ability{tracer, relocator}, relocationPackets()},
		{"trace files", []ability{traceRun, savedFiles}, savePackets()},
		{"trace state", []ability{traceRun}, queryPackets()},
		{"traceframes", []ability{traceRun}, framePackets()},
	}
}
