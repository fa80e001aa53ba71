package stub

func definitionPackets() []packet {
	return []packet{
		{
			prefix:  "QTinit",
			handler: (*session).traceInit,
			about:   "end the run and forget tracepoints, variables and frames",
			reply:   "OK",
		},
		{
			prefix: "QTDP:", syntax: "NUMBER:ADDRESS:E|D:STEP:PASS[:FLENGTH][:S][:XLENGTH,HEXCODE][-]",
			handler: (*session).defineTracepoint,
			tokens:  "ConditionalTracepoints+ InstallInTrace+ tracenz+",
			about:   "define a tracepoint; S makes it static, F (fast) makes no difference",
			reply:   "OK",
		},
		{
			prefix: "QTDP:-", syntax: "NUMBER:ADDRESS:[S]ACTION...[-]",
			handler: (*session).addActions,
			about: "add actions to it: R registers, M memory, X agent expression, L static trace data; S begins the " +
				"while-stepping ones",
			reply: "OK",
		},
		{
			prefix: "QTDPsrc:", syntax: "NUMBER:ADDRESS:at|cond|cmd:START:LENGTH:HEXTEXT",
			handler: (*session).addSource,
			tokens:  "TracepointSource+",
			about:   "add source text to it",
			reply:   "OK",
		},
		{
			prefix: "QTEnable:", syntax: "NUMBER:ADDRESS",
			handler: (*session).enableTracepoint,
			tokens:  "EnableDisableTracepoints+",
			about:   "enable a tracepoint",
			reply:   "OK",
		},
		{
			prefix: "QTDisable:", syntax: "NUMBER:ADDRESS",
			handler: (*session).disableTracepoint,
			about:   "disable a tracepoint",
			reply:   "OK",
		},
		{
			prefix: "QTDV:", syntax: "NUMBER:VALUE:BUILTIN:HEXNAME",
			handler: (*session).defineVariable,
			tokens:  "TraceStateVariables+",
			about:   "define a trace state variable",
			reply:   "OK",
		},
		{
			prefix: "QTro:", syntax: "START,END:...",
			handler: (*session).readOnlyRanges,
			about:   "ranges that a frame may read from the program",
			reply:   "OK",
		},
	}
}

func markerPackets() []packet {
	return []packet{
		{
			prefix:  "qTfSTM",
			handler: (*session).firstMarkers,
			tokens:  "StaticTracepoints+",
			about:   "the static tracepoint markers of the program and its libraries",
			reply:   "m ADDRESS:HEXID:HEXTEXT,... or l",
		},
		{
			prefix:  "qTsSTM",
			handler: (*session).moreMarkers,
			about:   "the next of them",
			reply:   "m ADDRESS:HEXID:HEXTEXT,... or l",
		},
		{
			prefix: "qTSTMat:", syntax: "ADDRESS",
			handler: (*session).markerHere,
			about:   "the marker at an address",
			reply:   "m ADDRESS:HEXID:HEXTEXT or l",
		},
		{
			prefix: "qXfer:statictrace:read:", syntax: ":OFFSET,LENGTH",
			handler: reads("statictrace", (*session).staticDocument),
			tokens:  "qXfer:statictrace:read+",
			about:   "the static trace data of the frame: the marker's arguments",
			reply:   "m BINARY or l BINARY",
		},
	}
}

func tracePackets() []packet {
	return []packet{
		{
			prefix:  "QTStart",
			handler: (*session).traceStart,
			about:   "install the tracepoints and begin a run",
			reply:   "OK",
		},
		{
			prefix:  "QTStop",
			handler: (*session).traceStop,
			about:   "end the run",
			reply:   "OK",
		},
		{
			prefix: "QTDisconnected:", syntax: "0|1",
			handler: (*session).disconnectedTracing,
			tokens:  "DisconnectedTracing+",
			about:   "choose whether a run survives its client",
			reply:   "OK",
		},
		{
			prefix: "QTBuffer:circular:", syntax: "0|1",
			handler: (*session).circularBuffer,
			about:   "choose whether old frames make room",
			reply:   "OK",
		},
		{
			prefix: "QTBuffer:size:", syntax: "LENGTH|-1",
			handler: (*session).bufferSize,
			tokens:  "QTBuffer:size+",
			about:   "set the size of the trace buffer, which loses its frames",
			reply:   "OK",
		},
		{
			prefix: "QTNotes:", syntax: "[user:HEXTEXT;][notes:HEXTEXT;][tstop:HEXTEXT;]",
			handler: (*session).traceNotes,
			about:   "set the texts that go with a run",
			reply:   "OK",
		},
	}
}

func hasRelocator(s *Server) bool { return hasTracer(s) && s.target.Relocator() != nil }

func relocationPackets() []packet {
	return []packet{
		{
			prefix: "qRelocInsn:", syntax: "SIZE",
			handler: (*session).relocated,
			about: "answer to qRelocInsn:FROM;TO, which the server sends before it replies to QTStart and, in a run, to " +
				"QTDP: the instruction at FROM was copied to TO",
			reply: "none, or that of the packet that installs",
		},
		{
			prefix: "E", syntax: "NUMBER|.TEXT",
			handler: (*session).notRelocated,
			about:   "answer to qRelocInsn:FROM;TO: it was not; the instruction will be stepped in its place",
			reply:   "none, or that of the packet that installs",
		},
	}
}

func savePackets() []packet {
	return []packet{
		{
			prefix: "QTSave:", syntax: "HEXNAME",
			handler: (*session).saveTrace,
			about:   "write a trace file on the server's side",
			reply:   "OK",
		},
	}
}

func queryPackets() []packet {
	return []packet{
		{
			prefix:  "qTStatus",
			handler: (*session).traceStatus,
			about:   "state of the trace run",
			reply:   "T1 or T0 with ;KEY:VALUE...",
		},
		{
			prefix: "qTP:", syntax: "NUMBER:ADDRESS",
			handler: (*session).tracepointCounts,
			about:   "counts of a tracepoint",
			reply:   "V HITS:BYTES, both in hex",
		},
		{
			prefix: "qTV:", syntax: "NUMBER",
			handler: (*session).variableValue,
			about:   "value of a variable, in the selected frame or now",
			reply:   "V VALUE or U",
		},
		{
			prefix:  "qTfP",
			handler: (*session).firstPiece,
			about:   "the tracepoints, piece by piece",
			reply:   "PIECE or l",
		},
		{
			prefix:  "qTsP",
			handler: (*session).morePieces,
			about:   "the next piece",
			reply:   "PIECE or l",
		},
		{
			prefix:  "qTfV",
			handler: (*session).firstVariable,
			about:   "the trace state variables",
			reply:   "NUMBER:VALUE:BUILTIN:HEXNAME or l",
		},
		{
			prefix:  "qTsV",
			handler: (*session).moreVariables,
			about:   "the next variable",
			reply:   "NUMBER:VALUE:BUILTIN:HEXNAME or l",
		},
		{
			prefix:  "qTMinFTPILen",
			handler: (*session).unknown,
			about:   "shortest instruction for a fast tracepoint; there are none",
			reply:   "empty",
		},
	}
}

func framePackets() []packet {
	return []packet{
		{
			prefix: "QTFrame:", syntax: "NUMBER|pc:ADDRESS|tdp:NUMBER|range:START:END|outside:START:END",
			handler: (*session).selectFrame,
			about:   "select a frame; ffffffff or -1 leaves frames",
			reply:   "F NUMBER T TRACEPOINT, F-1, or OK after leaving frames",
		},
		{
			prefix: "qXfer:traceframe-info:read:", syntax: ":OFFSET,LENGTH",
			handler: reads("traceframe-info", (*session).frameDocument),
			tokens:  "qXfer:traceframe-info:read+",
			about:   "memory and variables that the frame holds, as XML",
			reply:   "m BINARY or l BINARY",
		},
		{
			prefix: "qTBuffer:", syntax: "OFFSET,LENGTH",
			handler: (*session).readBuffer,
			about:   "the trace buffer as a trace file has it, without the end mark",
			reply:   "HEXBYTES or l",
		},
	}
}
