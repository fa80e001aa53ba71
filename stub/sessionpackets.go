package stub

func sessionPackets() []packet {
	return []packet{
		{
			prefix: "qSupported", syntax: "[:FEATURE;...]",
			handler: (*session).supported,
			tokens:  "multiprocess?+ error-message?+",
			about:   "exchange features",
			reply:   "FEATURE;...",
		},
		{
			prefix:  "QStartNoAckMode",
			handler: (*session).startNoAck,
			tokens:  "QStartNoAckMode+",
			about:   "end acknowledgments",
			reply:   "OK",
		},
		{
			prefix:  "!",
			handler: (*session).extend,
			about:   "extended mode: the server outlives its programs",
			reply:   "OK",
		},
		{
			prefix:  "vMustReplyEmpty",
			handler: (*session).unknown,
			about:   "probe for servers that mistake unknown packets",
			reply:   "empty",
		},
		{
			prefix: "QAgent:", syntax: "0|1",
			handler: (*session).agent,
			about:   "do without an in-process agent; to use one is refused",
			reply:   "OK",
		},
		{
			prefix: "qSymbol:", syntax: "[VALUE]:[NAME]",
			handler: (*session).symbol,
			about:   "offer of symbols; none are asked for",
			reply:   "OK",
		},
		{
			prefix: "qRcmd,", syntax: "HEXCOMMAND",
			handler: (*session).monitor, flags: numericErrors,
			about: "a monitor command, see monitor help",
			reply: "HEXOUTPUT or OK",
		},
	}
}

func threadPackets() []packet {
	return []packet{
		{
			prefix:  "?",
			handler: (*session).status,
			about:   "why the program stopped; one that runs is stopped first, but in non-stop mode",
			reply:   "stop reply; OK in non-stop mode if no thread is stopped",
		},
		{
			prefix: "H", syntax: "g|c THREAD",
			handler: (*session).selectThread,
			about:   "select the thread for g, m and so on, or for c and s",
			reply:   "OK",
		},
		{
			prefix: "T", syntax: "THREAD",
			handler: (*session).threadAlive,
			about:   "ask whether a thread lives",
			reply:   "OK",
		},
		{
			prefix:  "qC",
			handler: (*session).currentThread,
			about:   "ask which thread is selected",
			reply:   "QC THREAD",
		},
		{
			prefix:  "qfThreadInfo",
			handler: (*session).firstThreads,
			about:   "list the threads",
			reply:   "m THREAD,... or l",
		},
		{
			prefix:  "qsThreadInfo",
			handler: (*session).moreThreads,
			about:   "list more threads",
			reply:   "m THREAD,... or l",
		},
		{
			prefix: "qThreadExtraInfo,", syntax: "THREAD",
			handler: (*session).threadExtra,
			about:   "the name of a thread",
			reply:   "HEXTEXT",
		},
		{
			prefix: "qAttached", syntax: "[:PID]",
			handler: (*session).askAttached,
			about:   "ask whether the process, or the one it was forked from, ran before the server came",
			reply:   "1 or 0",
		},
		{
			prefix: "qXfer:threads:read:", syntax: ":OFFSET,LENGTH",
			handler: reads("threads", (*session).threadsDocument),
			tokens:  "qXfer:threads:read+",
			about:   "the threads with names and processors, as XML",
			reply:   "m BINARY or l BINARY",
		},
	}
}

func statePackets() []packet {
	return []packet{
		{
			prefix:  "g",
			handler: (*session).readRegisters, flags: whenStopped,
			about: "read all registers",
			reply: "HEXBLOCK, xx for bytes a frame does not hold",
		},
		{
			prefix: "G", syntax: "HEXBLOCK",
			handler: (*session).writeRegisters, flags: whenStopped | outsideFrames,
			about: "write all registers",
			reply: "OK",
		},
		{
			prefix: "p", syntax: "REGISTER",
			handler: (*session).readRegister, flags: whenStopped,
			about: "read one register",
			reply: "HEXVALUE, xx for bytes a frame does not hold",
		},
		{
			prefix: "P", syntax: "REGISTER=HEXVALUE",
			handler: (*session).writeRegister, flags: whenStopped | outsideFrames,
			about: "write one register",
			reply: "OK",
		},
		{
			prefix: "m", syntax: "ADDRESS,LENGTH",
			handler: (*session).readMemoryHex, flags: numericErrors,
			about: "read memory",
			reply: "HEXBYTES, as many as there are",
		},
		{
			prefix: "x", syntax: "ADDRESS,LENGTH",
			handler: (*session).readMemoryBinary,
			tokens:  "binary-upload+",
			about:   "read memory",
			reply:   "b BINARY, as many as there are",
		},
		{
			prefix: "M", syntax: "ADDRESS,LENGTH:HEXBYTES",
			handler: (*session).writeMemoryHex, flags: outsideFrames,
			about: "write memory",
			reply: "OK",
		},
		{
			prefix: "X", syntax: "ADDRESS,LENGTH:BINARY",
			handler: (*session).writeMemoryBinary, flags: outsideFrames | binaryArguments,
			about: "write memory",
			reply: "OK",
		},
		{
			prefix: "qSearch:memory:", syntax: "ADDRESS;LENGTH;BINARY",
			handler: (*session).searchMemory, flags: binaryArguments,
			about: "find bytes in memory",
			reply: "0 or 1,ADDRESS",
		},
		{
			prefix: "qCRC:", syntax: "ADDRESS,LENGTH",
			handler: (*session).checksum,
			about:   "CRC-32 of memory, most significant bit first, from 0xffffffff",
			reply:   "C CHECKSUM",
		},
		{
			prefix: "qXfer:features:read:", syntax: "target.xml:OFFSET,LENGTH",
			handler: reads("features", (*session).featuresDocument),
			tokens:  "qXfer:features:read+",
			about:   "the target description",
			reply:   "m BINARY or l BINARY",
		},
	}
}
