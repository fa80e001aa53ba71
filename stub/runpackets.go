package stub

import "tracewell/rsp/request"

// runPackets resume and stop programs. In all-stop mode the reply to a resumption is the next stop, so a client sends
// nothing but Ctrl-C until then; in non-stop mode all are answered at once.
func runPackets() []packet {
	return []packet{
		{call: raw(request.ResumeActions, "vCont;VERB;...", (*session).verbs), flags: forWatchers, tokens: "vContSupported+",
			about: "ask for the verbs of vCont"},
		{call: raw(request.Resume, "stop reply; OK in non-stop mode", (*session).resumeThreads),
			tokens: "fork-events?+ vfork-events?+ exec-events?+ no-resumed?+",
			about: "let threads go on (c, C), step (s, S), step in a range (r); t stops threads, in all-stop mode the " +
				"program", errors: "no such thread; in all-stop mode, while the program runs, and t beside other verbs",
			differs: "ends the session when there is no such thread"},
		{call: raw(request.Continue, "stop reply; OK in non-stop mode", (*session).resumeAt), flags: whenStopped,
			about: "go on", differs: "takes no notice of ADDRESS"},
		{call: raw(request.ContinueWith, "stop reply; OK in non-stop mode", (*session).resumeAt), flags: whenStopped,
			about: "go on with a signal", differs: "takes no notice of ADDRESS"},
		{call: raw(request.Step, "stop reply; OK in non-stop mode", (*session).step), flags: whenStopped, about: "step",
			differs: "takes no notice of ADDRESS"},
		{call: raw(request.StepWith, "stop reply; OK in non-stop mode", (*session).step), flags: whenStopped,
			about: "step with a signal", differs: "takes no notice of ADDRESS"},
		{call: does(request.Interrupt, (*session).stopAsked),
			about: "stop the program, or in non-stop mode a thread, with SIGINT"},
		{call: does(request.NonStop, (*session).chooseNonStop), watcher: watchAllStop, tokens: "QNonStop+",
			about:  "choose all-stop mode, which stops everything, or non-stop mode",
			errors: "a target without the mode; the program does not stop"},
		{call: raw(request.NextStop, "stop reply or OK", (*session).nextStop),
			about: "acknowledge a notification %Stop and ask for the next event; OK if there is none"},
		{call: does(request.PassSignals, (*session).passSignals), watcher: agrees, tokens: "QPassSignals+",
			about:   "signals that need no stop reply",
			differs: "a number that is not well formed ends the session; here as elsewhere"},
		{call: does(request.ThreadEvents, (*session).threadEvents), watcher: agrees, tokens: "QThreadEvents?+",
			about: "choose stop replies for new and ended threads"},
	}
}

// reversePackets are those of a recording, which knows what was executed before.
func reversePackets() []packet {
	return []packet{
		{call: raw(request.BackContinue, "stop reply; replaylog:begin at the start", (*session).goBack), flags: whenStopped,
			tokens: "ReverseContinue+", about: "go on backwards, the threads of Hc", errors: "in non-stop mode",
			differs: "is not there"},
		{call: raw(request.BackStep, "stop reply, as of bc", (*session).stepBack), flags: whenStopped,
			tokens: "ReverseStep+", about: "step backwards, the thread of Hc", errors: "in non-stop mode",
			differs: "is not there"},
	}
}

// processPackets end processes and let them go. vRun is among them, and not with those that a launcher needs: a target that
// starts no programs has to say so.
func processPackets() []packet {
	return []packet{
		{call: unparsed(request.Run, "stop reply", (*session).run), flags: whenStopped,
			about:   "start a program, without a path the last one; refused where the target cannot",
			errors:  "no program is named and there was none before; it cannot be started; a target that starts none",
			differs: "without extended mode, only when there is no process"},
		{call: unparsed(request.Restart, "none", (*session).restart),
			about: "end all and start the last program again, in extended mode"},
		{call: raw(request.Kill, "none", (*session).kill), about: "end all programs"},
		{call: does(request.KillProcess, (*session).killProcess), about: "end a program", errors: "no such process",
			differs: "OK if there is no such process"},
		{call: does(request.Detach, (*session).detach), watcher: agrees,
			about: "let a program go; a trace run or commands of breakpoints may keep it", errors: "no such process",
			differs: "what keeps the process is only a trace run"},
	}
}

// launchPackets start programs and attach to processes. The settings hold for all programs that start from then on.
func launchPackets() []packet {
	return []packet{
		{call: raw(request.Attach, "stop reply; OK in non-stop mode, where it goes on", (*session).attach),
			flags: whenStopped, about: "take on a process that runs", errors: "no such process; it cannot be traced"},
		{call: does(request.SetVariable, (*session).setVariable), tokens: "QEnvironmentHexEncoded+",
			about: "set NAME=VALUE in the environment of programs to start", errors: "no =; no name in front of it"},
		{call: does(request.UnsetVariable, (*session).unsetVariable), tokens: "QEnvironmentUnset+",
			about: "remove a variable from it"},
		{call: does(request.ResetVariable, (*session).resetEnvironment), tokens: "QEnvironmentReset+",
			about: "make it the server's own again"},
		{call: does(request.WorkingDir, (*session).setDirectory), tokens: "QSetWorkingDir+",
			about: "set the folder of programs to start, without a path the server's own"},
		{call: does(request.StartByShell, (*session).chooseShell), tokens: "QStartupWithShell+",
			about:   "of no effect: arguments reach the program as they are either way",
			differs: "starts programs by a shell if 1, and quotes their arguments for it"},
		{call: does(request.FixedLayout, (*session).disableRandomization), tokens: "QDisableRandomization+",
			about: "start programs without address space randomisation", differs: "takes what is neither for 0"},
		{call: does(request.DisableASLR, (*session).disableRandomization), about: "the same, for LLDB", differs: "unknown"},
		{call: does(request.SetStdin, (*session).setStdin),
			about: "set the file of the standard input of programs that this client starts, none for the server's", differs: "unknown"},
		{call: does(request.SetStdout, (*session).setStdout), about: "set that of standard output", differs: "unknown"},
		{call: does(request.SetStderr, (*session).setStderr), about: "set that of standard error", differs: "unknown"},
	}
}

// signalPackets are for targets that pass signals to a program without a stop.
func signalPackets() []packet {
	return []packet{
		{call: does(request.ProgramSignals, (*session).programSignals), watcher: agrees, tokens: "QProgramSignals+",
			about: "signals that a program may take with it when it is let go"},
	}
}

// syscallPackets have the program stop at system calls. Numbers are those of the machine.
func syscallPackets() []packet {
	return []packet{
		{call: does(request.CatchSyscalls, (*session).catchSyscalls), tokens: "QCatchSyscalls+",
			about:  "stop at the entry to and the return from system calls, all without numbers",
			errors: "while the program runs that the client has left to a trace run"},
	}
}

// breakpointPackets insert and remove breakpoints and watchpoints. A target keeps them out of the memory that clients read.
func breakpointPackets() []packet {
	return []packet{
		{call: does(request.InsertBreak, (*session).insertBreakpoint), flags: outsideFrames,
			tokens: "swbreak?+ hwbreak?+ ConditionalBreakpoints+ BreakpointCommands+",
			about: "insert a breakpoint (kind 0, 1) or watchpoint (2 write, 3 read, 4 access) that stops if a condition " +
				"holds or fails, or runs commands instead; PERSIST 1 keeps them without a client",
			errors: "memory that cannot be written (0); no debug register is free (1 to 4), the range is too long for one, " +
				"or those of the machine stop no program, as under some hypervisors; code that is no agent expression; " +
				"kind 3 and unknown kinds have the empty reply",
			differs: "takes code as it comes; runs commands whatever the condition says; inserts in a frame, too"},
		{call: does(request.RemoveBreak, (*session).removeBreakpoint), flags: outsideFrames, about: "remove it",
			errors:  "the memory of a breakpoint (0) is gone; it is removed all the same",
			differs: "E01 if it is not there, too"},
	}
}
