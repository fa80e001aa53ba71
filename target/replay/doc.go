// Package replay has the targets that are recordings: what was, served as if it were there.
//
// # Trace files
//
// A TraceFile is a trace run kept in a file: tracepoints and variables with their counts, status and frames. Its targets (one
// for each client, see TraceFile.Target) have one thread that never runs, and a target.TraceRun, through which sessions select
// frames. Nothing a client does changes it, so a TraceFile serves one client after another, or several at once.
//
// Frames are read where they lie when they are asked for. What searches need of them, the pc of each, is kept once it has been
// read: a search never reads a frame twice, and one by number or tracepoint reads no frame but the one that it finds.
//
// With the program that was traced (TraceFileOptions.Program), clients learn where it is, and where it was loaded, as far as the
// tracepoints tell, and may read what of it could not change. What neither the frame nor the program tells is unavailable; nothing
// is made up. There is one exception: outside frames a client must be shown a pc, and is shown where the program begins.
//
// # Execution traces
//
// An Execution is an execution trace with its index (package itrace/index). Each of its targets stands at a position: in front of
// an instruction, or behind the last. Whatever it is asked is answered from the records in front of that, and to resume is to
// look for another position, forwards or backwards: nothing is executed. What the records do not tell the program may, as it was
// loaded; the rest is unavailable. Digits that the trace does not know make bytes unavailable that were known before.
//
// Processors are threads. They have one time: a thread that is resumed takes the others with it, and these meet no breakpoints
// unless they are resumed, too. A watchpoint stops on the near side of the access, in front of it forwards and behind it
// backwards, as the hardware of these architectures does: GDB then steps and compares.
//
// An index that is damaged, or of another trace, is built anew. If the trace changes while it is served, the target tells nothing
// from then on, lest it be wrong.
package replay
