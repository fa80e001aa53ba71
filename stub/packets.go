package stub

// groups is every packet that the server knows. It is a function and not a variable because the handlers look at the
// table, too.
func groups() []group {
	return []group{
		{"session", "", always, sessionPackets()},
		{"threads", "", always, threadPackets()},
		{"registers and memory", "", always, statePackets()},
		{"running", "Runner", func(s *Server) bool { return s.target.Runner() != nil }, runPackets()},
		{"processes", "Runner", func(s *Server) bool { return s.target.Runner() != nil }, processPackets()},
		{"starting programs", "Launcher", func(s *Server) bool { return s.target.Launcher() != nil }, launchPackets()},
		{"signals", "Signals", func(s *Server) bool { return s.target.Signals() != nil }, signalPackets()},
		{"system calls", "Syscalls", func(s *Server) bool { return s.target.Syscalls() != nil }, syscallPackets()},
		{"breakpoints", "Breakpoints", func(s *Server) bool { return s.target.Breakpoints() != nil }, breakpointPackets()},
		{"auxiliary vector", "Auxv", func(s *Server) bool { return s.target.Auxv() != nil }, auxvPackets()},
		{"program file", "ExecFile", func(s *Server) bool { return s.target.ExecFile() != nil }, execFilePackets()},
		{"libraries", "Libraries", func(s *Server) bool { return s.target.Libraries() != nil }, libraryPackets()},
		{"signal details", "Siginfo", func(s *Server) bool { return s.target.Siginfo() != nil }, siginfoPackets()},
		{"files", "Files", func(s *Server) bool { return s.target.Files() != nil }, filePackets()},
		{"defining tracepoints", "Tracer", hasTracer, definitionPackets()},
		{"trace runs", "Tracer", hasTracer, tracePackets()},
		{"trace state", "Tracer", hasTracer, queryPackets()},
		{"traceframes", "Tracer", hasTracer, framePackets()},
	}
}

func always(*Server) bool { return true }

func hasTracer(s *Server) bool { return s.engine != nil }

func sessionPackets() []packet {
	return []packet{
		{"qSupported", "[:FEATURE;...]", (*session).supported, 0, "multiprocess?+ error-message?+",
			"FEATURE;...", "exchange features"},
		{"QStartNoAckMode", "", (*session).startNoAck, 0, "QStartNoAckMode+", "OK", "end acknowledgments"},
		{"!", "", (*session).extend, 0, "", "OK", "extended mode: the server outlives its programs"},
		{"vMustReplyEmpty", "", (*session).unknown, 0, "", "empty", "probe for servers that mistake unknown packets"},
		{"QAgent:", "0|1", (*session).agent, 0, "", "OK", "do without an in-process agent; to use one is refused"},
		{"qSymbol:", "[VALUE]:[NAME]", (*session).symbol, 0, "", "OK", "offer of symbols; none are asked for"},
		{"qRcmd,", "HEXCOMMAND", (*session).monitor, numericErrors, "", "HEXOUTPUT or OK", "a monitor command, see monitor help"},
	}
}

func threadPackets() []packet {
	return []packet{
		{"?", "", (*session).status, 0, "", "stop reply; OK in non-stop mode if no thread is stopped",
			"why the program stopped; one that runs is stopped first, but in non-stop mode"},
		{"H", "g|c THREAD", (*session).selectThread, 0, "", "OK", "select the thread for g, m and so on, or for c and s"},
		{"T", "THREAD", (*session).threadAlive, 0, "", "OK", "ask whether a thread lives"},
		{"qC", "", (*session).currentThread, 0, "", "QC THREAD", "ask which thread is selected"},
		{"qfThreadInfo", "", (*session).firstThreads, 0, "", "m THREAD,... or l", "list the threads"},
		{"qsThreadInfo", "", (*session).moreThreads, 0, "", "m THREAD,... or l", "list more threads"},
		{"qThreadExtraInfo,", "THREAD", (*session).threadExtra, 0, "", "HEXTEXT", "the name of a thread"},
		{"qAttached", "[:PID]", (*session).askAttached, 0, "", "1 or 0",
			"ask whether the process, or the one it was forked from, ran before the server came"},
		{"qXfer:threads:read:", ":OFFSET,LENGTH", reads("threads", (*session).threadsDocument), 0, "qXfer:threads:read+",
			"m BINARY or l BINARY", "the threads with names and processors, as XML"},
	}
}

func statePackets() []packet {
	return []packet{
		{"g", "", (*session).readRegisters, whenStopped, "", "HEXBLOCK, xx for bytes a frame does not hold", "read all registers"},
		{"G", "HEXBLOCK", (*session).writeRegisters, whenStopped | outsideFrames, "", "OK", "write all registers"},
		{"p", "REGISTER", (*session).readRegister, whenStopped, "", "HEXVALUE, xx for bytes a frame does not hold",
			"read one register"},
		{"P", "REGISTER=HEXVALUE", (*session).writeRegister, whenStopped | outsideFrames, "", "OK", "write one register"},
		{"m", "ADDRESS,LENGTH", (*session).readMemoryHex, numericErrors, "", "HEXBYTES, as many as there are", "read memory"},
		{"x", "ADDRESS,LENGTH", (*session).readMemoryBinary, 0, "binary-upload+", "b BINARY, as many as there are",
			"read memory"},
		{"M", "ADDRESS,LENGTH:HEXBYTES", (*session).writeMemoryHex, outsideFrames, "", "OK", "write memory"},
		{"X", "ADDRESS,LENGTH:BINARY", (*session).writeMemoryBinary, outsideFrames | binaryArguments, "", "OK", "write memory"},
		{"qXfer:features:read:", "target.xml:OFFSET,LENGTH", reads("features", (*session).featuresDocument), 0,
			"qXfer:features:read+", "m BINARY or l BINARY", "the target description"},
	}
}

func runPackets() []packet {
	return []packet{
		{"vCont?", "", (*session).verbs, 0, "vContSupported+", "vCont;VERB;...", "ask for the verbs of vCont"},
		{"vCont;", "VERB[:THREAD];...", (*session).resumeThreads, 0,
			"fork-events?+ vfork-events?+ exec-events?+ no-resumed?+", "stop reply; OK in non-stop mode",
			"let threads go on (c, C), step (s, S), step in a range (r); t stops threads, in all-stop mode the program"},
		{"c", "[ADDRESS]", (*session).resumeAt, whenStopped, "", "stop reply; OK in non-stop mode", "go on"},
		{"C", "SIGNAL[;ADDRESS]", (*session).resumeWith, whenStopped, "", "stop reply; OK in non-stop mode",
			"go on with a signal"},
		{"s", "[ADDRESS]", (*session).step, whenStopped, "", "stop reply; OK in non-stop mode", "step"},
		{"S", "SIGNAL[;ADDRESS]", (*session).stepWith, whenStopped, "", "stop reply; OK in non-stop mode", "step with a signal"},
		{"vCtrlC", "", (*session).stopAsked, 0, "", "OK", "stop the program, or in non-stop mode a thread, with SIGINT"},
		{"QNonStop:", "0|1", (*session).chooseNonStop, 0, "QNonStop+", "OK",
			"choose all-stop mode, which stops everything, or non-stop mode"},
		{"vStopped", "", (*session).nextStop, 0, "", "stop reply or OK",
			"acknowledge a notification %Stop and ask for the next event; OK if there is none"},
		{"QPassSignals:", "[SIGNAL;...]", (*session).passSignals, 0, "QPassSignals+", "OK", "signals that need no stop reply"},
		{"QThreadEvents:", "0|1", (*session).threadEvents, 0, "QThreadEvents?+", "OK",
			"choose stop replies for new and ended threads"},
	}
}

func processPackets() []packet {
	return []packet{
		{"vRun;", "[HEXPATH][;HEXARGUMENT...]", (*session).run, whenStopped, "", "stop reply",
			"start a program, without a path the last one; refused where the target cannot"},
		{"R", "NUMBER", (*session).restart, 0, "", "none", "end all and start the last program again, in extended mode"},
		{"k", "", (*session).kill, 0, "", "none", "end all programs"},
		{"vKill;", "PID", (*session).killProcess, 0, "", "OK", "end a program"},
		{"D", "[;PID]", (*session).detach, 0, "", "OK", "let a program go; a trace run may keep it"},
	}
}

func launchPackets() []packet {
	return []packet{
		{"vAttach;", "PID", (*session).attach, whenStopped, "", "stop reply; OK in non-stop mode, where it goes on",
			"take on a process that runs"},
		{"QEnvironmentHexEncoded:", "HEXVARIABLE", (*session).setVariable, 0, "QEnvironmentHexEncoded+", "OK",
			"set NAME=VALUE in the environment of programs to start"},
		{"QEnvironmentUnset:", "HEXNAME", (*session).unsetVariable, 0, "QEnvironmentUnset+", "OK", "remove a variable from it"},
		{"QEnvironmentReset", "", (*session).resetEnvironment, 0, "QEnvironmentReset+", "OK", "make it the server's own again"},
		{"QSetWorkingDir:", "[HEXPATH]", (*session).setDirectory, 0, "QSetWorkingDir+", "OK",
			"set the folder of programs to start, without a path the server's own"},
		{"QStartupWithShell:", "0|1", (*session).chooseShell, 0, "QStartupWithShell+", "OK",
			"of no effect: arguments reach the program as they are either way"},
		{"QDisableRandomization:", "0|1", (*session).disableRandomization, 0, "QDisableRandomization+", "OK",
			"start programs without address space randomisation"},
	}
}

func signalPackets() []packet {
	return []packet{
		{"QProgramSignals:", "[SIGNAL;...]", (*session).programSignals, 0, "QProgramSignals+", "OK",
			"signals that a program may take with it when it is let go"},
	}
}

func syscallPackets() []packet {
	return []packet{
		{"QCatchSyscalls:", "0|1[;NUMBER...]", (*session).catchSyscalls, 0, "QCatchSyscalls+", "OK",
			"stop at the entry to and the return from system calls, all without numbers"},
	}
}

func breakpointPackets() []packet {
	return []packet{
		{"Z", "KIND,ADDRESS,LENGTH", (*session).insertBreakpoint, outsideFrames, "swbreak?+ hwbreak?+", "OK",
			"insert a breakpoint (kind 0, 1) or watchpoint (2 write, 3 read, 4 access)"},
		{"z", "KIND,ADDRESS,LENGTH", (*session).removeBreakpoint, outsideFrames, "", "OK", "remove it"},
	}
}

func auxvPackets() []packet {
	return []packet{
		{"qXfer:auxv:read:", ":OFFSET,LENGTH", reads("auxv", (*session).auxvDocument), 0, "qXfer:auxv:read+",
			"m BINARY or l BINARY", "the auxiliary vector"},
	}
}

func execFilePackets() []packet {
	return []packet{
		{"qXfer:exec-file:read:", "[PID]:OFFSET,LENGTH", reads("exec-file", (*session).execFileDocument), 0,
			"qXfer:exec-file:read+", "m BINARY or l BINARY", "the path of the program"},
	}
}

func libraryPackets() []packet {
	return []packet{
		{"qXfer:libraries-svr4:read:", ":OFFSET,LENGTH", reads("libraries-svr4", (*session).librariesDocument), 0,
			"qXfer:libraries-svr4:read+", "m BINARY or l BINARY", "the dynamic linker's list, as XML"},
	}
}

func siginfoPackets() []packet {
	return []packet{
		{"qXfer:siginfo:read:", ":OFFSET,LENGTH", reads("siginfo", (*session).siginfoDocument), whenStopped,
			"qXfer:siginfo:read+", "m BINARY or l BINARY", "siginfo_t of the signal that stopped the selected thread"},
		{"qXfer:siginfo:write:", ":OFFSET:BINARY", (*session).writeSiginfo, whenStopped | outsideFrames | binaryArguments,
			"qXfer:siginfo:write+", "bytes written, in hex", "change it"},
	}
}

func filePackets() []packet {
	return []packet{
		{"vFile:setfs:", "PID", (*session).setFiles, 0, "", "F0", "choose whose files are meant; 0 for the server's own"},
		{"vFile:open:", "HEXPATH,FLAGS,MODE", (*session).openFile, 0, "", "F DESCRIPTOR or F-1,ERRNO", "open a file"},
		{"vFile:close:", "DESCRIPTOR", (*session).closeFile, 0, "", "F0 or F-1,ERRNO", "close it"},
		{"vFile:pread:", "DESCRIPTOR,COUNT,OFFSET", (*session).readFile, 0, "", "F COUNT;BINARY or F-1,ERRNO", "read from it"},
		{"vFile:pwrite:", "DESCRIPTOR,OFFSET,BINARY", (*session).writeFile, binaryArguments, "", "F COUNT or F-1,ERRNO",
			"write to it"},
		{"vFile:fstat:", "DESCRIPTOR", (*session).statOpenFile, 0, "", "F40;STAT or F-1,ERRNO", "ask for size, owner and so on"},
		{"vFile:stat:", "HEXPATH", (*session).statFile, 0, "", "F40;STAT or F-1,ERRNO", "the same of a file that is not open"},
		{"vFile:lstat:", "HEXPATH", (*session).statLink, 0, "", "F40;STAT or F-1,ERRNO", "the same of a symbolic link itself"},
		{"vFile:unlink:", "HEXPATH", (*session).unlinkFile, 0, "", "F0 or F-1,ERRNO", "remove a file"},
		{"vFile:readlink:", "HEXPATH", (*session).readLink, 0, "", "F COUNT;BINARY or F-1,ERRNO", "read a symbolic link"},
	}
}
