// Package guard is a small process that puts a program back in order when its tracer is killed.
//
// An int3 that nobody traces ends the program that runs into it. A tracer that ends by its own doing takes its traps out before;
// one that SIGKILL ends cannot, and the kernel then resumes everything that it traced. So, while anything is attached, a second
// process of the same binary stands by (Run), in a session of its own. It shares a table of the traps with the tracer, has the
// memory files of the programs, which the tracer opened while it might and which stay good, and puts back the program's own bytes
// when the tracer has died.
//
// # Time
//
// What counts is the time from the signal to the first byte put back: whatever runs into a trap meanwhile is lost. The kernel
// ends the threads of a process one by one, and a busy processor may take milliseconds to get round to one of them, or to the
// guard. Therefore one thread of the tracer's process has nothing to do but hold a robust futex in the table, and this
// thread and the guard's are real-time threads where that is permitted: the first thing that the end of the process brings about
// is that the guard runs. Nothing on its way allocates or waits. When the process is gone, which the end of the channel tells, the
// guard goes through the table once more, since the tracer may have written a last trap after the first look.
//
// # The table
//
// A trap is entered before its int3 is written and withdrawn after the program's byte is back, so that the table covers every int3
// at any moment; what it has besides does no harm, for only a byte that is still ours is put back. Semaphores of static
// tracepoints are entered after they were raised and withdrawn before they are lowered: one that stays raised costs the program
// time, one that is lowered too often disturbs it for good.
package guard
