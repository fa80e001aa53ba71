package stub

func definitionPackets() []packet {
	return []packet{
		{"QTinit", "", (*session).traceInit, 0, "", "OK", "end the run and forget tracepoints, variables and frames"},
		{"QTDP:", "NUMBER:ADDRESS:E|D:STEP:PASS[:FLENGTH][:S][:XLENGTH,HEXCODE][-]", (*session).defineTracepoint, 0,
			"ConditionalTracepoints+ InstallInTrace+ tracenz+", "OK", "define a tracepoint"},
		{"QTDP:-", "NUMBER:ADDRESS:[S]ACTION...[-]", (*session).addActions, 0, "", "OK",
			"add actions to it: R registers, M memory, X agent expression, L static trace data; S begins the while-stepping ones"},
		{"QTDPsrc:", "NUMBER:ADDRESS:at|cond|cmd:START:LENGTH:HEXTEXT", (*session).addSource, 0, "TracepointSource+", "OK",
			"add source text to it"},
		{"QTEnable:", "NUMBER:ADDRESS", (*session).enableTracepoint, 0, "EnableDisableTracepoints+", "OK",
			"enable a tracepoint"},
		{"QTDisable:", "NUMBER:ADDRESS", (*session).disableTracepoint, 0, "", "OK", "disable a tracepoint"},
		{"QTDV:", "NUMBER:VALUE:BUILTIN:HEXNAME", (*session).defineVariable, 0, "TraceStateVariables+", "OK",
			"define a trace state variable"},
		{"QTro:", "START,END:...", (*session).readOnlyRanges, 0, "", "OK", "ranges that a frame may read from the program"},
	}
}

func markerPackets() []packet {
	return []packet{
		{"qTfSTM", "", (*session).firstMarkers, 0, "StaticTracepoints+", "m ADDRESS:HEXID:HEXTEXT,... or l",
			"the static tracepoint markers of the program and its libraries"},
		{"qTsSTM", "", (*session).moreMarkers, 0, "", "m ADDRESS:HEXID:HEXTEXT,... or l", "the next of them"},
		{"qTSTMat:", "ADDRESS", (*session).markerHere, 0, "", "m ADDRESS:HEXID:HEXTEXT or l", "the marker at an address"},
		{"qXfer:statictrace:read:", ":OFFSET,LENGTH", reads("statictrace", (*session).staticDocument), 0,
			"qXfer:statictrace:read+", "m BINARY or l BINARY", "the static trace data of the frame: the marker's arguments"},
	}
}

func tracePackets() []packet {
	return []packet{
		{"QTStart", "", (*session).traceStart, 0, "", "OK", "install the tracepoints and begin a run"},
		{"QTStop", "", (*session).traceStop, 0, "", "OK", "end the run"},
		{"QTDisconnected:", "0|1", (*session).disconnectedTracing, 0, "DisconnectedTracing+", "OK",
			"choose whether a run survives its client"},
		{"QTBuffer:circular:", "0|1", (*session).circularBuffer, 0, "", "OK", "choose whether old frames make room"},
		{"QTBuffer:size:", "LENGTH|-1", (*session).bufferSize, 0, "QTBuffer:size+", "OK",
			"set the size of the trace buffer, which loses its frames"},
		{"QTNotes:", "[user:HEXTEXT;][notes:HEXTEXT;][tstop:HEXTEXT;]", (*session).traceNotes, 0, "", "OK",
			"set the texts that go with a run"},
	}
}

func queryPackets() []packet {
	return []packet{
		{"qTStatus", "", (*session).traceStatus, 0, "", "T1 or T0 with ;KEY:VALUE...", "state of the trace run"},
		{"qTP:", "NUMBER:ADDRESS", (*session).tracepointCounts, 0, "", "V HITS:BYTES, both in hex", "counts of a tracepoint"},
		{"qTV:", "NUMBER", (*session).variableValue, 0, "", "V VALUE or U", "value of a variable, in the selected frame or now"},
		{"qTfP", "", (*session).firstPiece, 0, "", "PIECE or l", "the tracepoints, piece by piece"},
		{"qTsP", "", (*session).morePieces, 0, "", "PIECE or l", "the next piece"},
		{"qTfV", "", (*session).firstVariable, 0, "", "NUMBER:VALUE:BUILTIN:HEXNAME or l", "the trace state variables"},
		{"qTsV", "", (*session).moreVariables, 0, "", "NUMBER:VALUE:BUILTIN:HEXNAME or l", "the next variable"},
		{"qTMinFTPILen", "", (*session).unknown, 0, "", "empty", "shortest instruction for a fast tracepoint; there are none"},
	}
}

func framePackets() []packet {
	return []packet{
		{"QTFrame:", "NUMBER|pc:ADDRESS|tdp:NUMBER|range:START:END|outside:START:END", (*session).selectFrame, 0, "",
			"F NUMBER T TRACEPOINT, F-1, or OK after leaving frames", "select a frame; ffffffff or -1 leaves frames"},
		{"qXfer:traceframe-info:read:", ":OFFSET,LENGTH", reads("traceframe-info", (*session).frameDocument), 0,
			"qXfer:traceframe-info:read+", "m BINARY or l BINARY", "memory and variables that the frame holds, as XML"},
		{"qTBuffer:", "OFFSET,LENGTH", (*session).readBuffer, 0, "", "HEXBYTES or l",
			"the trace buffer as a trace file has it, without the end mark"},
	}
}
