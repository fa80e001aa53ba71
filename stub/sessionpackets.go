package stub

import "tracewell/rsp/request"

func sessionPackets() []packet {
	return []packet{
		{
			call:    on(request.Supported, (*session).supported),
			tokens:  "multiprocess?+ error-message?+",
			about:   "exchange features",
			reply:   "FEATURE;...",
			differs: "names other features, too: branch tracing, fast tracepoints",
		},
		{
			call:   on(request.StartNoAckMode, (*session).startNoAck),
			tokens: "QStartNoAckMode+",
			about:  "end acknowledgments",
			reply:  "OK",
		},
		{
			call:  on(request.Extended, (*session).extend),
			about: "extended mode: the server outlives its programs",
			reply: "OK",
		},
		{
			call:  on(request.MustReplyEmpty, (*session).unknown),
			about: "probe for servers that mistake unknown packets",
			reply: "empty",
		},
		{
			call:    on(request.Agent, (*session).agent),
			about:   "do without an in-process agent; to use one is refused",
			reply:   "OK",
			errors:  "1: there is none to use",
			differs: "takes note of 1",
		},
		{
			call:    unparsed(request.Symbol, (*session).symbol),
			about:   "offer of symbols; none are asked for",
			reply:   "OK",
			differs: "asks for symbols of libthread_db and of its in-process agent",
		},
		{
			call: on(request.Monitor, (*session).monitor), flags: numericErrors,
			about:  "a monitor command, see monitor help",
			reply:  "HEXOUTPUT or OK",
			errors: "an unknown command; one that fails",
		},
	}
}

func threadPackets() []packet {
	return []packet{
		{
			call:   on(request.StopReason, (*session).status),
			about:  "why the program stopped; one that runs is stopped first, but in non-stop mode",
			reply:  "stop reply; OK in non-stop mode if no thread is stopped",
			errors: "in all-stop mode, while a stop reply is due",
		},
		{
			call:    on(request.SelectThread, (*session).selectThread),
			about:   "select the thread for g, m and so on, or for c and s",
			reply:   "OK",
			errors:  "no such thread",
			differs: "takes what is no number for 0",
		},
		{
			call:   on(request.ThreadAlive, (*session).threadAlive),
			about:  "ask whether a thread lives",
			reply:  "OK",
			errors: "no such thread",
		},
		{
			call:  on(request.CurrentThread, (*session).currentThread),
			about: "ask which thread is selected",
			reply: "QC THREAD",
		},
		{
			call:  on(request.FirstThreads, (*session).firstThreads),
			about: "list the threads",
			reply: "m THREAD,... or l",
		},
		{
			call:  on(request.MoreThreads, (*session).moreThreads),
			about: "list more threads",
			reply: "m THREAD,... or l",
		},
		{
			call:    on(request.ThreadName, (*session).threadExtra),
			about:   "the name of a thread",
			reply:   "HEXTEXT",
			errors:  "no such thread",
			differs: "unknown",
		},
		{
			call:   on(request.Attached, (*session).askAttached),
			about:  "ask whether the process, or the one it was forked from, ran before the server came",
			reply:  "1 or 0",
			errors: "no such process",
		},
		{
			call:    reads(request.ReadThreads, (*session).threadsDocument),
			tokens:  "qXfer:threads:read+",
			about:   "the threads with names and processors, as XML",
			reply:   "m BINARY or l BINARY",
			errors:  "an annex; OFFSET behind the end",
			differs: "behind the end there is nothing, without an error; here as in all objects",
		},
	}
}

func statePackets() []packet {
	return []packet{
		{
			call: on(request.ReadRegisters, (*session).readRegisters), flags: whenStopped,
			about: "read all registers",
			reply: "HEXBLOCK, xx for bytes a frame does not hold",
		},
		{
			call: unparsed(request.WriteRegisters, (*session).writeRegisters), flags: whenStopped | outsideFrames,
			about:   "write all registers",
			reply:   "OK",
			errors:  "another length than that of g",
			differs: "takes any length",
		},
		{
			call: unparsed(request.ReadRegister, (*session).readRegister), flags: whenStopped,
			about:   "read one register",
			reply:   "HEXVALUE, xx for bytes a frame does not hold",
			errors:  "no such register",
			differs: "unknown",
		},
		{
			call: unparsed(request.WriteRegister, (*session).writeRegister), flags: whenStopped | outsideFrames,
			about:   "write one register",
			reply:   "OK",
			errors:  "no such register; another length than its own",
			differs: "unknown",
		},
		{
			call: on(request.ReadMemory, (*session).readMemoryHex), flags: numericErrors,
			about:   "read memory",
			reply:   "HEXBYTES, as many as there are",
			errors:  "no byte can be read; LENGTH 0",
			differs: "all or nothing, but in a frame; empty reply to LENGTH 0",
		},
		{
			call:    on(request.ReadMemoryBinary, (*session).readMemoryBinary),
			tokens:  "binary-upload+",
			about:   "read memory",
			reply:   "b BINARY, as many as there are",
			errors:  "no byte can be read",
			differs: "unknown",
		},
		{
			call: on(request.WriteMemory, (*session).writeMemory), flags: outsideFrames,
			about:   "write memory",
			reply:   "OK",
			errors:  "the memory cannot be written; HEXBYTES are not LENGTH",
			differs: "writes LENGTH bytes even if fewer came",
		},
		{
			call: on(request.WriteMemoryBinary, (*session).writeMemory), flags: outsideFrames,
			about:  "write memory",
			reply:  "OK",
			errors: "the memory cannot be written; BINARY is not LENGTH",
		},
		{
			call:    on(request.SearchMemory, (*session).searchMemory),
			about:   "find bytes in memory",
			reply:   "0 or 1,ADDRESS",
			errors:  "memory that cannot be read, unless BINARY is found in front of it; BINARY is empty",
			differs: "finds an empty BINARY everywhere",
		},
		{
			call:   on(request.Checksum, (*session).checksum),
			about:  "CRC-32 of memory, most significant bit first, from 0xffffffff",
			reply:  "C CHECKSUM",
			errors: "memory that cannot be read",
		},
		{
			call:   reads(request.ReadFeatures, (*session).featuresDocument),
			tokens: "qXfer:features:read+",
			about:  "the target description",
			reply:  "m BINARY or l BINARY",
			errors: "another annex; OFFSET behind the end",
		},
	}
}
