package stub

import (
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
)

// sessionPackets are about the connection and about the server itself.
func sessionPackets() []packet {
	return []packet{
		{call: raw(request.Supported, "FEATURE;...", (*session).supported), flags: forWatchers,
			tokens: "multiprocess?+ error-message?+",
			about:  "exchange features", differs: "names other features, too: branch tracing, fast tracepoints"},
		{call: does(request.StartNoAckMode, (*session).startNoAck), flags: forWatchers, tokens: "QStartNoAckMode+",
			about: "end acknowledgments"},
		{call: does(request.ErrorStrings, (*session).enableErrorStrings), flags: forWatchers,
			about: "have errors as E01;HEXTEXT from now on, which is how LLDB reads texts", differs: "unknown"},
		{call: on(request.DescribeHost, reply.Items, (*session).hostInfo), flags: forWatchers,
			about:   "the machine that the target is of, for LLDB",
			differs: "unknown"},
		{call: on(request.DescribeProcess, reply.Items, (*session).processInfo), flags: forWatchers,
			about:   "the selected process and its machine, for LLDB",
			differs: "unknown"},
		{call: does(request.Extended, (*session).extend), watcher: agrees,
			about: "extended mode: the server outlives its programs"},
		{call: raw(request.MustReplyEmpty, "empty", (*session).unknown), flags: forWatchers,
			about: "probe for servers that mistake unknown packets"},
		{call: does(request.Agent, (*session).agent), flags: forWatchers,
			about:  "do without an in-process agent; to use one is refused",
			errors: "1: there is none to use", differs: "takes note of 1"},
		{call: unparsed(request.Symbol, "OK", (*session).symbol), flags: forWatchers, about: "offer of symbols; none are asked for",
			differs: "asks for symbols of libthread_db and of its in-process agent"},
		{call: does(request.Monitor, (*session).monitor), flags: numericErrors,
			about:  "a monitor command, see monitor help; what it prints is sent first (O HEXTEXT)",
			errors: "an unknown command; one that fails"},
	}
}

// threadPackets list threads and select one of them, which most other packets are about.
func threadPackets() []packet {
	return []packet{
		{call: raw(request.StopReason, "stop reply; OK in non-stop mode if no thread is stopped", (*session).status),
			watcher: watchedStop,
			about:   "why the program stopped; one that runs is stopped first, but in non-stop mode",
			errors:  "in all-stop mode, while a stop reply is due"},
		{call: does(request.SelectThread, (*session).selectThread), flags: forWatchers,
			about: "select the thread for g, m and so on, or for c and s", errors: "no such thread",
			differs: "takes what is no number for 0"},
		{call: does(request.ThreadAlive, (*session).threadAlive), flags: forWatchers, about: "ask whether a thread lives",
			errors: "no such thread"},
		{call: on(request.CurrentThread, reply.Current, (*session).currentThread), flags: forWatchers,
			about: "ask which thread is selected"},
		{call: raw(request.FirstThreads, "m THREAD,... or l", (*session).firstThreads), flags: forWatchers,
			about: "list the threads"},
		{call: raw(request.MoreThreads, "m THREAD,... or l", (*session).moreThreads), flags: forWatchers,
			about: "list more threads"},
		{call: on(request.ThreadName, reply.Text, (*session).threadExtra), flags: forWatchers, about: "the name of a thread",
			errors: "no such thread", differs: "unknown"},
		{call: unparsed(request.DescribeThreads, "a JSON array", (*session).threadsInfo), flags: whenStopped | forWatchers,
			about: "all threads of the selected process with names, some registers and why they stopped, for LLDB", differs: "unknown"},
		{call: on(request.Attached, reply.Attached, (*session).askAttached), watcher: watchedAttached,
			about:  "ask whether the process, or the one it was forked from, ran before the server came",
			errors: "no such process"},
		{call: reads(request.ReadThreads, (*session).threadsDocument), flags: forWatchers, tokens: "qXfer:threads:read+",
			about: "the threads with names and processors, as XML", errors: "an annex",
			differs: "behind the end there is nothing, without an error; here as in all objects"},
	}
}

// statePackets read and write registers and memory: those of the selected frame while there is one, which nothing can
// change.
func statePackets() []packet {
	return []packet{
		{call: on(request.ReadRegisters, reply.Registers, (*session).readRegisters), flags: whenStopped | forWatchers,
			about: "read all registers"},
		{call: unparsed(request.WriteRegisters, "OK", (*session).writeRegisters), flags: whenStopped | outsideFrames,
			about: "write all registers", errors: "another length than that of g", differs: "takes any length"},
		{call: unparsed(request.ReadRegister, reply.Registers.Syntax, (*session).readRegister), flags: whenStopped | forWatchers,
			about: "read one register", errors: "no such register", differs: "unknown"},
		{call: unparsed(request.WriteRegister, "OK", (*session).writeRegister), flags: whenStopped | outsideFrames,
			about: "write one register", errors: "no such register; another length than its own", differs: "unknown"},
		{call: on(request.ReadMemory, reply.Bytes, (*session).readMemoryHex), flags: numericErrors | forWatchers,
			about:  "read memory",
			errors: "no byte can be read; LENGTH 0", differs: "all or nothing, but in a frame; empty reply to LENGTH 0"},
		{call: on(request.ReadMemoryBinary, reply.Binary, (*session).readMemoryBinary), flags: forWatchers,
			tokens: "binary-upload+",
			about:  "read memory", errors: "no byte can be read", differs: "unknown"},
		{call: does(request.WriteMemory, (*session).writeMemory), flags: outsideFrames, about: "write memory",
			errors:  "the memory cannot be written; HEXBYTES are not LENGTH",
			differs: "writes LENGTH bytes even if fewer came"},
		{call: does(request.WriteMemoryBinary, (*session).writeMemory), flags: outsideFrames, about: "write memory",
			errors: "the memory cannot be written; BINARY is not LENGTH"},
		{call: on(request.SearchMemory, reply.Search, (*session).searchMemory), flags: forWatchers, about: "find bytes in memory",
			errors:  "memory that cannot be read, unless BINARY is found in front of it; BINARY is empty",
			differs: "finds an empty BINARY everywhere"},
		{call: on(request.Checksum, reply.Checksum, (*session).checksum), flags: forWatchers,
			about: "CRC-32 of memory, most significant bit first, from 0xffffffff", errors: "memory that cannot be read"},
		{call: reads(request.ReadFeatures, (*session).featuresDocument), flags: forWatchers, tokens: "qXfer:features:read+",
			about: "the target description", errors: "another annex"},
	}
}
