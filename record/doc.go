// Package record traces programs on this machine without GDB: what a plan names by source locations and expressions becomes
// tracepoints, and what they collect a trace file.
//
// A Session goes through four steps. Open launches the program or attaches to the process, which then stands still, finds the
// locations and compiles the expressions: whatever is wrong with them is said before an instruction of the program has run.
// Run lets it go and returns when the run has ended, for whatever reason. Feed and Config.Frames tell of the run while it is
// on. Close leaves: an attached process is as if nothing had been.
//
// Frames go into the file as they come, through tfile.Appender, so that the file is whole at any moment. The thread that
// serves the hits only copies a frame to a queue in memory; another goroutine writes what is in the queue. The queue grows as
// far as queueLimit; beyond that the hits wait, and with them the program, until there is room, so that nothing is lost.
// What Feed counts as frames is in the file already.
package record
