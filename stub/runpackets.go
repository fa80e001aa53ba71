package stub

import "tracewell/rsp/request"

func runPackets() []packet {
	return []packet{
		{
			call:   on(request.ResumeActions, (*session).verbs),
			tokens: "vContSupported+",
			about:  "ask for the verbs of vCont",
			reply:  "vCont;VERB;...",
		},
		{
			call:   on(request.Resume, (*session).resumeThreads),
			tokens: "fork-events?+ vfork-events?+ exec-events?+ no-resumed?+",
			about: "let threads go on (c, C), step (s, S), step in a range (r); t stops threads, in all-stop mode the " +
				"program",
			reply:   "stop reply; OK in non-stop mode",
			errors:  "no such thread; in all-stop mode, while the program runs, and t beside other verbs",
			differs: "ends the session when there is no such thread",
		},
		{
			call: on(request.Continue, (*session).resumeAt), flags: whenStopped,
			about:   "go on",
			reply:   "stop reply; OK in non-stop mode",
			differs: "takes no notice of ADDRESS",
		},
		{
			call: on(request.ContinueWith, (*session).resumeAt), flags: whenStopped,
			about:   "go on with a signal",
			reply:   "stop reply; OK in non-stop mode",
			differs: "takes no notice of ADDRESS",
		},
		{
			call: on(request.Step, (*session).step), flags: whenStopped,
			about:   "step",
			reply:   "stop reply; OK in non-stop mode",
			differs: "takes no notice of ADDRESS",
		},
		{
			call: on(request.StepWith, (*session).step), flags: whenStopped,
			about:   "step with a signal",
			reply:   "stop reply; OK in non-stop mode",
			differs: "takes no notice of ADDRESS",
		},
		{
			call:  on(request.Interrupt, (*session).stopAsked),
			about: "stop the program, or in non-stop mode a thread, with SIGINT",
			reply: "OK",
		},
		{
			call:   on(request.NonStop, (*session).chooseNonStop),
			tokens: "QNonStop+",
			about:  "choose all-stop mode, which stops everything, or non-stop mode",
			reply:  "OK",
			errors: "a target without the mode; the program does not stop",
		},
		{
			call:  on(request.NextStop, (*session).nextStop),
			about: "acknowledge a notification %Stop and ask for the next event; OK if there is none",
			reply: "stop reply or OK",
		},
		{
			call:    on(request.PassSignals, (*session).passSignals),
			tokens:  "QPassSignals+",
			about:   "signals that need no stop reply",
			reply:   "OK",
			differs: "a number that is not well formed ends the session; here as elsewhere",
		},
		{
			call:   on(request.ThreadEvents, (*session).threadEvents),
			tokens: "QThreadEvents?+",
			about:  "choose stop replies for new and ended threads",
			reply:  "OK",
		},
	}
}

func reversePackets() []packet {
	return []packet{
		{
			call: on(request.BackContinue, (*session).goBack), flags: whenStopped,
			tokens:  "ReverseContinue+",
			about:   "go on backwards, the threads of Hc",
			reply:   "stop reply, with replaylog:begin where nothing is known of before",
			errors:  "in non-stop mode",
			differs: "is not there",
		},
		{
			call: on(request.BackStep, (*session).stepBack), flags: whenStopped,
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
			call: unparsed(request.Run, (*session).run), flags: whenStopped,
			about:   "start a program, without a path the last one; refused where the target cannot",
			reply:   "stop reply",
			errors:  "no program is named and there was none before; it cannot be started; a target that starts none",
			differs: "without extended mode, only when there is no process",
		},
		{
			call:  unparsed(request.Restart, (*session).restart),
			about: "end all and start the last program again, in extended mode",
			reply: "none",
		},
		{
			call:  on(request.Kill, (*session).kill),
			about: "end all programs",
			reply: "none",
		},
		{
			call:    on(request.KillProcess, (*session).killProcess),
			about:   "end a program",
			reply:   "OK",
			errors:  "no such process",
			differs: "OK if there is no such process",
		},
		{
			call:    on(request.Detach, (*session).detach),
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
			call: on(request.Attach, (*session).attach), flags: whenStopped,
			about:  "take on a process that runs",
			reply:  "stop reply; OK in non-stop mode, where it goes on",
			errors: "no such process; it cannot be traced",
		},
		{
			call:   on(request.SetVariable, (*session).setVariable),
			tokens: "QEnvironmentHexEncoded+",
			about:  "set NAME=VALUE in the environment of programs to start",
			reply:  "OK",
			errors: "no =; no name in front of it",
		},
		{
			call:   on(request.UnsetVariable, (*session).unsetVariable),
			tokens: "QEnvironmentUnset+",
			about:  "remove a variable from it",
			reply:  "OK",
		},
		{
			call:   on(request.ResetVariable, (*session).resetEnvironment),
			tokens: "QEnvironmentReset+",
			about:  "make it the server's own again",
			reply:  "OK",
		},
		{
			call:   on(request.WorkingDir, (*session).setDirectory),
			tokens: "QSetWorkingDir+",
			about:  "set the folder of programs to start, without a path the server's own",
			reply:  "OK",
		},
		{
			call:    on(request.StartByShell, (*session).chooseShell),
			tokens:  "QStartupWithShell+",
			about:   "of no effect: arguments reach the program as they are either way",
			reply:   "OK",
			differs: "starts programs by a shell if 1, and quotes their arguments for it",
		},
		{
			call:    on(request.FixedLayout, (*session).disableRandomization),
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
			call:   on(request.ProgramSignals, (*session).programSignals),
			tokens: "QProgramSignals+",
			about:  "signals that a program may take with it when it is let go",
			reply:  "OK",
		},
	}
}

func syscallPackets() []packet {
	return []packet{
		{
			call:   on(request.CatchSyscalls, (*session).catchSyscalls),
			tokens: "QCatchSyscalls+",
			about:  "stop at the entry to and the return from system calls, all without numbers",
			reply:  "OK",
			errors: "while the program runs that the client has left to a trace run",
		},
	}
}

func breakpointPackets() []packet {
	return []packet{
		{
			call: on(request.InsertBreak, (*session).insertBreakpoint), flags: outsideFrames,
			tokens: "swbreak?+ hwbreak?+ ConditionalBreakpoints+ BreakpointCommands+",
			about: "insert a breakpoint (kind 0, 1) or watchpoint (2 write, 3 read, 4 access) that stops if a condition " +
				"holds or fails, or runs commands instead; PERSIST 1 keeps them without a client",
			reply: "OK",
			errors: "memory that cannot be written (0); no debug register is free (1 to 4), or the range is too long for " +
				"one; code that is no agent expression; kind 3 and unknown kinds have the empty reply",
			differs: "takes code as it comes; runs commands whatever the condition says; inserts in a frame, too",
		},
		{
			call: on(request.RemoveBreak, (*session).removeBreakpoint), flags: outsideFrames,
			about:   "remove it",
			reply:   "OK",
			errors:  "the memory of a breakpoint (0) is gone; it is removed all the same",
			differs: "E01 if it is not there, too",
		},
	}
}
