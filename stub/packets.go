package stub

// groups is every packet that the server knows. It is a function and not a variable because the handlers look at the
// table, too.
func groups() []group {
	return []group{
		{"session", "", always, sessionPackets()},
		{"threads", "", always, threadPackets()},
		{"registers and memory", "", always, statePackets()},
		{"running", "Runner", func(s *Server) bool { return s.target.Runner() != nil }, runPackets()},
		{"running backwards", "Runner, Reverser", func(s *Server) bool { return s.target.Reverser() != nil }, reversePackets()},
		{"processes", "Runner", func(s *Server) bool { return s.target.Runner() != nil }, processPackets()},
		{"starting programs", "Launcher", func(s *Server) bool { return s.target.Launcher() != nil }, launchPackets()},
		{"signals", "Signals", func(s *Server) bool { return s.target.Signals() != nil }, signalPackets()},
		{"system calls", "Syscalls", func(s *Server) bool { return s.target.Syscalls() != nil }, syscallPackets()},
		{"breakpoints", "Breakpoints", func(s *Server) bool { return s.target.Breakpoints() != nil }, breakpointPackets()},
		{"auxiliary vector", "Auxv", func(s *Server) bool { return s.target.Auxv() != nil }, auxvPackets()},
		{"program file", "ExecFile", func(s *Server) bool { return s.target.ExecFile() != nil }, execFilePackets()},
		{"libraries", "Libraries", func(s *Server) bool { return s.target.Libraries() != nil }, libraryPackets()},
		{"signal details", "Siginfo", func(s *Server) bool { return s.target.Siginfo() != nil }, siginfoPackets()},
		{"thread-local variables", "ThreadLocals", func(s *Server) bool { return s.target.ThreadLocals() != nil },
			threadLocalPackets()},
		{"operating system", "OS", func(s *Server) bool { return s.target.OS() != nil }, osPackets()},
		{"files", "Files", func(s *Server) bool { return s.target.Files() != nil }, filePackets()},
		{"defining tracepoints", "Tracer|TraceRun", hasRun, definitionPackets()},
		{"static tracepoints", "Tracer, Files, ExecFile", hasMarkers, markerPackets()},
		{"trace runs", "Tracer|TraceRun", hasRun, tracePackets()},
		{"copies of instructions", "Tracer, Relocator", hasRelocator, relocationPackets()},
		{"trace files", "Tracer|TraceRun", saves, savePackets()},
		{"trace state", "Tracer|TraceRun", hasRun, queryPackets()},
		{"traceframes", "Tracer|TraceRun", hasRun, framePackets()},
	}
}

func always(*Server) bool { return true }

func hasTracer(s *Server) bool { return s.engine != nil }

func hasRun(s *Server) bool { return s.recorded != nil }
