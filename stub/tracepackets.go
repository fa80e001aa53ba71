package stub

import (
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
)

// definitionPackets define tracepoints and trace state variables. A long definition comes in several packets, of which each
// but the last ends in a hyphen.
func definitionPackets() []packet {
	return []packet{
		{call: does(request.TraceInit, (*session).traceInit), flags: changesRun,
			about:  "end the run and forget tracepoints, variables and frames",
			errors: "a tracepoint that cannot be removed", differs: "E01 without a selected thread"},
		{call: does(request.DefineTracepoint, (*session).defineTracepoint), flags: changesRun,
			tokens: "ConditionalTracepoints+ InstallInTrace+ tracenz+",
			about: "define a tracepoint; S makes it static; F (fast) has it never be a trap: without F a trap takes the place of " +
				"what the target's Collector refuses",
			errors: "NUMBER is not from 1 to 7fff; X that is no agent expression; S where no marker is; in a run, what " +
				"cannot be installed, and F that the target's Collector refuses",
			differs: "E01 to what is defined already, which GDB 9 to 13 send again in a run: here it replaces the " +
				"definition; drops everything from an unknown option on; takes any number, cut to 16 bits in frames; " +
				"takes X as it comes, and an error of it in a hit does not end the run; steps after a hit whose " +
				"condition fails; F needs libinproctrace.so, and so does S",
			manual: "it sets no limit to NUMBER. One outside 1 to 7fff is refused: a traceframe has 16 bits for it, " +
				"which GDB reads with a sign, and 0 ends a trace file. It has opcodes for floating-point numbers (01, " +
				"1b to 1f): they are no error here, and end the run with one in a hit, where gdbserver goes on without " +
				"the value; GDB never sends them"},
		{call: does(request.AddActions, (*session).addActions), flags: changesRun,
			about: "add actions to it: R registers, M memory, X agent expression, L static trace data; S begins the " +
				"while-stepping ones",
			errors: "no such tracepoint; X that is no agent expression, which removes the tracepoint",
			differs: "drops everything from an unknown action on; M takes no notice of a base register; the whole " +
				"register set whatever R says, as here; what cannot be read is collected all the same, as other bytes; " +
				"a variable that is not defined is recorded as 0, as here, and cannot be set: here what an expression " +
				"sets or records is defined by that, as __tsv_NUMBER in decimal",
			manual: "R collects the registers of its mask. All are collected, as by gdbserver: a trace file has one " +
				"size of register block, and no way to say which registers in it were not collected"},
		{call: does(request.AddSource, (*session).addSource), flags: changesRun, tokens: "TracepointSource+",
			about:   "add source text to it",
			errors:  "no such tracepoint; START is not where the text before it ends; the text is longer than LENGTH",
			differs: "each part is a text of its own"},
		{call: does(request.EnableTracepoint, (*session).enableTracepoint), flags: changesRun,
			tokens: "EnableDisableTracepoints+", about: "enable a tracepoint",
			errors: "no such tracepoint; in a run, what cannot be installed",
			differs: "does not know a tracepoint by GDB's own number, which may be another one after a reconnection; " +
				"here ADDRESS decides, if it has one tracepoint only",
			manual: "NUMBER and ADDRESS together name the tracepoint. If no tracepoint has both, ADDRESS alone does " +
				"where it has one: GDB sends its own number, not the server's, after it had to renumber (the same in " +
				"QTDisable and qTP)"},
		{call: does(request.DisableTracepoint, (*session).disableTracepoint), flags: changesRun,
			about: "disable a tracepoint", errors: "no such tracepoint; what cannot be removed",
			differs: "the same as of QTEnable; what is disabled still costs a stop"},
		{call: does(request.DefineVariable, (*session).defineVariable), flags: changesRun, tokens: "TraceStateVariables+",
			about: "define a trace state variable", errors: "1 under another name than trace_timestamp; NUMBER above ffff",
			differs: "takes any NUMBER; tid, pid and trace_nanoseconds are variables as any other",
			manual: "it sets no limit to NUMBER. One above ffff is refused: an agent expression has 16 bits for it, so " +
				"that no tracepoint could use the variable. Which variables are built in is for the server to say. Here $tid, " +
				"$pid and $trace_nanoseconds, defined with the initial value 0, are the numbers of the thread and the process that hit " +
				"the tracepoint, and the time of the hit in nanoseconds; they are not offered before, as GDB would read them in place " +
				"of the user's own $tid and $pid"},
		{call: does(request.ReadOnlyRanges, (*session).readOnlyRanges), flags: changesRun,
			about:   "ranges that a frame may read from the program",
			differs: "END is part of the range; a START alone is taken"},
	}
}

// fastPackets are about fast tracepoints, of which a target with a Collector knows.
func fastPackets() []packet {
	return []packet{
		{call: on(request.ShortestFast, reply.Shortest, (*session).shortestFast), flags: forWatchers, tokens: "FastTracepoints+",
			about:   "shortest instruction for a fast tracepoint: 1, as it is for the Collector of the target to say where one is possible",
			differs: "5, or 0 without a selected thread"},
	}
}

// markerPackets are about static tracepoints. Those of gdbserver are the markers of its in-process agent, ours the probes of
// <sys/sdt.h>.
func markerPackets() []packet {
	return []packet{
		{call: raw(request.FirstMarkers, "m ADDRESS:HEXID:HEXTEXT,... or l", (*session).firstMarkers), flags: forWatchers,
			tokens: "StaticTracepoints+", about: "the static tracepoint markers of the program and its libraries",
			errors:  "the list of libraries cannot be read",
			differs: "an error without libinproctrace.so, and in it the markers of LTTng; from 17 on unknown"},
		{call: raw(request.MoreMarkers, "m ADDRESS:HEXID:HEXTEXT,... or l", (*session).moreMarkers), flags: forWatchers,
			about: "the next of them", differs: "from 17 on unknown"},
		{call: raw(request.MarkerAt, "m ADDRESS:HEXID:HEXTEXT or l", (*session).markerHere), flags: forWatchers,
			about: "the marker at an address", errors: "the list of libraries cannot be read",
			differs: "the same as of qTfSTM"},
		{call: reads(request.ReadStatic, (*session).staticDocument), flags: forWatchers, tokens: "qXfer:statictrace:read+",
			about: "the static trace data of the frame: the marker's arguments", errors: "no frame is selected; an annex",
			differs: "from 17 on unknown"},
	}
}

// tracePackets begin and end a run and say how its buffer works.
func tracePackets() []packet {
	return []packet{
		{call: does(request.TraceStart, (*session).traceStart), flags: changesRun,
			about:  "install the tracepoints and begin a run",
			errors: "a run is on; a tracepoint cannot be installed, or not as a fast one that it is to be, and then none is",
			differs: "starts a run that is on anew; crashes without a selected thread; installs disabled tracepoints, " +
				"too; keeps the frames and the values of variables of the run before; asks by qRelocInsn only for fast " +
				"tracepoints"},
		{call: does(request.TraceStop, (*session).traceStop), flags: changesRun, about: "end the run",
			errors: "a tracepoint cannot be removed; the run is over all the same"},
		{call: does(request.Disconnected, (*session).disconnectedTracing), flags: changesRun, watcher: agrees,
			tokens: "DisconnectedTracing+", about: "choose whether a run survives its client", differs: "takes any number"},
		{call: does(request.CircularBuffer, (*session).circularBuffer), flags: changesRun,
			about:   "choose whether old frames make room",
			differs: "takes any number; what is saved of a buffer that has wrapped is damaged, or the server crashes"},
		{call: does(request.BufferSize, (*session).bufferSize), flags: changesRun, tokens: "QTBuffer:size+",
			about: "set the size of the trace buffer, which loses its frames", errors: "a run is on; more than 1 GB",
			differs: "no limit; a frame for which only the header has room is empty, and the run goes on"},
		{call: does(request.TraceNotes, (*session).traceNotes), flags: changesRun,
			about: "set the texts that go with a run", errors: "an unknown key; then nothing is kept",
			differs: "drops everything from an unknown key on"},
	}
}

// relocationPackets are no requests but answers: what a client sends when it was asked to copy an instruction.
func relocationPackets() []packet {
	return []packet{
		{call: unparsed(request.Relocated, "none, or that of the packet that installs", (*session).relocated),
			about: "answer to qRelocInsn:FROM;TO, which the server sends before it replies to QTStart and, in a run, to " +
				"QTDP: the instruction at FROM was copied to TO", differs: "asks for fast tracepoints only"},
		{call: unparsed(request.NotRelocated, "none, or that of the packet that installs", (*session).notRelocated),
			about:   "answer to qRelocInsn:FROM;TO: it was not; the instruction will be stepped in its place",
			differs: "the tracepoint is not installed"},
	}
}

// savePackets write a trace file on the server's side ("tsave -r").
func savePackets() []packet {
	return []packet{
		{call: does(request.SaveTrace, (*session).saveTrace), about: "write a trace file on the server's side",
			errors: "no name; the file cannot be written: then what was there stays", differs: "unknown",
			manual: "static trace data is part of the frames that are saved. It is left out, here and in qTBuffer, and " +
				"so is :S: GDB 13 to 18 shows nothing at all of a frame in a file that has it. A frame of nothing else " +
				"is empty then"},
	}
}

// queryPackets ask for the state of the run and upload the definitions, for a client that connects to a run that is on.
func queryPackets() []packet {
	return []packet{
		{call: on(request.TraceStatus, reply.Status, (*session).traceStatus), flags: forWatchers, about: "state of the trace run",
			differs: "times are those of a clock that began when the machine did; while a run is on the reason and stop " +
				"time are those of the run before, and of the first run tnotrun; a condition that fails with an error " +
				"does not end the run (terror) but for fast tracepoints; a run goes on for ever when its program has " +
				"ended",
			manual: "tstop is for a command of the user, tunknown for an end without a reason of its own. An end with " +
				"the program is told as tstop with a text, as in tstop:HEXTEXT:0 for \"the program exited with status " +
				"0\", because GDB shows no text of tunknown"},
		{call: on(request.TracepointCounts, reply.Hits, (*session).tracepointCounts), flags: forWatchers,
			about:   "counts of a tracepoint",
			errors:  "no such tracepoint",
			differs: "the counts are decimal, and GDB reads them as hexadecimal; 0 for fast tracepoints"},
		{call: on(request.VariableValue, reply.Value, (*session).variableValue), flags: forWatchers,
			about: "value of a variable, in the selected frame or now",
			differs: "before the first run U for every variable, here only for one that is not defined; afterwards V0 " +
				"for that, as here"},
		{call: raw(request.FirstPiece, "PIECE or l", (*session).firstPiece), flags: forWatchers,
			about:   "the tracepoints, piece by piece",
			differs: "static tracepoints are marked (:S), on which GDB 13 crashes",
			manual: "static tracepoints have :S. They are given as ordinary ones, since GDB 13 crashes as it makes a " +
				"static one"},
		{call: raw(request.MorePieces, "PIECE or l", (*session).morePieces), flags: forWatchers, about: "the next piece"},
		{call: raw(request.FirstVariable, "NUMBER:VALUE:BUILTIN:HEXNAME or l", (*session).firstVariable), flags: forWatchers,
			about: "the trace state variables, newest first"},
		{call: raw(request.MoreVariables, "NUMBER:VALUE:BUILTIN:HEXNAME or l", (*session).moreVariables), flags: forWatchers,
			about: "the next variable"},
	}
}

// framePackets select frames, and read what is in them beside registers and memory.
func framePackets() []packet {
	return []packet{
		{call: on(request.SelectFrame, reply.Frame, (*session).selectFrame), flags: forWatchers,
			about:  "select a frame; ffffffff or -1 leaves frames",
			errors: "frames without a process in extended mode, which GDB 13 cannot show",
			differs: "-1 as text is frame 0; without collected registers a frame's pc is the first address of its " +
				"tracepoint, even after a step; each packet looks for the frame from the start of the buffer"},
		{call: reads(request.ReadTraceframe, (*session).frameDocument), flags: forWatchers, tokens: "qXfer:traceframe-info:read+",
			about: "memory and variables that the frame holds, as XML", errors: "no frame is selected; an annex",
			differs: "lists memory that could not be read"},
		{call: on(request.ReadBuffer, reply.Buffer, (*session).readBuffer), flags: forWatchers,
			about:  "the trace buffer as a trace file has it, without the end mark",
			errors: "OFFSET behind the end; LENGTH 0", differs: "wrong once a circular buffer has wrapped"},
	}
}
