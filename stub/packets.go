package stub

// groups is every packet that the server knows. It is a function and not a variable because the handlers look at the
// table, too.
func groups() []group {
	return []group{
		{"session", "", always, sessionPackets()},
		{"threads", "", always, threadPackets()},
		{"registers and memory", "", always, statePackets()},
		{"running", "Runner", func(s *Server) bool { return s.target.Runner() != nil }, runPackets()},
		{"breakpoints", "Breakpoints", func(s *Server) bool { return s.target.Breakpoints() != nil }, breakpointPackets()},
		{"auxiliary vector", "Auxv", func(s *Server) bool { return s.target.Auxv() != nil }, auxvPackets()},
		{"program file", "ExecFile", func(s *Server) bool { return s.target.ExecFile() != nil }, execFilePackets()},
		{"libraries", "Libraries", func(s *Server) bool { return s.target.Libraries() != nil }, libraryPackets()},
		{"signal details", "Siginfo", func(s *Server) bool { return s.target.Siginfo() != nil }, siginfoPackets()},
		{"thread-local variables", "ThreadLocals", func(s *Server) bool { return s.target.ThreadLocals() != nil }, threadLocalPackets()},
		{"operating system", "OS", func(s *Server) bool { return s.target.OS() != nil }, osPackets()},
		{"files", "Files", func(s *Server) bool { return s.target.Files() != nil }, filePackets()},
		{"defining tracepoints", "Tracer", hasTracer, definitionPackets()},
		{"static tracepoints", "Tracer, Files, ExecFile", hasMarkers, markerPackets()},
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
		{"!", "", (*session).extend, 0, "", "OK", "extended mode; the connection outlives the program in any case"},
		{"vMustReplyEmpty", "", (*session).unknown, 0, "", "empty", "probe for servers that mistake unknown packets"},
		{"QNonStop:", "0|1", (*session).nonStop, 0, "", "OK", "choose all-stop; non-stop is refused"},
		{"QAgent:", "0|1", (*session).agent, 0, "", "OK", "do without an in-process agent; to use one is refused"},
		{"qSymbol:", "[VALUE]:[NAME]", (*session).symbol, 0, "", "OK", "offer of symbols; none are asked for"},
		{"qRcmd,", "HEXCOMMAND", (*session).monitor, numericErrors, "", "HEXOUTPUT or OK", "a monitor command, see monitor help"},
	}
}

func threadPackets() []packet {
	return []packet{
		{"?", "", (*session).status, 0, "", "stop reply", "why the program stopped; one that runs is stopped first"},
		{"H", "g|c THREAD", (*session).selectThread, 0, "", "OK", "select the thread for g, m and so on, or for c and s"},
		{"T", "THREAD", (*session).threadAlive, 0, "", "OK", "ask whether a thread lives"},
		{"qC", "", (*session).currentThread, 0, "", "QC THREAD", "ask which thread is selected"},
		{"qfThreadInfo", "", (*session).firstThreads, 0, "", "m THREAD,... or l", "list the threads"},
		{"qsThreadInfo", "", (*session).moreThreads, 0, "", "m THREAD,... or l", "list more threads"},
		{"qThreadExtraInfo,", "THREAD", (*session).threadExtra, 0, "", "HEXTEXT", "the name of a thread"},
		{"qAttached", "[:PID]", (*session).attached, 0, "", "1 or 0", "ask whether the program ran before the server came"},
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
		{"qSearch:memory:", "ADDRESS;LENGTH;BINARY", (*session).searchMemory, binaryArguments, "", "0 or 1,ADDRESS",
			"find bytes in memory"},
		{"qCRC:", "ADDRESS,LENGTH", (*session).checksum, 0, "", "C CHECKSUM",
			"CRC-32 of memory, most significant bit first, from 0xffffffff"},
		{"qXfer:features:read:", "target.xml:OFFSET,LENGTH", reads("features", (*session).featuresDocument), 0,
			"qXfer:features:read+", "m BINARY or l BINARY", "the target description"},
	}
}

func runPackets() []packet {
	return []packet{
		{"vCont?", "", (*session).verbs, 0, "vContSupported+", "vCont;VERB;...", "ask for the verbs of vCont"},
		{"vCont;", "VERB[:THREAD];...", (*session).resumeThreads, 0, "exec-events?+", "stop reply",
			"let threads go on (c, C), step (s, S), step in a range (r); t stops the program"},
		{"c", "[ADDRESS]", (*session).resumeAt, whenStopped, "", "stop reply", "go on"},
		{"C", "SIGNAL[;ADDRESS]", (*session).resumeWith, whenStopped, "", "stop reply", "go on with a signal"},
		{"s", "[ADDRESS]", (*session).step, whenStopped, "", "stop reply", "step"},
		{"S", "SIGNAL[;ADDRESS]", (*session).stepWith, whenStopped, "", "stop reply", "step with a signal"},
		{"vRun;", "[HEXPATH][;HEXARGUMENT...]", (*session).run, 0, "", "none but E.", "start a program; it is refused"},
		{"QPassSignals:", "[SIGNAL;...]", (*session).passSignals, 0, "QPassSignals+", "OK", "signals that need no stop reply"},
		{"k", "", (*session).kill, 0, "", "none", "end the program"},
		{"vKill;", "PID", (*session).killProcess, 0, "", "OK", "end the program"},
		{"D", "[;PID]", (*session).detach, 0, "", "OK", "let the program go; a trace run may keep it"},
	}
}

func breakpointPackets() []packet {
	return []packet{
		{"Z", "KIND,ADDRESS,LENGTH[;XLENGTH,HEXCODE...][;cmds:PERSIST,XLENGTH,HEXCODE...]", (*session).insertBreakpoint,
			outsideFrames, "swbreak?+ hwbreak?+ ConditionalBreakpoints+ BreakpointCommands+", "OK",
			"insert a breakpoint (kind 0, 1) or watchpoint (2 write, 3 read, 4 access) that stops if a condition holds or fails, " +
				"or runs commands instead; PERSIST 1 keeps them without a client"},
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

func threadLocalPackets() []packet {
	return []packet{
		{"qGetTLSAddr:", "THREAD,OFFSET,LINKMAP", (*session).threadLocal, whenStopped, "", "ADDRESS",
			"the address of a thread's own variable in the object of that entry of the dynamic linker's list"},
	}
}

func osPackets() []packet {
	return []packet{
		{"qXfer:osdata:read:", "[TABLE]:OFFSET,LENGTH", reads("osdata", (*session).osDocument), 0, "qXfer:osdata:read+",
			"m BINARY or l BINARY", "a table about the whole system, or the list of tables, as XML"},
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
