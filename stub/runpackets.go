package stub

func runPackets() []packet {
	return []packet{
		{
			prefix:  "vCont?",
			handler: (*session).verbs,
			tokens:  "vContSupported+",
			about:   "ask for the verbs of vCont",
			reply:   "vCont;VERB;...",
		},
		{
			prefix: "vCont;", syntax: "VERB[:THREAD];...",
			handler: (*session).resumeThreads,
			tokens:  "fork-events?+ vfork-events?+ exec-events?+ no-resumed?+",
			about: "let threads go on (c, C), step (s, S), step in a range (r); t stops threads, in all-stop mode the " +
				"program",
			reply:   "stop reply; OK in non-stop mode",
			errors:  "no such thread; in all-stop mode, while the program runs, and t beside other verbs",
			differs: "ends the session when there is no such thread",
		},
		{
			prefix: "c", syntax: "[ADDRESS]",
			handler: (*session).resumeAt, flags: whenStopped,
			about:   "go on",
			reply:   "stop reply; OK in non-stop mode",
			differs: "takes no notice of ADDRESS",
		},
		{
			prefix: "C", syntax: "SIGNAL[;ADDRESS]",
			handler: (*session).resumeWith, flags: whenStopped,
			about:   "go on with a signal",
			reply:   "stop reply; OK in non-stop mode",
			differs: "takes no notice of ADDRESS",
		},
		{
			prefix: "s", syntax: "[ADDRESS]",
			handler: (*session).step, flags: whenStopped,
			about:   "step",
			reply:   "stop reply; OK in non-stop mode",
			differs: "takes no notice of ADDRESS",
		},
		{
			prefix: "S", syntax: "SIGNAL[;ADDRESS]",
			handler: (*session).stepWith, flags: whenStopped,
			about:   "step with a signal",
			reply:   "stop reply; OK in non-stop mode",
			differs: "takes no notice of ADDRESS",
		},
		{
			prefix:  "vCtrlC",
			handler: (*session).stopAsked,
			about:   "stop the program, or in non-stop mode a thread, with SIGINT",
			reply:   "OK",
		},
		{
			prefix: "QNonStop:", syntax: "0|1",
			handler: (*session).chooseNonStop,
			tokens:  "QNonStop+",
			about:   "choose all-stop mode, which stops everything, or non-stop mode",
			reply:   "OK",
			errors:  "a target without the mode; the program does not stop",
		},
		{
			prefix:  "vStopped",
			handler: (*session).nextStop,
			about:   "acknowledge a notification %Stop and ask for the next event; OK if there is none",
			reply:   "stop reply or OK",
		},
		{
			prefix: "QPassSignals:", syntax: "[SIGNAL;...]",
			handler: (*session).passSignals,
			tokens:  "QPassSignals+",
			about:   "signals that need no stop reply",
			reply:   "OK",
			differs: "a number that is not well formed ends the session; here as elsewhere",
		},
		{
			prefix: "QThreadEvents:", syntax: "0|1",
			handler: (*session).threadEvents,
			tokens:  "QThreadEvents?+",
			about:   "choose stop replies for new and ended threads",
			reply:   "OK",
		},
	}
}

func reversePackets() []packet {
	return []packet{
		{
			prefix:  "bc",
			handler: (*session).goBack, flags: whenStopped,
			tokens:  "ReverseContinue+",
			about:   "go on backwards, the threads of Hc",
			reply:   "stop reply, with replaylog:begin where nothing is known of before",
			errors:  "in non-stop mode",
			differs: "is not there",
		},
		{
			prefix:  "bs",
			handler: (*session).stepBack, flags: whenStopped,
			tokens:  "ReverseStep+",
			about:   "step backwards, the thread of Hc",
			reply:   "stop reply, as of bc",
			errors:  "in non-stop mode",
			differs: "is not there",
		},
	}
}

func processPackets() []packet {
	return []packet{
		{
			prefix: "vRun;", syntax: "[HEXPATH][;HEXARGUMENT...]",
			handler: (*session).run, flags: whenStopped,
			about:   "start a program, without a path the last one; refused where the target cannot",
			reply:   "stop reply",
			errors:  "no program is named and there was none before; it cannot be started; a target that starts none",
			differs: "without extended mode, only when there is no process",
		},
		{
			prefix: "R", syntax: "NUMBER",
			handler: (*session).restart,
			about:   "end all and start the last program again, in extended mode",
			reply:   "none",
		},
		{
			prefix:  "k",
			handler: (*session).kill,
			about:   "end all programs",
			reply:   "none",
		},
		{
			prefix: "vKill;", syntax: "PID",
			handler: (*session).killProcess,
			about:   "end a program",
			reply:   "OK",
			errors:  "no such process",
			differs: "OK if there is no such process",
		},
		{
			prefix: "D", syntax: "[;PID]",
			handler: (*session).detach,
			about:   "let a program go; a trace run or commands of breakpoints may keep it",
			reply:   "OK",
			errors:  "no such process",
			differs: "what keeps the process is only a trace run",
		},
	}
}

func launchPackets() []packet {
	return []packet{
		{
			prefix: "vAttach;", syntax: "PID",
			handler: (*session).attach, flags: whenStopped,
			about:  "take on a process that runs",
			reply:  "stop reply; OK in non-stop mode, where it goes on",
			errors: "no such process; it cannot be traced",
		},
		{
			prefix: "QEnvironmentHexEncoded:", syntax: "HEXVARIABLE",
			handler: (*session).setVariable,
			tokens:  "QEnvironmentHexEncoded+",
			about:   "set NAME=VALUE in the environment of programs to start",
			reply:   "OK",
			errors:  "no =; no name in front of it",
		},
		{
			prefix: "QEnvironmentUnset:", syntax: "HEXNAME",
			handler: (*session).unsetVariable,
			tokens:  "QEnvironmentUnset+",
			about:   "remove a variable from it",
			reply:   "OK",
		},
		{
			prefix:  "QEnvironmentReset",
			handler: (*session).resetEnvironment,
			tokens:  "QEnvironmentReset+",
			about:   "make it the server's own again",
			reply:   "OK",
		},
		{
			prefix: "QSetWorkingDir:", syntax: "[HEXPATH]",
			handler: (*session).setDirectory,
			tokens:  "QSetWorkingDir+",
			about:   "set the folder of programs to start, without a path the server's own",
			reply:   "OK",
		},
		{
			prefix: "QStartupWithShell:", syntax: "0|1",
			handler: (*session).chooseShell,
			tokens:  "QStartupWithShell+",
			about:   "of no effect: arguments reach the program as they are either way",
			reply:   "OK",
			differs: "starts programs by a shell if 1, and quotes their arguments for it",
		},
		{
			prefix: "QDisableRandomization:", syntax: "0|1",
			handler: (*session).disableRandomization,
			tokens:  "QDisableRandomization+",
			about:   "start programs without address space randomisation",
			reply:   "OK",
			differs: "takes what is neither for 0",
		},
	}
}

func signalPackets() []packet {
	return []packet{
		{
			prefix: "QProgramSignals:", syntax: "[SIGNAL;...]",
			handler: (*session).programSignals,
			tokens:  "QProgramSignals+",
			about:   "signals that a program may take with it when it is let go",
			reply:   "OK",
		},
	}
}

func syscallPackets() []packet {
	return []packet{
		{
			prefix: "QCatchSyscalls:", syntax: "0|1[;NUMBER...]",
			handler: (*session).catchSyscalls,
			tokens:  "QCatchSyscalls+",
			about:   "stop at the entry to and the return from system calls, all without numbers",
			reply:   "OK",
			errors:  "while the program runs that the client has left to a trace run",
		},
	}
}

func breakpointPackets() []packet {
	return []packet{
		{
			prefix: "Z", syntax: "KIND,ADDRESS,LENGTH[;XLENGTH,HEXCODE...][;cmds:PERSIST,XLENGTH,HEXCODE...]",
			handler: (*session).insertBreakpoint, flags: outsideFrames,
			tokens: "swbreak?+ hwbreak?+ ConditionalBreakpoints+ BreakpointCommands+",
			about: "insert a breakpoint (kind 0, 1) or watchpoint (2 write, 3 read, 4 access) that stops if a condition " +
				"holds or fails, or runs commands instead; PERSIST 1 keeps them without a client",
			reply: "OK",
			errors: "memory that cannot be written (0); no debug register is free (1 to 4), or the range is too long for " +
				"one; code that is no agent expression; kind 3 and unknown kinds have the empty reply",
			differs: "takes code as it comes; runs commands whatever the condition says; inserts in a frame, too",
		},
		{
			prefix: "z", syntax: "KIND,ADDRESS,LENGTH",
			handler: (*session).removeBreakpoint, flags: outsideFrames,
			about:   "remove it",
			reply:   "OK",
			errors:  "the memory of a breakpoint (0) is gone; it is removed all the same",
			differs: "E01 if it is not there, too",
		},
	}
}
