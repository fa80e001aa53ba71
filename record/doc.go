// Package record traces programs without GDB: what a plan names by source locations and expressions becomes tracepoints, and what
// they collect a trace file. It contains nothing of any operating system: the program is that of a target.Target, and a Host gets
// hold of it and finds its files.
//
// A Session goes through four steps. Open has the Host get hold of the program, which then stands still, finds the locations and
// compiles the expressions: whatever is wrong with them is reported before an instruction of the program has run. Run resumes it
// and returns when the run has ended, for whatever reason. Feed and Config.Frames report on the run while it is on. Close leaves:
// a program that was attached to is as if nothing had been.
//
// Frames go into the file as they come, through tfile.Appender, so that the file is whole at any moment. The thread that
// serves the hits only copies a frame to a queue in memory; another goroutine writes what is in the queue. The queue grows as
// far as queueLimit; beyond that the hits wait, and with them the program, until there is room, so that nothing is lost.
// What Feed counts as frames is in the file already.
package record
