package request

// All is the table of forms. Their order is that of the reference of packets.
var All = []AnyForm{
	Supported, StartNoAckMode, ErrorStrings, DescribeHost, DescribeProcess,
	Extended, MustReplyEmpty, Agent, Symbol, Monitor, Offsets, QEMUStepBits,

	StopReason, SelectThread, ThreadAlive, CurrentThread, FirstThreads, MoreThreads, ThreadName, DescribeThreads, Attached,
	ThreadLocal,

	// Registers, memory and objects.
	ReadRegisters, WriteRegisters, ReadRegister, WriteRegister,
	ReadMemory, ReadMemoryBinary, WriteMemory, WriteMemoryBinary, SearchMemory, Checksum,
	MemoryRegion, Allocate, Release, LinkerPointer,

	ReadFeatures, ReadThreads, ReadAuxv, ReadExecFile, ReadLibraries, ReadMemoryMap, ReadSiginfo, WriteSiginfo, ReadOSTable,
	ReadStatic, ReadTraceframe,

	// Running: resumptions, and what has events reported.
	ResumeActions, Resume, Continue, ContinueWith, Step, StepWith, Interrupt, NonStop, NextStop, PassSignals, ThreadEvents,
	BackContinue, BackStep,

	Run, Restart, Kill, KillProcess, Detach, Attach,
	SetVariable, UnsetVariable, ResetVariable, WorkingDir, StartByShell, FixedLayout,
	DisableASLR, SetStdin, SetStdout, SetStderr,
	ProgramSignals, CatchSyscalls, InsertBreak, RemoveBreak,

	// Files of the stub's machine.
	SetFileSystem, OpenFile, CloseFile, ReadFile, WriteFile, StatOpenFile, StatFile, StatLink, UnlinkFile, ReadLink,
	FileResult,

	// Tracepoints: definitions first, then runs, state and frames.
	TraceInit, DefineTracepoint, AddActions, AddSource, EnableTracepoint, DisableTracepoint, DefineVariable, ReadOnlyRanges,
	FirstMarkers, MoreMarkers, MarkerAt,
	TraceStart, TraceStop, Disconnected, CircularBuffer, BufferSize, TraceNotes, TraceStatus, TracepointCounts, VariableValue,
	FirstPiece, MorePieces, FirstVariable, MoreVariables, ShortestFast, SelectFrame, ReadBuffer, SaveTrace,
	Relocated, NotRelocated,
}
